// Codes of values by a handful of thresholds: all of them are compared with many values at once, which is
// faster than a binary search for each value.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "support/vectors.hpp"

namespace gtgbm {

// Most thresholds for which comparing with all of them is faster.
constexpr int kFewEdges = 16;

#if defined(__GNUC__) || defined(__clang__)
// Writes 1 + the number of thresholds below each value, 0 for NaN.
template <class Value, class Count>
[[gnu::always_inline]] inline void code_by_all(const Value* edges, int n_edges, const Value* values,
                                               int64_t n, uint8_t* codes) {
    // Four vectors of 256 bits: their counts stay in registers while the thresholds pass by. Where the
    // processor has 128 bits, the compiler divides them.
    constexpr int kWide = 32 / sizeof(Value), kVectors = 4;
    typedef Value Values __attribute__((vector_size(32)));
    typedef Count Counts __attribute__((vector_size(32)));
    int64_t from = 0;
    for (; from + kVectors * kWide <= n; from += kVectors * kWide) {
        Values value[kVectors];
        std::memcpy(value, values + from, sizeof value);
        Counts below[kVectors] = {};
        for (int e = 0; e < n_edges; ++e)
            // A comparison that holds is -1.
            for (int v = 0; v < kVectors; ++v) below[v] -= edges[e] < value[v];
        for (int v = 0; v < kVectors; ++v) {
            const Counts code = (below[v] + 1) & (value[v] == value[v]);
            for (int k = 0; k < kWide; ++k) codes[from + v * kWide + k] = static_cast<uint8_t>(code[k]);
        }
    }
    for (; from < n; ++from) {
        int below = 0;
        for (int e = 0; e < n_edges; ++e) below += edges[e] < values[from];
        codes[from] = static_cast<uint8_t>(std::isnan(values[from]) ? 0 : 1 + below);
    }
}
#else
template <class Value, class Count>
inline void code_by_all(const Value* edges, int n_edges, const Value* values, int64_t n, uint8_t* codes) {
    for (int64_t i = 0; i < n; ++i) {
        int below = 0;
        for (int e = 0; e < n_edges; ++e) below += edges[e] < values[i];
        codes[i] = static_cast<uint8_t>(std::isnan(values[i]) ? 0 : 1 + below);
    }
}
#endif

// The largest float that is not above a threshold: a float is above one if and only if it is above the other.
inline float float_not_above(double edge) {
    const float nearest = static_cast<float>(edge);
    return static_cast<double>(nearest) > edge
               ? std::nextafter(nearest, -std::numeric_limits<float>::infinity())
               : nearest;
}

}  // namespace gtgbm
