#pragma once

#include "arrays.hpp"
#include "pool.hpp"

namespace gtgbm {

// A table stored by columns: column c holds entries [start[c], start[c + 1]), the value `values[e]` in row
// `rows[e]`; all other rows are 0. Values have shape (entries, 1), of any dtype.

// Thresholds of some columns, as find_thresholds gives them for the dense column of the sampled rows
// (in_sample[row] is 1).
void find_sparse_thresholds(Pool& pool, Array<const int64_t, 1> start, Array<const int32_t, 1> rows,
                            AnyTable values, Array<const int64_t, 1> columns,
                            Array<const uint8_t, 1> in_sample, int max_bins, Array<double, 2> thresholds,
                            Array<int32_t, 1> n_thresholds);

// Codes of whole columns, as encode gives them; out (tiles, n, lanes).
void encode_sparse(Pool& pool, Array<const int64_t, 1> start, Array<const int32_t, 1> rows, AnyTable values,
                   Array<const int64_t, 1> columns, Array<const double, 2> thresholds,
                   Array<const int32_t, 1> n_thresholds, Array<uint8_t, 3> out);

// Codes of the entries of some columns: codes[e] for entries of the table, zero_code[c] of the value 0.
void code_entries(Pool& pool, Array<const int64_t, 1> start, AnyTable values, Array<const int64_t, 1> columns,
                  Array<const double, 2> thresholds, Array<const int32_t, 1> n_thresholds,
                  Array<uint8_t, 1> codes, Array<uint8_t, 1> zero_code);

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
