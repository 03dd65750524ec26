// Partitions one range of rows into the two sides of a split.
#pragma once

#include <algorithm>
#include <cstdint>

#include "support/compiler.hpp"
#include "support/pool.hpp"
#include "tree/cells.hpp"

namespace gtgbm {

// The codes that go left: up to `bin` for numbers, all but `bin` for a category. A lookup table is faster
// than the comparisons.
class SideRule {
  public:
    SideRule(int bin, bool is_category, bool missing_left) {
        for (int code = 0; code < kCells; ++code)
            left_[code] = is_category ? code != bin : (code == kMissingCell ? missing_left : code <= bin);
    }

    int64_t left(uint8_t code) const { return left_[code]; }

  private:
    uint8_t left_[kCells];
};

// Writes the left rows to `left`, which may be the same array as `rows`, and the right rows to `right`; both
// keep their order. To avoid branches, every row is written to both, and a row on the wrong side is
// overwritten by the next one. Returns the number of left rows.
inline int64_t split_range(const uint8_t* codes, const SideRule& rule, const int32_t* rows, int64_t count,
                           int32_t* left, int32_t* right) {
    constexpr int64_t kAhead = 32;
    int64_t to_left = 0;
    const auto put = [&](int64_t i) {
        const int32_t row = rows[i];
        const int64_t goes_left = rule.left(codes[int64_t{row} * kLanes]);
        left[to_left] = row;
        right[i - to_left] = row;
        to_left += goes_left;
    };
    int64_t i = 0;
    for (; i + kAhead < count; ++i) {
        prefetch(codes + int64_t{rows[i + kAhead]} * kLanes);
        put(i);
    }
    for (; i < count; ++i) put(i);
    return to_left;
}

// The same within one array: left rows first, then right rows, which are copied through `scratch`.
inline int64_t split_in_place(const uint8_t* codes, const SideRule& rule, int32_t* rows, int64_t count,
                              int32_t* scratch) {
    const int64_t left = split_range(codes, rule, rows, count, rows, scratch);
    std::copy_n(scratch, count - left, rows + left);
    return left;
}

// The same for a long range, divided among threads. Both scratch arrays are as long as the range.
int64_t split_shared(Pool& pool, const uint8_t* codes, const SideRule& rule, int32_t* rows, int64_t count,
                     int32_t* scratch, int32_t* more_scratch);

constexpr int64_t kPartitionChunk = 16384;  // rows per task; shorter ranges are not divided

}  // namespace gtgbm
