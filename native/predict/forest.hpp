// Prediction with packed trees, which are checked once, when they are packed.
#pragma once

#include <cstdint>
#include <vector>

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// An immutable ensemble. The nodes of tree t are [first[t], first[t + 1]), and it adds to the score
// output[t]. feature is an index into the `columns` argument of predict(), below n_columns; -1 for a leaf.
// left is the left child, numbered within the tree; the right child is the next node. Values <= threshold go
// left; for a category (is_category), all values except the one equal to threshold. NaN goes left where
// missing_left is 1.
class Forest {
  public:
    // Rows gathered at once, few enough that they and a tree stay in the fastest caches.
    static constexpr int64_t kBlock = 64;

    Forest(int64_t n_columns, int64_t n_outputs,                                       // in
           Array<const int64_t, 1> first,                                              // in  (trees + 1,)
           Array<const int64_t, 1> output,                                             // in  (trees,)
           Array<const int32_t, 1> feature, Array<const double, 1> threshold,          // in  (nodes,)
           Array<const uint8_t, 1> is_category, Array<const uint8_t, 1> missing_left,  // in  (nodes,)
           Array<const int32_t, 1> left, Array<const double, 1> value);                // in  (nodes,)

    // Adds the leaf values of all trees to out[output][row], in the order of the trees.
    void predict(Pool& pool, AnyTable table, Array<const int64_t, 1> columns,  // in
                 Array<double, 2> out) const;                                  // in and out (outputs, rows)

    // A leaf is its own right child and has the threshold NaN, so that every value stays at the leaf.
    struct Node {
        double threshold;
        uint32_t column;  // combined with the flags kMissingLeft and kIsCategory
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
