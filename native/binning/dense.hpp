#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// Values of some rows and columns as float64, one column after the other.
void gather(Pool& pool, AnyTable table, Array<const int64_t, 1> rows, Array<const int64_t, 1> columns,
            Array<double, 2> out);

// Thresholds between bins of each column, from sampled values (sorted in place; NaN is missing).
// A value belongs to the first bin whose threshold is not below it. Fewer distinct values than bins: one bin
// each. n_thresholds[c] is -1 for a column without any value.
void find_thresholds(Pool& pool, Array<double, 2> values, int max_bins, Array<double, 2> thresholds,
                     Array<int32_t, 1> n_thresholds);

// Codes of whole columns: code(row) = number of thresholds below the value, kMissingCell for NaN.
// Column c goes to out[tile c / lanes][row][c % lanes].
void encode(Pool& pool, AnyTable table, Array<const int64_t, 1> columns, Array<const double, 2> thresholds,
            Array<const int32_t, 1> n_thresholds, Array<uint8_t, 3> out);

// Rank codes of sampled rows of some columns: 0 = missing, 1 .. levels - 1 = about equally many rows each.
void rank_codes(Pool& pool, AnyTable table, Array<const int64_t, 1> rows, Array<const int64_t, 1> columns,
                int levels, Array<uint8_t, 2> out);

// Values of sampled rows scaled to 0 .. 65535 by the column's smallest and largest sampled value (the paper's
// scaling), infinities at its ends; missing = 0.
void minmax_values(Pool& pool, AnyTable table, Array<const int64_t, 1> rows, Array<const int64_t, 1> columns,
                   Array<uint16_t, 2> out);

}  // namespace gtgbm
