// Interactions of pairs of columns in scores: path-dependent Shapley interaction values of trees.
#pragma once

#include <cstdint>
#include <vector>

#include "predict/contributions.hpp"

namespace gtgbm {

// The game is that of Contributions. A leaf gives the pair of columns i and j
//     v · (o_i - z_i) · (o_j - z_j) · integral over t in [0, 1] of prod_{k != i, j} (o_k t + z_k (1 - t)),
// of which each of the entries (i, j) and (j, i) has half. With r_i = (o_i - z_i) / (o_i t + z_i (1 - t)) the
// integrand is the product over all columns times r_i r_j. A leaf's r_j is the sum of the changes of r_j at
// the branches on column j above it, so that a split on column j adds, for the leaves below it, what
// Contributions adds for j, times r_i of the last branch above on each other column i. A tree takes time
// proportional to its nodes times points times the different columns on a path.
class Interactions {
  public:
    explicit Interactions(const Contributions& contributions);  // in  kept alive by the caller

    // Writes the interactions of columns c and d of the forest to out[row][output][places[c]][places[d]]; the
    // diagonal has what a contribution is more than its interactions with others. Trees are added in their
    // order. Other entries are left as they are.
    void write(Pool& pool, AnyTable table, Array<const int64_t, 1> columns,  // in  as in Forest::predict
               Array<const int64_t, 1> places,                               // in  (columns,)
               Array<double, 4> out) const;  // out (rows, outputs, width, width)

  private:
    struct Above {
        int32_t node;  // that ends the branch, within the tree
        uint32_t column;
    };

    void find_paths(const Contributions::Tree& tree);
    void tabulate(const Contributions::Tree& tree);
    template <bool kMissing, bool kCategories>
    void add_rows(const double* x, int64_t n_rows, double* sums, Contributions::Walk& walk) const;

    const Contributions& contributions_;
    // By split: the last branch above on each other column. Those of node k are [begin_[k], begin_[k + 1]).
    std::vector<int64_t> begin_;
    std::vector<Above> above_;
    // r by node, whether the row takes the branch, and point; those of a tree begin at a third of its
    // factors.
    std::vector<double> ratios_;
    int64_t work_ = 0;  // of a row, in inner-loop steps
};

}  // namespace gtgbm
