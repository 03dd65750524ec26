// Compiler-specific functions.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__) && (defined(_M_X64) || defined(_M_IX86))
#include <xmmintrin.h>
#endif

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

}  // namespace gtgbm
