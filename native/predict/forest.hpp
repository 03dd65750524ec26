// Prediction: trees packed for walking, checked once when they are packed.
#pragma once

#include <cstdint>
#include <vector>

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// An immutable ensemble. The trees' nodes stand one tree after the other; tree t owns nodes
// [first[t], first[t + 1]) and adds to output[t]. feature is a position in the `columns` that predict() is
// given (-1: leaf), below n_columns; children are numbered within the tree, the right one after the left one.
// Values <= threshold go left; where is_category, all but those equal to it; NaN where missing_left says.
class Forest {
  public:
    // Rows whose columns are gathered at once: they and a tree stay in the fastest caches.
    static constexpr int64_t kBlock = 64;

    Forest(int64_t n_columns, int64_t n_outputs, Array<const int64_t, 1> first,
           Array<const int64_t, 1> output, Array<const int32_t, 1> feature, Array<const double, 1> threshold,
           Array<const uint8_t, 1> is_category, Array<const uint8_t, 1> missing_left,
           Array<const int32_t, 1> left, Array<const double, 1> value);

    // Adds to out[output][row] the trees' values, in the order of the trees.
    void predict(Pool& pool, AnyTable table, Array<const int64_t, 1> columns, Array<double, 2> out) const;

    // A leaf leads to itself whatever the value: nothing is <= NaN, and its right child is the leaf.
    struct Node {
        double threshold;
        uint32_t column;  // with kMissingLeft and kIsCategory
        int32_t left;
    };
    static constexpr uint32_t kMissingLeft = 1u << 31, kIsCategory = 1u << 30, kColumn = kIsCategory - 1;

  private:
    template <bool kMissing, bool kCategories>
    void add_block(const double* x, int64_t n_rows, double* out, int64_t stride) const;

    int64_t n_columns_, n_outputs_;
    bool has_categories_ = false;
    std::vector<Node> nodes_;
    std::vector<double> values_;
    std::vector<int32_t> roots_;
    std::vector<int64_t> outputs_;
};

}  // namespace gtgbm
