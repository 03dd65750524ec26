#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// Copies the values of some rows and columns to float64, column by column.
void gather(Pool& pool, AnyTable table,                                     // in  (n, d)
            Array<const int64_t, 1> rows, Array<const int64_t, 1> columns,  // in
            Array<double, 2> out);                                          // out (columns, rows)

// Computes the thresholds between the bins of each column from sampled values; NaN is missing. A value
// belongs to the first bin whose threshold is not below it. A column with fewer distinct values than bins
// gets one bin per value. n_thresholds[c] is -1 for a column without any value.
void find_thresholds(Pool& pool, Array<double, 2> values,  // in  (columns, rows), sorted in place
                     int max_bins,                         // in
                     Array<double, 2> thresholds,          // out (columns, max_bins - 1)
                     Array<int32_t, 1> n_thresholds);      // out (columns,)

// Encodes whole columns: a code is the number of thresholds below the value, or kMissingCell for NaN.
// Column c goes to out[c / lanes][row][c % lanes].
void encode(Pool& pool, AnyTable table, Array<const int64_t, 1> columns,              // in
            Array<const double, 2> thresholds, Array<const int32_t, 1> n_thresholds,  // in
            Array<uint8_t, 3> out);                                                   // out (tiles, n, lanes)

// Encodes sampled rows of some columns by rank: code 0 for missing values, codes 1 .. levels - 1 for about
// equally many rows each.
void rank_codes(Pool& pool, AnyTable table,                                     // in  (n, d)
                Array<const int64_t, 1> rows, Array<const int64_t, 1> columns,  // in
                int levels,                                                     // in
                Array<uint8_t, 2> out);                                         // out (columns, rows)

// Scales the values of sampled rows to 0 .. 65535 by the smallest and largest finite sampled value of the
// column, as in the paper. Infinite values go to the ends of the range, missing values to 0.
void minmax_values(Pool& pool, AnyTable table,                                     // in  (n, d)
                   Array<const int64_t, 1> rows, Array<const int64_t, 1> columns,  // in
                   Array<uint16_t, 2> out);                                        // out (columns, rows)

}  // namespace gtgbm
