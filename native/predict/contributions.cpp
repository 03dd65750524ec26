#include "predict/contributions.hpp"

#include <algorithm>
#include <vector>

#include "predict/contribution_walk.hpp"
#include "predict/quadrature.hpp"

namespace gtgbm {

Contributions::Contributions(const Forest& forest, Array<const int64_t, 1> cover)
    : forest_(forest), branches_(forest.nodes_.size()) {
    require(cover.shape(0) == forest.nodes_.size(), "Contributions: one cover per node");
    for (size_t k = 0; k < cover.shape(0); ++k)
        require(cover.data()[k] > 0, "Contributions: covers must be positive");
    const int64_t n_trees = forest.n_trees();
    size_t position = 0;
    for (int64_t t = 0; t < n_trees; ++t) {
        const int32_t root = forest.roots_[t];
        const int32_t end =
            t + 1 < n_trees ? forest.roots_[t + 1] : static_cast<int32_t>(forest.nodes_.size());
        const int64_t most_columns = branches_of(root, end - root, cover.data());
        const int32_t points = static_cast<int32_t>(std::max<int64_t>(1, (most_columns + 1) / 2));
        trees_.push_back({root, end - root, points, position});
        position += static_cast<size_t>(end - root) * kStates * 2 * points;
        most_values_ = std::max<int64_t>(most_values_, static_cast<int64_t>(end - root) * points);
        most_nodes_ = std::max(most_nodes_, end - root);
    }
    factors_.resize(position);
    for (const Tree& tree : trees_) tabulate(tree);
}

// Fills branches_ of a tree; returns the most different columns on a path.
int64_t Contributions::branches_of(int32_t root, int32_t n_nodes, const int64_t* cover) {
    const auto* nodes = forest_.nodes_.data() + root;
    Branch* branches = branches_.data() + root;
    std::vector<int32_t> parent(static_cast<size_t>(n_nodes), -1), depth(parent.size(), 0);
    branches[0] = {0, 1.0};
    int64_t most = 0;
    for (int32_t k = 0; k < n_nodes; ++k) {
        const int32_t left = nodes[k].left - root;
        if (left < k) continue;  // a leaf is its own right child
        const uint32_t column = nodes[k].column & Forest::kColumn;
        // The branch on the same column above this node: one whose parent splits on it.
        int32_t before = k;
        while (before > 0 && (nodes[parent[before]].column & Forest::kColumn) != column)
            before = parent[before];
        for (const int32_t child : {left, left + 1}) {
            parent[child] = k;
            depth[child] = depth[k] + (before == 0);
            most = std::max<int64_t>(most, depth[child]);
            const double share =
                static_cast<double>(cover[root + child]) / static_cast<double>(cover[root + k]);
            branches[child] = {before, share * branches[before].share};
        }
    }
    return most;
}

void Contributions::tabulate(const Tree& tree) {
    const Quadrature rule(tree.n_points);
    const Branch* branches = branches_.data() + tree.root;
    double* out = factors_.data() + tree.table + kStates * 2 * tree.n_points;  // the root ends no branch
    for (int32_t k = 1; k < tree.n_nodes; ++k) {
        const Branch& branch = branches[k];
        for (int state = 0; state < kStates; ++state, out += 2 * tree.n_points) {
            const double now = state == 0, earlier = state < 2;
            for (int q = 0; q < tree.n_points; ++q) {
                const double t = rule.point[q];
                const auto factor = [t](double o, double z) { return o * t + z * (1.0 - t); };
                const double own = factor(now, branch.share);
                out[q] = own;
                out[tree.n_points + q] = rule.weight[q] * (now - branch.share) / own;
                if (branch.before == 0) continue;
                // This branch takes the place of the one before on the same column.
                const double share = branches[branch.before].share, replaced = factor(earlier, share);
                out[q] /= replaced;
                out[tree.n_points + q] -= rule.weight[q] * (earlier - share) / replaced;
            }
        }
    }
}

template <bool kMissing, bool kCategories>
void Contributions::add_block(const double* x, int64_t n_rows, double* sums, Walk& walk) const {
    const int64_t n_columns = forest_.n_columns_, stride = forest_.n_outputs_ * n_columns;
    for (size_t t = 0; t < trees_.size(); ++t) {
        const Tree& tree = trees_[t];
        double* of_tree = sums + forest_.outputs_[t] * n_columns;
        with_points(tree.n_points, [&](auto known) {
            constexpr int kPoints = decltype(known)::value;
            const int points = kPoints ? kPoints : tree.n_points;
            for (int64_t i = 0; i < n_rows; ++i) {
                descend<kPoints, kMissing, kCategories>(tree, x + i * n_columns, walk);
                ascend<kPoints>(tree, walk, [&](int32_t, uint32_t column, auto term) {
                    double sum = 0.0;
                    for (int q = 0; q < points; ++q) sum += term(q);
                    of_tree[i * stride + column] += sum;
                });
            }
        });
    }
}

void Contributions::add_to(Pool& pool, AnyTable any, Array<const int64_t, 1> columns,
                           Array<const int64_t, 1> places, Array<double, 3> out) const {
    const int64_t n_columns = forest_.n_columns_, n_outputs = forest_.n_outputs_;
    const int64_t width = static_cast<int64_t>(out.shape(2));
    require(static_cast<int64_t>(places.shape(0)) == n_columns, "Contributions: one place per column");
    require_below(places, width, "Contributions: place out of range");
    require(out.shape(0) == any.shape(0) && static_cast<int64_t>(out.shape(1)) == n_outputs,
            "Contributions: out must have shape (rows, outputs, width)");
    const size_t size = static_cast<size_t>(Forest::kBlock * n_outputs * n_columns);
    std::vector<std::vector<double>> all_sums(static_cast<size_t>(pool.size()), std::vector<double>(size));
    std::vector<Walk> walks(all_sums.size(), Walk(*this));
    const int64_t work = static_cast<int64_t>(factors_.size());
    for_blocks(pool, any, columns, n_columns, work, [&](const BlockOfRows& block) {
        std::vector<double>& sums = all_sums[block.worker];
        std::fill(sums.begin(), sums.end(), 0.0);
        const auto add = forest_.has_categories_ ? (block.missing ? &Contributions::add_block<true, true>
                                                                  : &Contributions::add_block<false, true>)
                                                 : (block.missing ? &Contributions::add_block<true, false>
                                                                  : &Contributions::add_block<false, false>);
        (this->*add)(block.x, block.n_rows, sums.data(), walks[block.worker]);
        for (int64_t i = 0; i < block.n_rows * n_outputs; ++i)
            for (int64_t c = 0; c < n_columns; ++c)
                out.data()[(block.begin * n_outputs + i) * width + places.data()[c]] +=
                    sums[i * n_columns + c];
    });
}

}  // namespace gtgbm
