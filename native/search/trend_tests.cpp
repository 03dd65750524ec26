#include "search/trend_tests.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/vectors.hpp"

#if GTGBM_X86_VECTORS
#include <immintrin.h>
#endif

namespace gtgbm {

namespace {

// The weights of one node's rows, also as bytes: weight = 256 * high + low.
struct NodeWeights {
    const int16_t* weight;
    std::vector<uint8_t> low;
    std::vector<int8_t> high;
    int64_t sum = 0;

    NodeWeights(const int16_t* weights, int64_t n) : weight(weights) {
        if (instructions() != Instructions::kAvx512) return;
        low.resize(static_cast<size_t>(n));
        high.resize(static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) {
            low[static_cast<size_t>(i)] = static_cast<uint8_t>(weights[i] & 255);
            high[static_cast<size_t>(i)] = static_cast<int8_t>(weights[i] >> 8);
            sum += weights[i];
        }
    }
};

constexpr int kMiddle = kTrendLevels / 2;

struct SumProducts {
    // 8^2 * 32768 * 256 is 2^29, so products of this many rows can be summed in 32 bits, which vectorises.
    static constexpr int64_t kBlock = 256;

    static GTGBM_INLINE void run(const uint8_t* packed, const int16_t* weight, int64_t n_bytes,
                                 int64_t* sums) {
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
};

#if GTGBM_X86_VECTORS
GTGBM_AVX512 inline int64_t sum_of_lanes(__m512i lanes) {
    alignas(64) int32_t values[16];
    _mm512_store_si512(values, lanes);
    return std::accumulate(values, values + 16, int64_t{0});
}

// The same for kFeatures features at once, whose bytes are `n_bytes` apart and whose sums two: products of
// bytes, four of them added up by one instruction.
template <int kFeatures>
GTGBM_AVX512 void sum_byte_products(const uint8_t* packed, const NodeWeights& node, int64_t n_bytes,
                                    int64_t* sums) {
    // A lane adds up eight products of at most 255 * 8^2 for every 64 bytes: 2^30 for a block.
    constexpr int64_t kBlock = 1 << 19;
    alignas(64) uint8_t square_of[64];
    for (int k = 0; k < 64; ++k) square_of[k] = static_cast<uint8_t>((k % 16 - kMiddle) * (k % 16 - kMiddle));
    const __m512i squares = _mm512_load_si512(square_of);
    const __m512i four_bits = _mm512_set1_epi8(15);
    for (int f = 0; f < kFeatures; ++f) sums[2 * f] = -kMiddle * node.sum, sums[2 * f + 1] = 0;
    for (int64_t from = 0; from < n_bytes; from += kBlock) {
        __m512i straight_low[kFeatures], straight_high[kFeatures], bent_low[kFeatures], bent_high[kFeatures];
        for (int f = 0; f < kFeatures; ++f)
            straight_low[f] = straight_high[f] = bent_low[f] = bent_high[f] = _mm512_setzero_si512();
        const int64_t to = std::min(n_bytes, from + kBlock);
        for (int64_t i = from; i < to; i += 64) {
            const __mmask64 mask = to - i >= 64 ? ~__mmask64{0} : (__mmask64{1} << (to - i)) - 1;
            const __m512i low = _mm512_maskz_loadu_epi8(mask, node.low.data() + i),
                          high = _mm512_maskz_loadu_epi8(mask, node.high.data() + i),
                          later_low = _mm512_maskz_loadu_epi8(mask, node.low.data() + n_bytes + i),
                          later_high = _mm512_maskz_loadu_epi8(mask, node.high.data() + n_bytes + i);
            for (int f = 0; f < kFeatures; ++f) {
                const __m512i both = _mm512_maskz_loadu_epi8(mask, packed + f * n_bytes + i);
                const __m512i code = _mm512_and_si512(both, four_bits),
                              later = _mm512_and_si512(_mm512_srli_epi16(both, 4), four_bits);
                const __m512i square = _mm512_shuffle_epi8(squares, code),
                              later_square = _mm512_shuffle_epi8(squares, later);
                // The first factor is unsigned, the second signed; codes and squares may be either.
                straight_low[f] = _mm512_dpbusd_epi32(straight_low[f], low, code);
                straight_high[f] = _mm512_dpbusd_epi32(straight_high[f], code, high);
                bent_low[f] = _mm512_dpbusd_epi32(bent_low[f], low, square);
                bent_high[f] = _mm512_dpbusd_epi32(bent_high[f], square, high);
                straight_low[f] = _mm512_dpbusd_epi32(straight_low[f], later_low, later);
                straight_high[f] = _mm512_dpbusd_epi32(straight_high[f], later, later_high);
                bent_low[f] = _mm512_dpbusd_epi32(bent_low[f], later_low, later_square);
                bent_high[f] = _mm512_dpbusd_epi32(bent_high[f], later_square, later_high);
            }
        }
        for (int f = 0; f < kFeatures; ++f) {
            sums[2 * f] += sum_of_lanes(straight_low[f]) + int64_t{256} * sum_of_lanes(straight_high[f]);
            sums[2 * f + 1] += sum_of_lanes(bent_low[f]) + int64_t{256} * sum_of_lanes(bent_high[f]);
        }
    }
}
#endif

// Writes the sums of `n_features` features at one node.
void sums_of_node(const uint8_t* packed, const NodeWeights& node, int64_t n_bytes, int64_t n_features,
                  int64_t* sums) {
    int64_t f = 0;
#if GTGBM_X86_VECTORS
    if (instructions() == Instructions::kAvx512) {
        for (; f + 4 <= n_features; f += 4)
            sum_byte_products<4>(packed + f * n_bytes, node, n_bytes, sums + 2 * f);
        for (; f < n_features; ++f) sum_byte_products<1>(packed + f * n_bytes, node, n_bytes, sums + 2 * f);
        return;
    }
#endif
    for (; f < n_features; ++f)
        run_vectorised<SumProducts>(packed + f * n_bytes, node.weight, n_bytes, sums + 2 * f);
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
    std::vector<NodeWeights> weights;
    for (int64_t k = 0; k < nodes; ++k) weights.emplace_back(weight.data() + k * 2 * half, 2 * half);
    constexpr int64_t kFeatures = 32;
    pool.run((d + kFeatures - 1) / kFeatures, d * half * nodes / 2, [&](int64_t task, int) {
        const int64_t first = task * kFeatures;
        for (int64_t k = 0; k < nodes; ++k)
            sums_of_node(packed.data() + first * half, weights[static_cast<size_t>(k)], half,
                         std::min(kFeatures, d - first), out.data() + (k * d + first) * 2);
    });
}

}  // namespace gtgbm
