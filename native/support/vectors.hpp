// Lets a function be compiled a second time for processors with 256-bit vectors, and chosen when the module
// is loaded. The bits are the same: whole numbers may be added up in any order, and the compiler leaves that
// of floating-point numbers alone (and has no fused multiplications to use).
#pragma once

#include <cstdlib>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GTGBM_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define GTGBM_WIDE_VECTORS
#endif
