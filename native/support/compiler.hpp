// Compiler-specific functions.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__) && (defined(_M_X64) || defined(_M_IX86))
#include <xmmintrin.h>
#endif
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#endif

#include <cstdint>

namespace gtgbm {

// Prefetches an address into the cache. Only a hint: the address need not be readable, and nothing happens if
// the compiler has no such instruction.
inline void prefetch(const void* place) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(place);
#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
    _mm_prefetch(static_cast<const char*>(place), _MM_HINT_T0);
#else
    static_cast<void>(place);
#endif
}

// The position of the lowest bit that is set; there must be one.
inline int lowest_bit(uint64_t bits) {
#if defined(__GNUC__) || defined(__clang__)
    return __builtin_ctzll(bits);
#elif defined(_MSC_VER) && defined(_M_X64)
    unsigned long position;
    _BitScanForward64(&position, bits);
    return static_cast<int>(position);
#else
    int position = 0;
    for (; (bits & 1) == 0; bits >>= 1) ++position;
    return position;
#endif
}

}  // namespace gtgbm
