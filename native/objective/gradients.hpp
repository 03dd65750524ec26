#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"
#include "tree/cell_format.hpp"

namespace gtgbm {

// Writes residuals y - p, curvatures p (1 - p) and values of the logistic loss.
void logistic_residuals(Pool& pool, Array<const double, 1> scores, Array<const double, 1> y,  // in
                        Array<double, 1> residuals, Array<double, 1> curvatures,              // out
                        Array<double, 1> losses);                                             // out

// out[i] = exp(values[i]), with the same bits on every machine with IEEE doubles.
void exponentials(Pool& pool, Array<const double, 1> values,  // in
                  Array<double, 1> out);                      // out

// In all kernels below, `weights` are integers of at least 0, one per row; empty: all 1.

// Returns the sum of round(values * scale) * weights, which is exact and so does not depend on the order. The
// caller chooses `scale` so that it stays below 2^63.
int64_t fixed_point_sum(Pool& pool, Array<const double, 1> values, Array<const int64_t, 1> weights,
                        double scale);

// Returns the sums of weight * round((value - centre) * scale) over the values above the centre and, with the
// sign changed, over those below it: no sum over any rows is farther from 0.
nb::tuple signed_sums(Pool& pool, Array<const double, 1> values, Array<const int64_t, 1> weights,
                      double centre, double scale);

// Returns the smallest and the largest value; infinity and minus infinity if there are none, minus infinity
// and infinity if one is NaN.
nb::tuple min_max(Pool& pool, Array<const double, 1> values);

// cells[i] = the row of round((residuals[i] - centre) * scale) and weights[i] in the format of the cells.
// Returns the weighted sum of the rounded residuals, the sum of weights, and the weighted sum of squares as
// high * 2^32 + low: (gradient, count, high, low).
nb::tuple pack_cells(Pool& pool, Array<const double, 1> residuals, Array<const int64_t, 1> weights,  // in
                     double centre, double scale, const CellFormat& format,                          // in
                     Array<int64_t, 1> cells);                                                       // out

// The rows of leaf k are rows[begin[k] .. end[k]).

// out[k] = sum of round(values[row] * scale) * weights[row] over the rows of leaf k.
void leaf_sums(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,  // in
               Array<const int64_t, 1> end, Array<const double, 1> values,               // in
               Array<const int64_t, 1> weights, double scale,                            // in
               Array<int64_t, 1> out);                                                   // out (leaves,)

// out[k] = the smallest value with at least `share` of the weight of leaf k at or below it. If it is exactly
// that share, the midpoint of this value and the next one. 0 for a leaf of weight 0.
void leaf_quantiles(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,  // in
                    Array<const int64_t, 1> end, Array<const double, 1> values,               // in
                    Array<const int64_t, 1> weights, double share,                            // in
                    Array<double, 1> out);                                                    // out (leaves,)

// scores[row] += step[k] for the rows of each leaf k.
void add_to_leaves(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,  // in
                   Array<const int64_t, 1> end, Array<const double, 1> step,                 // in
                   Array<double, 1> scores);  // in and out, by row

}  // namespace gtgbm
