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
    // Number of rows that descend in lock-step, so that their memory accesses overlap.
    static constexpr int kLanes = 8;

    Forest(int64_t n_columns, int64_t n_outputs,                                       // in
           Array<const int64_t, 1> first,                                              // in  (trees + 1,)
           Array<const int64_t, 1> output,                                             // in  (trees,)
           Array<const int32_t, 1> feature, Array<const double, 1> threshold,          // in  (nodes,)
           Array<const uint8_t, 1> is_category, Array<const uint8_t, 1> missing_left,  // in  (nodes,)
           Array<const int32_t, 1> left, Array<const double, 1> value);                // in  (nodes,)

    // Adds the leaf values of the trees [begin, end) to out[output][row], in the order of the trees.
    void predict(Pool& pool, AnyTable table, Array<const int64_t, 1> columns,  // in
                 Array<double, 2> out,                                         // in and out (outputs, rows)
                 int64_t begin, int64_t end) const;                            // in

    // The leaf that each row reaches in each tree, as the number of the node within the tree.
    void leaves(Pool& pool, AnyTable table, Array<const int64_t, 1> columns,  // in
                Array<int32_t, 2> out) const;                                 // out (rows, trees)

    // Adds the contributions of column c to out[row][output][places[c]], if columns that are not known have
    // the values of a background row: the mean over all of these.
    void add_contributions(Pool& pool, AnyTable table, Array<const int64_t, 1> columns,  // in
                           Array<const double, 2> background,  // in  (rows, columns of the forest)
                           Array<const int64_t, 1> places,     // in  (columns,)
                           Array<double, 3> out) const;        // in and out (rows, outputs, width)

    // Adds the leaf values of all trees for one row to sums (outputs,), in the order of the trees. x has the
    // columns of the forest, at least one value; missing: whether any of them is missing.
    void add_row(const double* x, bool missing, double* sums) const;

    int64_t n_trees() const { return static_cast<int64_t>(roots_.size()); }
    int64_t n_columns() const { return n_columns_; }
    int64_t n_outputs() const { return n_outputs_; }

    // How the scores of each row change if it takes the value of one column from another row, for each of
    // some columns. Each tree is walked once for all columns, and again only below the first node at which
    // the other value goes the other way. The changes of trees are added in their order.
    void score_changes(Pool& pool, AnyTable table,        // in
                       AnyTable donors,                   // in  of the dtype of the table
                       Array<const int64_t, 1> donor,     // in  (rows,) rows of `donors`
                       Array<const int64_t, 1> columns,   // in  as in predict()
                       Array<const int64_t, 1> features,  // in  distinct positions in `columns`
                       Array<double, 3> out) const;       // out (features, outputs, rows)

    // A leaf is its own right child and has the threshold NaN, so that every value stays at the leaf.
    struct Node {
        double threshold;
        uint32_t column;  // combined with the flags kMissingLeft and kIsCategory
        int32_t left;
    };
    static constexpr uint32_t kMissingLeft = 1u << 31, kIsCategory = 1u << 30, kColumn = kIsCategory - 1;

  private:
    friend class Contributions;
    friend class Interactions;

    // The trees [begin, end) and where their sums go, by outputs `stride` apart.
    struct Sums {
        int64_t begin, end, stride;
    };
    using AddBlock = void (Forest::*)(const double* x, int64_t n_rows, double* out, Sums sums) const;
    AddBlock adder(bool missing) const;
    template <bool kMissing, bool kCategories>
    void add_block(const double* x, int64_t n_rows, double* out, Sums sums) const;
    template <bool kMissing, bool kCategories>
    void find_leaves(const double* x, int64_t n_rows, int32_t* out) const;

    struct ChangeBlock;
    template <bool kMissing, bool kCategories>
    void add_changes(ChangeBlock& block) const;
    template <bool kMissing, bool kCategories>
    void walk_detours(ChangeBlock& block, int64_t output) const;

    int64_t n_columns_, n_outputs_, max_depth_ = 0;  // in nodes, leaves included
    bool has_categories_ = false;
    std::vector<Node> nodes_;
    std::vector<double> values_;
    std::vector<int32_t> roots_;
    std::vector<int64_t> outputs_;
};

}  // namespace gtgbm
