#include "search/trend_tests.hpp"

#include <algorithm>

#include "support/vectors.hpp"

namespace gtgbm {

namespace {

// 8^2 * 32768 * 256 is 2^29, so products of this many rows can be summed in 32 bits, which vectorises.
constexpr int64_t kBlock = 256;

GTGBM_WIDE_VECTORS
void sum_products(const uint8_t* packed, const int16_t* weight, int64_t n_bytes, int64_t* sums) {
    constexpr int16_t kMiddle = kTrendLevels / 2;
    const int16_t* later = weight + n_bytes;
    int64_t straight = 0, bent = 0;
    for (int64_t from = 0; from < n_bytes; from += kBlock) {
        // Separate sums for the two halves, so that the compiler recognises two dot products.
        int32_t straight_low = 0, straight_high = 0, bent_low = 0, bent_high = 0;
        const int64_t to = std::min(n_bytes, from + kBlock);
        for (int64_t i = from; i < to; ++i) {
            const int16_t both = static_cast<int16_t>(packed[i]);
            const int16_t low = static_cast<int16_t>((both & 15) - kMiddle);
            const int16_t high = static_cast<int16_t>((both >> 4) - kMiddle);
            straight_low += int32_t{low} * int32_t{weight[i]};
            straight_high += int32_t{high} * int32_t{later[i]};
            bent_low += int32_t{static_cast<int16_t>(low * low)} * int32_t{weight[i]};
            bent_high += int32_t{static_cast<int16_t>(high * high)} * int32_t{later[i]};
        }
        straight += int64_t{straight_low} + straight_high;
        bent += int64_t{bent_low} + bent_high;
    }
    sums[0] = straight;
    sums[1] = bent;
}

}  // namespace

void pack_codes(Pool& pool, Array<const uint8_t, 2> codes, Array<uint8_t, 2> packed,
                Array<int32_t, 2> counts) {
    const int64_t d = static_cast<int64_t>(codes.shape(0)), m = static_cast<int64_t>(codes.shape(1));
    const int64_t half = (m + 1) / 2;
    require(packed.shape(0) == codes.shape(0) && static_cast<int64_t>(packed.shape(1)) == half,
            "pack_codes: packed must have half as many columns as codes, rounded up");
    require(counts.shape(0) == codes.shape(0) && counts.shape(1) == kTrendLevels,
            "pack_codes: counts must have shape (features, 16)");
    constexpr int64_t kFeatures = 16;
    pool.run((d + kFeatures - 1) / kFeatures, d * m, [&](int64_t task, int) {
        for (int64_t j = task * kFeatures; j < std::min(d, (task + 1) * kFeatures); ++j) {
            // Two sets of counts, since consecutive additions to the same counter wait for each other.
            int32_t low_counts[kTrendLevels] = {}, high_counts[kTrendLevels] = {};
            const uint8_t* code = codes.data() + j * m;
            uint8_t* out = packed.data() + j * half;
            for (int64_t i = 0; i < half; ++i) {
                const uint8_t low = code[i] & 15, high = half + i < m ? code[half + i] & 15 : 0;
                out[i] = static_cast<uint8_t>(low | high << 4);
                ++low_counts[low];
                ++high_counts[high];
            }
            high_counts[0] -= static_cast<int32_t>(2 * half - m);
            for (int64_t c = 0; c < kTrendLevels; ++c)
                counts.data()[j * kTrendLevels + c] = low_counts[c] + high_counts[c];
        }
    });
}

void trend_sums(Pool& pool, Array<const uint8_t, 2> packed, Array<const int16_t, 2> weight,
                Array<int64_t, 3> out) {
    const int64_t d = static_cast<int64_t>(packed.shape(0)), half = static_cast<int64_t>(packed.shape(1));
    const int64_t nodes = static_cast<int64_t>(weight.shape(0));
    require(static_cast<int64_t>(weight.shape(1)) == 2 * half, "trend_sums: two weights per byte");
    require(out.shape(0) == weight.shape(0) && out.shape(1) == packed.shape(0) && out.shape(2) == 2,
            "trend_sums: out must have shape (nodes, features, 2)");
    constexpr int64_t kFeatures = 32;
    pool.run((d + kFeatures - 1) / kFeatures, d * half * nodes / 2, [&](int64_t task, int) {
        for (int64_t j = task * kFeatures; j < std::min(d, (task + 1) * kFeatures); ++j)
            for (int64_t k = 0; k < nodes; ++k)
                sum_products(packed.data() + j * half, weight.data() + k * 2 * half, half,
                             out.data() + (k * d + j) * 2);
    });
}

}  // namespace gtgbm
