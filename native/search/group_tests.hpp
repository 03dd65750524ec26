#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// The halving tree that all subsets share. Group g holds positions [begin, end) of a subset; its children
// first_child .. first_child + n_children - 1 divide them. A group of one feature has no children.
// tile[g] >= 0: the codes of g's children are stored as tile `tile[g]`; -1: all children are single features,
// whose codes are read from the feature codes themselves.
struct GroupShape {
    Array<const int64_t, 1> begin, end, first_child, n_children, tile;
};

// Pseudo-feature codes. values (d, m): uint8 or uint16 scaled features; members (p, size): features of each
// subset; sign (d,): -1 turns a feature around (top - value). A pseudo-feature is the sum over its group, cut
// into n_codes codes of equal width (exact: of about equally many rows by sorted order, equal sums together).
// tiles (p, n_tiles, m, width).
void build_group_codes8(Pool& pool, Array<const uint8_t, 2> values, int top, Array<const int64_t, 2> members,
                        Array<const int8_t, 1> sign, GroupShape shape, int n_codes, bool exact,
                        Array<uint8_t, 4> tiles);
void build_group_codes16(Pool& pool, Array<const uint16_t, 2> values, int top,
                         Array<const int64_t, 2> members, Array<const int8_t, 1> sign, GroupShape shape,
                         int n_codes, bool exact, Array<uint8_t, 4> tiles);

// Codes of single features by sorted order (n_codes at most), for tests on the paper's scaled values.
void sorted_codes(Pool& pool, Array<const uint16_t, 2> values, int n_codes, Array<uint8_t, 2> out);

// Descends the subsets' trees at every node, keeping the child whose pseudo-feature splits the node's test
// rows best. Out (nodes, kept): the feature reached, and its gain on the test rows. With fewer places than
// subsets, only the subsets whose first step scores best are descended, best first.
void search_groups(Pool& pool, Array<const uint8_t, 4> tiles, Array<const uint8_t, 2> codes,
                   Array<const int64_t, 2> members, GroupShape shape, int n_codes,
                   Array<const int32_t, 1> positions, Array<const int64_t, 1> cells,
                   Array<const int64_t, 1> begin, Array<const int64_t, 1> end, int count_bits,
                   int64_t min_leaf, Array<int64_t, 2> feature, Array<double, 2> gain);

// Sum over rows of codes[j] * weight, for each feature j.
void correlate(Pool& pool, Array<const uint8_t, 2> codes, Array<const int16_t, 1> weight,
               Array<int64_t, 1> out);

}  // namespace gtgbm
