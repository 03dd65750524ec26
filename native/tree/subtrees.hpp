#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// Grows whole subtrees over owned features, where nothing is left to decide. Each subtree is one thread's
// task, or, if `shared`, one after the other is grown by all threads together.
//
// Histograms of tile t have widths[t] cells per column; none of its codes may be larger.
// Subtree s starts at rows[begin[s] .. end[s]) with cell sum total[s], at depth depth[s]. A node splits while
// it has at least `fewest_rows` rows and more than stop_rows[s], lies above max_depth, and some split gains.
// Its nodes are written from entry first[s] on, parents before children, a right child right after its left
// sibling:
//     nodes[k] = column, bin, missing side, left child (counted within the subtree; -1: leaf),
//                first row, end of rows, cell sum, depth
//     gain[k]  = of the split, 0 for a leaf
// and n_nodes[s] entries are used; first[s + 1] - first[s] entries must suffice. rows are reordered
// like by partition_rows; cells are by row; scratch as for partition_rows and build_histograms.
void grow_subtrees(Pool& pool, Array<const uint8_t, 3> codes, Array<const int64_t, 1> widths,
                   Array<const int32_t, 1> n_bins, Array<const uint8_t, 1> use,
                   Array<const int32_t, 1> category_row, Array<const uint8_t, 2> category_use,
                   Array<const int64_t, 1> begin, Array<const int64_t, 1> end, Array<const int64_t, 1> total,
                   Array<const int64_t, 1> depth, Array<const int64_t, 1> stop_rows, int count_bits,
                   int64_t fewest_rows, int64_t min_leaf, int64_t max_depth, Array<int32_t, 1> rows,
                   Array<const int64_t, 1> cells, Array<int32_t, 2> row_scratch, Array<int64_t, 1> ordered,
                   Array<const int64_t, 1> first, Array<int64_t, 2> nodes, Array<double, 1> gain,
                   Array<int64_t, 1> n_nodes, bool shared);

}  // namespace gtgbm
