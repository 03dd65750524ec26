#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// The entries of a table stored by columns are those of binning/sparse.hpp, coded by code_entries.
//
// Best split of each node over columns that use does not skip; every entry is looked at once for all nodes.
// Node k owns node_rows[begin[k] .. end[k]); cells are in the order of the table's rows. n_bins, zero_code
// and use (see scan.hpp) are by column. gain (nodes,): -inf where there is none; where (nodes, 3): column,
// bin, missing side.
void search_sparse(Pool& pool, Array<const int64_t, 1> start, Array<const int32_t, 1> rows,
                   Array<const uint8_t, 1> codes, Array<const int64_t, 1> columns,
                   Array<const int32_t, 1> n_bins, Array<const uint8_t, 1> zero_code,
                   Array<const uint8_t, 1> use, Array<const int32_t, 1> node_rows,
                   Array<const int64_t, 1> begin, Array<const int64_t, 1> end, Array<const int64_t, 1> total,
                   Array<const int64_t, 1> cells, int count_bits, int64_t min_leaf, Array<double, 1> gain,
                   Array<int32_t, 2> where);

}  // namespace gtgbm
