#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"
#include "tree/tile_set.hpp"

namespace gtgbm {

// Fields of a node in the output. The left child is numbered within the subtree; -1 for a leaf.
enum SubtreeField {
    kNodeColumn,
    kNodeBin,
    kNodeSide,
    kNodeLeft,
    kNodeBegin,
    kNodeEnd,
    kNodeGradient,
    kNodeCount,
    kNodeDepth,
    kSubtreeFields
};

// Grows whole subtrees on owned features. Each subtree is grown by one thread; if `shared`, all threads
// together grow one subtree after the other.
//
// Subtree s starts at rows[begin[s] .. end[s]) with gradient sum and count total[s], at depth depth[s]. A
// node splits while it has at least `fewest_rows` rows and more than stop_rows[s], its depth is below
// max_depth, and some split has a gain. Nodes are written from entry first[s] on, parents before children, a
// right child right after its left sibling:
//     nodes[k] = the fields of SubtreeField
//     gain[k]  = gain of the split, 0 for a leaf
// n_nodes[s] is the number of nodes written, at most first[s + 1] - first[s]. Rows are reordered as by
// partition_rows. Scratch is as for partition_rows and build_histograms.
void grow_subtrees(Pool& pool, const TileSet& tiles, Array<const int64_t, 1> begin,
                   Array<const int64_t, 1> end,        // in  (subtrees,)
                   Array<const int64_t, 2> total,      // in  (subtrees, 2)
                   Array<const int64_t, 1> depth,      // in  (subtrees,)
                   Array<const int64_t, 1> stop_rows,  // in  (subtrees,)
                   const CellFormat& format, int64_t fewest_rows, int64_t min_leaf, double l2,  // in
                   int64_t max_depth,                                                           // in
                   Array<int32_t, 1> rows,                                                      // in and out
                   Array<const int64_t, 1> cells,                                               // in, by row
                   Array<int32_t, 2> row_scratch, Array<int64_t, 1> ordered,                    // scratch
                   Array<const int64_t, 1> first,                   // in  (subtrees + 1,)
                   Array<int64_t, 2> nodes, Array<double, 1> gain,  // out
                   Array<int64_t, 1> n_nodes,                       // out (subtrees,)
                   bool shared);                                    // in

}  // namespace gtgbm
