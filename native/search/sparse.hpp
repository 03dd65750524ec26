#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"
#include "tree/cell_format.hpp"

namespace gtgbm {

// Finds the best split of each node over sparse columns. Every entry is read once for all nodes. The table is
// stored as in binning/sparse.hpp, with the codes of code_entries.
void search_sparse(Pool& pool, Array<const int64_t, 1> start,  // in  (d + 1,)
                   Array<const int32_t, 1> rows,               // in  (entries,)
                   Array<const uint8_t, 1> codes,              // in  (entries,)
                   Array<const int64_t, 1> columns,            // in  (columns,)
                   Array<const int32_t, 1> n_bins,             // in  (columns,)
                   Array<const uint8_t, 1> zero_code,          // in  (columns,)
                   Array<const uint8_t, 1> use,                // in  (columns,), of Use
                   Array<const double, 1> price,               // in  (columns,), or (0,): the same for all
                   Array<const int32_t, 1> node_rows,          // in  row ids, node by node
                   Array<const int64_t, 1> begin, Array<const int64_t, 1> end,  // in  (nodes,), in node_rows
                   Array<const int64_t, 2> total,  // in  (nodes, 2), gradient and count
                   Array<const int64_t, 1> cells,  // in  by row
                   const CellFormat& format, int64_t min_leaf, double l2,  // in
                   Array<double, 1> gain,                                  // out (nodes,), -inf: no split
                   Array<int32_t, 2> where);  // out (nodes, 3): column, bin, missing side

}  // namespace gtgbm
