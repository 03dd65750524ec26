// What compilers spell differently.
#pragma once

#if defined(_MSC_VER) && !defined(__clang__) && (defined(_M_X64) || defined(_M_IX86))
#include <xmmintrin.h>
#endif

namespace gtgbm {

// Asks for a place in memory ahead of its use. A hint: the place need not be readable, and where the compiler
// has no such instruction nothing happens.
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
