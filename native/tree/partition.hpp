#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"
#include "tree/cell_format.hpp"

namespace gtgbm {

// Partitions row ranges in place; both sides keep their order:
//     rows[begin .. end):  a b c d e f   ->   a d e | b c f     (a, d, e go left)
// In split k, a row goes left if its code in column[k] is at most bin[k]; if is_category[k], if its code is
// not bin[k]. Missing values go left if missing_left[k] is 1. n_left[k] is the number of rows that go left.
void partition_rows(Pool& pool, Array<const uint8_t, 3> codes,                    // in (tiles, n, 8)
                    Array<const int64_t, 1> column, Array<const int32_t, 1> bin,  // in
                    Array<const uint8_t, 1> is_category, Array<const uint8_t, 1> missing_left,  // in
                    Array<const int64_t, 1> begin, Array<const int64_t, 1> end,                 // in
                    Array<int32_t, 1> rows,                                                     // in and out
                    Array<int32_t, 2> scratch,  // scratch (2, rows)
                    Array<int64_t, 1> n_left);  // out

// Returns gradient sum, count and sum of squares (high, low; see pack_cells) of each row range.
void node_sums(Pool& pool, Array<const int32_t, 1> rows,                    // in
               Array<const int64_t, 1> cells,                               // in, by row
               Array<const int64_t, 1> begin, Array<const int64_t, 1> end,  // in  (nodes,)
               const CellFormat& format,                                    // in
               Array<int64_t, 2> out);                                      // out (nodes, 4)

// Collects the sampled rows of some nodes, node by node: those of node k are [first[k], first[k + 1]) of the
// outputs.
void sampled_rows(Array<const int32_t, 1> rows,                                // in
                  Array<const int64_t, 1> cells,                               // in, by row
                  Array<const int64_t, 1> begin, Array<const int64_t, 1> end,  // in  (nodes,)
                  Array<const int32_t, 1> position,  // in, by row: position in the sample, -1 if not sampled
                  const CellFormat& format,          // in
                  Array<int32_t, 1> out_positions, Array<int64_t, 1> out_cells,  // out (sample,)
                  Array<int64_t, 1> first,                                       // out (nodes + 1,)
                  Array<int64_t, 2> total);  // out (nodes, 2), gradient and count

}  // namespace gtgbm
