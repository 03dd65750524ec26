#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

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

// Checks a table stored by columns. Rows are checked when they are used: there may be very many.
void require_sparse(const Array<const int64_t, 1>& start, size_t entries,
                    const Array<const int64_t, 1>& columns);

}  // namespace gtgbm
