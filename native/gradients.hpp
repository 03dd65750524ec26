#pragma once

#include "arrays.hpp"
#include "pool.hpp"

namespace gtgbm {

// Residuals y - p and curvatures p (1 - p) of the logistic loss at the scores. Returns the sum of the losses.
double logistic_residuals(Pool& pool, Array<const double, 1> scores, Array<const double, 1> y,
                          Array<double, 1> residuals, Array<double, 1> curvatures);

// Sum of round(values * scale): exact, so independent of order. The caller keeps it below 2^63.
int64_t fixed_point_sum(Pool& pool, Array<const double, 1> values, double scale);

// Least and largest value.
nb::tuple min_max(Pool& pool, Array<const double, 1> values);

// cells[i] = (round((residuals[i] - centre) * scale) << count_bits) + 1. Returns (sum of cells, sum of
// squares of the rounded residuals as high * 2^32 + low).
nb::tuple pack_cells(Pool& pool, Array<const double, 1> residuals, double centre, double scale,
                     int count_bits, Array<int64_t, 1> cells);

// Per leaf [begin, end) of `rows`: sums of round(values[row] * scale).
void leaf_sums(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,
               Array<const int64_t, 1> end, Array<const double, 1> values, double scale,
               Array<int64_t, 1> out);

// scores[row] += step[leaf] for the rows of each leaf.
void add_to_leaves(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,
                   Array<const int64_t, 1> end, Array<const double, 1> step, Array<double, 1> scores);

}  // namespace gtgbm
