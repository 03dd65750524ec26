// Sends the rows of one range to the two sides of a split.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cells.hpp"
#include "pool.hpp"

namespace gtgbm {

// Which codes go left: up to `bin` for numbers, all but `bin` for a category.
class SideRule {
  public:
    SideRule(int bin, bool is_category, bool missing_left)
        : low_(static_cast<uint8_t>(is_category ? bin : 0)),
          span_(static_cast<uint8_t>(is_category ? 0 : bin)),
          inverted_(is_category),
          missing_left_(missing_left) {}

    bool left(uint8_t code) const {
        // One comparison for both kinds: codes below `low` wrap around to large ones.
        const bool inside = static_cast<uint8_t>(code - low_) <= span_;
        return (inside != inverted_) | ((code == kMissingCell) & missing_left_);
    }

  private:
    uint8_t low_, span_;
    bool inverted_, missing_left_;
};

struct LeftSide {
    int64_t rows = 0;
    int64_t cells = 0;                          // cell sum
    int64_t squares_high = 0, squares_low = 0;  // of fixed-point gradients; see pack_cells
};

// Stable. Left rows are written from rows_left on, which may be where they are read from; right rows to
// rows_right. Both get every row, the one after its end being overwritten by the next: no branches.
template <bool WithSquares>
inline LeftSide split_range(const uint8_t* codes, SideRule rule, CellFormat format, const int32_t* rows,
                            const int64_t* cells, int64_t count, int32_t* rows_left, int64_t* cells_left,
                            int32_t* rows_right, int64_t* cells_right) {
    constexpr int64_t kAhead = 24;
    LeftSide side;
    int64_t to_left = 0, to_right = 0;
    for (int64_t i = 0; i < count; ++i) {
        if (i + kAhead < count) __builtin_prefetch(codes + int64_t{rows[i + kAhead]} * kLanes);
        const int32_t row = rows[i];
        const int64_t cell = cells[i];
        const bool left = rule.left(codes[int64_t{row} * kLanes]);
        rows_left[to_left] = row;
        cells_left[to_left] = cell;
        rows_right[to_right] = row;
        cells_right[to_right] = cell;
        to_left += left;
        to_right += !left;
        const int64_t taken = left ? cell : 0;
        side.cells += taken;
        if (WithSquares) {
            const int64_t q = format.gradient(taken);
            side.squares_high += (q * q) >> 32;
            side.squares_low += (q * q) & 0xffffffff;
        }
    }
    side.rows = to_left;
    return side;
}

// The same within one array: left rows first, then the right ones, which pass through scratch.
template <bool WithSquares>
inline LeftSide split_in_place(const uint8_t* codes, SideRule rule, CellFormat format, int32_t* rows,
                               int64_t* cells, int64_t count, int32_t* row_scratch, int64_t* cell_scratch) {
    const LeftSide side = split_range<WithSquares>(codes, rule, format, rows, cells, count, rows, cells,
                                                   row_scratch, cell_scratch);
    std::copy_n(row_scratch, count - side.rows, rows + side.rows);
    std::copy_n(cell_scratch, count - side.rows, cells + side.rows);
    return side;
}

// The same for a long range, divided among threads. Scratch is as long as the range, twice.
LeftSide split_shared(Pool& pool, const uint8_t* codes, SideRule rule, CellFormat format, int32_t* rows,
                      int64_t* cells, int64_t count, int32_t* row_scratch, int32_t* more_row_scratch,
                      int64_t* cell_scratch, int64_t* more_cell_scratch);

constexpr int64_t kPartitionChunk = 16384;  // rows of one thread's share; shorter ranges are not divided

}  // namespace gtgbm
