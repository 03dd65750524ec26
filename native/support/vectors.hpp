// Compiles functions several times, for processors with wider vectors; the version is chosen at run time.
// Results have the same bits: integers can be added in any order, and the compiler neither reorders
// floating-point additions nor uses fused multiply-add.
#pragma once

#include <string>
#include <vector>

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define GTGBM_X86_VECTORS 1
#define GTGBM_AVX2 __attribute__((target("avx2")))
// Two instructions of the newest set, products of bytes and conversions of 64-bit integers, are worth it.
#define GTGBM_AVX512 __attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#else
#define GTGBM_X86_VECTORS 0
#endif

#if defined(__GNUC__) || defined(__clang__)
#define GTGBM_INLINE __attribute__((always_inline)) inline
#else
#define GTGBM_INLINE inline
#endif

namespace gtgbm {

enum class Instructions { kBaseline, kAvx2, kAvx512 };

// The instructions that kernels use: the best that the processor has, unless others were asked for.
Instructions instructions();

// Names of those that the processor has, the best one last.
std::vector<std::string> available_instructions();

// Makes kernels use these instructions, for tests; returns the name of those used before.
std::string use_instructions(const std::string& name);

#if GTGBM_X86_VECTORS
template <class Body, class... Args>
GTGBM_AVX2 void run_with_avx2(Args... args) {
    Body::run(args...);
}

template <class Body, class... Args>
GTGBM_AVX512 void run_with_avx512(Args... args) {
    Body::run(args...);
}
#endif

// Calls Body::run(args...), which must be GTGBM_INLINE, compiled for the instructions in use.
template <class Body, class... Args>
void run_vectorised(Args... args) {
#if GTGBM_X86_VECTORS
    switch (instructions()) {
        case Instructions::kAvx512:
            return run_with_avx512<Body>(args...);
        case Instructions::kAvx2:
            return run_with_avx2<Body>(args...);
        case Instructions::kBaseline:
            break;
    }
#endif
    Body::run(args...);
}

}  // namespace gtgbm
