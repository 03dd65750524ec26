#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"
#include "tree/tile_set.hpp"

namespace gtgbm {

// What is written of a node; the left child is counted within the subtree, -1 for a leaf.
enum SubtreeField {
    kNodeColumn,
    kNodeBin,
    kNodeSide,
    kNodeLeft,
    kNodeBegin,
    kNodeEnd,
    kNodeTotal,
    kNodeDepth,
    kSubtreeFields
};

// Grows whole subtrees over owned features, where nothing is left to decide. Each subtree is one thread's
// task, or, if `shared`, one after the other is grown by all threads together.
//
// Subtree s starts at rows[begin[s] .. end[s]) with cell sum total[s], at depth depth[s]. A node splits while
// it has at least `fewest_rows` rows and more than stop_rows[s], lies above max_depth, and some split gains.
// Its nodes are written from entry first[s] on, parents before children, a right child right after its left
// sibling:
//     nodes[k] = the fields of SubtreeField
//     gain[k]  = of the split, 0 for a leaf
// and n_nodes[s] entries are used; first[s + 1] - first[s] entries must suffice. rows are reordered
// like by partition_rows; cells are by row; scratch as for partition_rows and build_histograms.
void grow_subtrees(Pool& pool, const TileSet& tiles, Array<const int64_t, 1> begin,
                   Array<const int64_t, 1> end,                                   // in  (subtrees,)
                   Array<const int64_t, 1> total, Array<const int64_t, 1> depth,  // in  (subtrees,)
                   Array<const int64_t, 1> stop_rows,                             // in  (subtrees,)
                   int count_bits, int64_t fewest_rows, int64_t min_leaf, int64_t max_depth,  // in
                   Array<int32_t, 1> rows,                                                    // in and out
                   Array<const int64_t, 1> cells,                                             // in, by row
                   Array<int32_t, 2> row_scratch, Array<int64_t, 1> ordered,                  // scratch
                   Array<const int64_t, 1> first,                   // in  (subtrees + 1,)
                   Array<int64_t, 2> nodes, Array<double, 1> gain,  // out
                   Array<int64_t, 1> n_nodes,                       // out (subtrees,)
                   bool shared);

}  // namespace gtgbm
