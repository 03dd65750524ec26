// Contributions of columns to scores: path-dependent Shapley values of trees.
#pragma once

#include <cstdint>
#include <vector>

#include "predict/forest.hpp"
#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// The game whose Shapley values these are: a set of columns is known, and at a split on another column a row
// goes both ways, with the shares of the training rows that did (Lundberg et al., "tree_path_dependent").
//
// A leaf of value v below splits on d different columns has the value v · prod_j (column j known ? o_j :
// z_j), where o_j says whether the row takes all branches on column j towards the leaf, and z_j is the
// product of the shares of these branches. The weights of Shapley values are integrals of Bernstein
// polynomials, so that column i gets
//     v · (o_i - z_i) · integral over t in [0, 1] of prod_{j != i} (o_j t + z_j (1 - t)),
// a polynomial of degree d - 1: Gauss's quadrature with d / 2 points is exact. For each point, products are
// passed down the tree and sums over leaves are passed up, so that a tree takes time proportional to its
// nodes times points. All terms are positive factors between 0 and 1: nothing cancels.
class Contributions {
  public:
    Contributions(const Forest& forest,            // in  kept alive by the caller
                  Array<const int64_t, 1> cover);  // in  (nodes,) training rows, at least 1 each

    // Adds the contributions of column c of the forest to out[row][output][places[c]], for all trees in their
    // order.
    void add_to(Pool& pool, AnyTable table, Array<const int64_t, 1> columns,  // in  as in Forest::predict
                Array<const int64_t, 1> places,                               // in  (columns,)
                Array<double, 3> out) const;  // in and out (rows, outputs, width)

  private:
    friend class Interactions;
    struct Walk;

    // Each node, but the root, ends a branch. Where its column was split on before, `before` is the node that
    // ended that branch, else the root.
    struct Branch {
        int32_t before;
        double share;  // product of the shares of this branch and those before on the same column
    };

    // What is known of the row at a branch: it takes all branches on the column so far, all but this, or not
    // all of those before.
    static constexpr int kStates = 3;

    struct Tree {
        int32_t root, n_nodes, n_points;
        size_t table;  // position of its factors
    };

    int64_t branches_of(int32_t root, int32_t n_nodes, const int64_t* cover);
    void tabulate(const Tree& tree);

    template <int kPoints, bool kMissing, bool kCategories>
    void descend(const Tree& tree, const double* x, Walk& walk) const;
    template <int kPoints, class Visit>
    void ascend(const Tree& tree, Walk& walk, Visit&& visit) const;
    template <bool kMissing, bool kCategories>
    void add_block(const double* x, int64_t n_rows, double* sums, Walk& walk) const;

    const Forest& forest_;
    std::vector<Tree> trees_;
    std::vector<Branch> branches_;  // by node
    // By node and state: the factor of products (points,), then the weights of sums of leaves (points,).
    std::vector<double> factors_;
    int64_t most_values_ = 0;  // nodes times points, of the largest tree
    int32_t most_nodes_ = 0;
};

}  // namespace gtgbm
