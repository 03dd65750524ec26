#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"
#include "tree/cell_format.hpp"

namespace gtgbm {

// The division of a subset into groups, which is the same for all subsets. Group g has the positions
// [begin[g], end[g]) of a subset; its children first_child[g] .. first_child[g] + n_children[g] - 1 divide
// them. A group of one feature has no children. If tile[g] >= 0, the codes of g's children are stored in that
// tile. If it is -1, all children are single features, and their codes are read from the feature codes.
struct GroupShape {
    Array<const int64_t, 1> begin, end, first_child, n_children, tile;  // in  (groups,)
};

// Computes the codes of pseudo-features. A pseudo-feature is the sum of the features of a group, divided into
// n_codes bins of equal width; with `exact`, into bins of about equally many rows by sorted order, equal sums
// in the same bin. A feature with sign -1 enters as top - value.
void build_group_codes8(Pool& pool, Array<const uint8_t, 2> values,  // in  (d, m), scaled features
                        int top,                                     // in  largest value
                        Array<const int64_t, 2> members,             // in  (p, size), features of each subset
                        Array<const int8_t, 1> sign,                 // in  (d,)
                        GroupShape shape, int n_codes, bool exact,   // in
                        Array<uint8_t, 4> tiles);                    // out (p, n_tiles, m, width)
// The same for 16-bit values.
void build_group_codes16(Pool& pool, Array<const uint16_t, 2> values, int top,          // in
                         Array<const int64_t, 2> members, Array<const int8_t, 1> sign,  // in
                         GroupShape shape, int n_codes, bool exact,                     // in
                         Array<uint8_t, 4> tiles);                                      // out

// Encodes single features by sorted order into at most n_codes codes, for tests with the paper's scaling.
void sorted_codes(Pool& pool, Array<const uint16_t, 2> values, int n_codes,  // in  (d, m)
                  Array<uint8_t, 2> out);                                    // out (d, m)

// Descends from every subset to a single feature at every node: at each step, to the child whose
// pseudo-feature splits the node's test rows best. If `feature` has fewer columns than there are subsets,
// only the subsets with the best score in the first step are descended, best first.
void search_groups(Pool& pool, Array<const uint8_t, 4> tiles,  // in  (p, n_tiles, m, width)
                   Array<const uint8_t, 2> codes,              // in  (d, m)
                   Array<const int64_t, 2> members,            // in  (p, size)
                   Array<const double, 2> price,               // in  (p, size), or (0, 0): the same for all
                   GroupShape shape, int n_codes,              // in
                   Array<const int32_t, 1> positions,          // in  test rows, node by node
                   Array<const int64_t, 1> cells,              // in  in the order of positions
                   Array<const int64_t, 1> begin, Array<const int64_t, 1> end,  // in  (nodes,)
                   const CellFormat& format, int64_t min_leaf, double l2,       // in
                   Array<int64_t, 2> feature,                                   // out (nodes, kept)
                   Array<double, 2> gain);  // out (nodes, kept), on the test rows

// out[j] = sum over rows of codes[j] * weight, for each feature j.
void correlate(Pool& pool, Array<const uint8_t, 2> codes, Array<const int16_t, 1> weight,  // in  (d, m), (m,)
               Array<int64_t, 1> out);                                                     // out (d,)

}  // namespace gtgbm
