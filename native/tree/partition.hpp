#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// Splits row ranges in place, both sides keeping their order:
//     rows[begin .. end):  a b c d e f   ->   a d e | b c f     (a, d, e go left)
// Split k sends a row left when its code in column[k] is at most bin[k] (is_category[k]: when it is not
// bin[k]), or is missing and missing_left[k] is 1. n_left[k] is the number of rows that go left.
void partition_rows(Pool& pool, Array<const uint8_t, 3> codes,                    // in (tiles, n, 8)
                    Array<const int64_t, 1> column, Array<const int32_t, 1> bin,  // in
                    Array<const uint8_t, 1> is_category, Array<const uint8_t, 1> missing_left,  // in
                    Array<const int64_t, 1> begin, Array<const int64_t, 1> end,                 // in
                    Array<int32_t, 1> rows,                                                     // in and out
                    Array<int32_t, 2> scratch,  // scratch (2, rows)
                    Array<int64_t, 1> n_left);  // out

// Cell sum and sum of squares (high, low; see pack_cells) of row ranges, shape (nodes, 3); cells by row.
void node_sums(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> cells,
               Array<const int64_t, 1> begin, Array<const int64_t, 1> end, int count_bits,
               Array<int64_t, 2> out);

// Of the rows of some nodes, those with position[row] >= 0, node after node: node k gets
// [first[k], first[k + 1]) of the outputs, and total[k] their cell sum. cells are by row.
void sampled_rows(Array<const int32_t, 1> rows, Array<const int64_t, 1> cells, Array<const int64_t, 1> begin,
                  Array<const int64_t, 1> end, Array<const int32_t, 1> position,
                  Array<int32_t, 1> out_positions, Array<int64_t, 1> out_cells, Array<int64_t, 1> first,
                  Array<int64_t, 1> total);

}  // namespace gtgbm
