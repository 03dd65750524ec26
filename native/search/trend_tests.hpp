// How residuals rise, fall or bend with the codes of many features at once.
#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

constexpr int kTrendLevels = 16;  // codes of a column: four bits

// Packs codes below 16 two to a byte: byte i of a feature holds the codes of row i and, above it, of row
// i + half, where half is the number of bytes; a row too few counts as code 0. codes (d, m), packed (d,
// half), counts (d, 16): how often each code occurs.
void pack_codes(Pool& pool, Array<const uint8_t, 2> codes, Array<uint8_t, 2> packed,
                Array<int32_t, 2> counts);

// Sums over rows for each node k and feature j: out[k, j] holds those of (code - 8) * weight and of
// (code - 8)^2 * weight. weight (nodes, 2 half).
void trend_sums(Pool& pool, Array<const uint8_t, 2> packed, Array<const int16_t, 2> weight,
                Array<int64_t, 3> out);

}  // namespace gtgbm
