// Compiles a function a second time for processors with 256-bit vectors; the version is chosen when the
// module is loaded. Results have the same bits: integers can be added in any order, and the compiler neither
// reorders floating-point additions nor uses fused multiply-add.
#pragma once

#include <cstdlib>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GTGBM_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define GTGBM_WIDE_VECTORS
#endif
