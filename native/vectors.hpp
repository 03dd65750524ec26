// Lets a function be compiled a second time for processors with 256-bit vectors, and chosen when the module
// is loaded. Only for whole numbers: they come out the same however they are added up.
#pragma once

#include <cstdlib>

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GTGBM_WIDE_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define GTGBM_WIDE_VECTORS
#endif
