#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// A sparse table in CSC format: column c has the entries [start[c], start[c + 1]); entry e is values[e] in
// row rows[e], and all other rows are 0. Values have shape (entries, 1) and any dtype.

// Computes thresholds as find_thresholds does for the dense columns of the sampled rows.
void find_sparse_thresholds(Pool& pool, Array<const int64_t, 1> start, Array<const int32_t, 1> rows,  // in
                            AnyTable values, Array<const int64_t, 1> columns,                         // in
                            Array<const uint8_t, 1> in_sample,  // in  (n,), 1 for sampled rows
                            int max_bins,                       // in
                            Array<double, 2> thresholds,        // out (columns, max_bins - 1)
                            Array<int32_t, 1> n_thresholds);    // out (columns,)

// Encodes whole columns as encode does.
void encode_sparse(Pool& pool, Array<const int64_t, 1> start, Array<const int32_t, 1> rows,  // in
                   AnyTable values, Array<const int64_t, 1> columns,                         // in
                   Array<const double, 2> thresholds, Array<const int32_t, 1> n_thresholds,  // in
                   Array<uint8_t, 3> out);  // out (tiles, n, lanes)

// Encodes the entries of some columns, and the value 0 of each of them.
void code_entries(Pool& pool, Array<const int64_t, 1> start, AnyTable values,          // in
                  Array<const int64_t, 1> columns, Array<const double, 2> thresholds,  // in
                  Array<const int32_t, 1> n_thresholds,                                // in
                  Array<uint8_t, 1> codes,       // out (entries,), those of `columns`
                  Array<uint8_t, 1> zero_code);  // out (columns,)

// Checks the column starts and column numbers of a sparse table. Rows are checked where they are used, since
// there may be very many.
void require_sparse(const Array<const int64_t, 1>& start, size_t entries,
                    const Array<const int64_t, 1>& columns);

}  // namespace gtgbm
