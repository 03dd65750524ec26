#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// Residuals y - p and curvatures p (1 - p) of the logistic loss at the scores. Returns the sum of the losses.
double logistic_residuals(Pool& pool, Array<const double, 1> scores, Array<const double, 1> y,
                          Array<double, 1> residuals, Array<double, 1> curvatures);

// out[i] = exp(values[i]), the same bits wherever doubles are IEEE.
void exponentials(Pool& pool, Array<const double, 1> values, Array<double, 1> out);

// In what follows `weights` are whole numbers of at least 0, one per row; empty: all 1.

// Sum of round(values * scale) * weights: exact, so independent of order. The caller keeps it below 2^63.
int64_t fixed_point_sum(Pool& pool, Array<const double, 1> values, Array<const int64_t, 1> weights,
                        double scale);

// Least and largest value.
nb::tuple min_max(Pool& pool, Array<const double, 1> values);

// cells[i] = ((round((residuals[i] - centre) * scale) << count_bits) + 1) * weights[i]. Returns (sum of
// cells, weighted sum of squares of the rounded residuals as high * 2^32 + low).
nb::tuple pack_cells(Pool& pool, Array<const double, 1> residuals, Array<const int64_t, 1> weights,
                     double centre, double scale, int count_bits, Array<int64_t, 1> cells);

// Per leaf [begin, end) of `rows`: sums of round(values[row] * scale) * weights[row].
void leaf_sums(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,
               Array<const int64_t, 1> end, Array<const double, 1> values, Array<const int64_t, 1> weights,
               double scale, Array<int64_t, 1> out);

// Per leaf: the value below which `share` of the weight lies; halfway between two where it is exactly that. 0
// for a leaf without weight.
void leaf_quantiles(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,
                    Array<const int64_t, 1> end, Array<const double, 1> values,
                    Array<const int64_t, 1> weights, double share, Array<double, 1> out);

// scores[row] += step[leaf] for the rows of each leaf.
void add_to_leaves(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,
                   Array<const int64_t, 1> end, Array<const double, 1> step, Array<double, 1> scores);

}  // namespace gtgbm
