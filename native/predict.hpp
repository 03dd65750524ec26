#pragma once

#include "arrays.hpp"
#include "pool.hpp"

namespace gtgbm {

// Adds trees' values to out[output[t]][row]. All trees' nodes stand one tree after the other; tree t owns
// nodes [first[t], first[t + 1]). feature is an index into `columns` (-1: leaf); children are numbered within
// the tree, the right one after the left one. Values <= threshold go left, NaN where missing_left says.
void predict(Pool& pool, AnyTable table, Array<const int64_t, 1> columns, Array<const int64_t, 1> first,
             Array<const int64_t, 1> output, Array<const int32_t, 1> feature,
             Array<const double, 1> threshold, Array<const uint8_t, 1> missing_left,
             Array<const int32_t, 1> left, Array<const double, 1> value, Array<double, 2> out);

}  // namespace gtgbm
