// Linear and quadratic trends of residuals with the codes of many features at once.
#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

constexpr int kTrendLevels = 16;  // codes of a column: four bits

// Packs two codes below 16 into a byte: the low bits of byte i of a feature hold the code of row i, the high
// bits that of row i + half, where half is the number of bytes. For an odd number of rows, the last code is
// 0.
void pack_codes(Pool& pool, Array<const uint8_t, 2> codes,  // in  (d, m)
                Array<uint8_t, 2> packed,                   // out (d, half)
                Array<int32_t, 2> counts);                  // out (d, 16), rows of each code

// out[k, j] = the sums over rows of (code - 8) * weight and of (code - 8)^2 * weight, for node k and feature
// j.
void trend_sums(Pool& pool, Array<const uint8_t, 2> packed,  // in  (d, half)
                Array<const int16_t, 2> weight,              // in  (nodes, 2 * half)
                Array<int64_t, 3> out);                      // out (nodes, d, 2)

}  // namespace gtgbm
