#include "predict/interactions.hpp"

#include <algorithm>
#include <vector>

#include "predict/contribution_walk.hpp"
#include "predict/quadrature.hpp"

namespace gtgbm {

namespace {

// Numbers that the sums of the rows at hand may have, so that they stay in a cache.
constexpr int64_t kMostSums = 1 << 18;

}  // namespace

Interactions::Interactions(const Contributions& contributions)
    : contributions_(contributions), ratios_(contributions.factors_.size() / Contributions::kStates) {
    begin_.reserve(contributions.forest_.nodes_.size() + 1);
    begin_.push_back(0);
    for (const Contributions::Tree& tree : contributions.trees_) {
        const int64_t before = static_cast<int64_t>(above_.size());
        find_paths(tree);
        tabulate(tree);
        work_ += (static_cast<int64_t>(above_.size()) - before + tree.n_nodes) * tree.n_points;
    }
}

void Interactions::find_paths(const Contributions::Tree& tree) {
    const Forest::Node* nodes = contributions_.forest_.nodes_.data() + tree.root;
    std::vector<int32_t> parent(static_cast<size_t>(tree.n_nodes), -1);
    for (int32_t k = 0; k < tree.n_nodes; ++k) {
        const int32_t left = nodes[k].left - tree.root;
        if (left > k) {
            parent[left] = parent[left + 1] = k;
            const uint32_t column = nodes[k].column & Forest::kColumn;
            const auto keep = [&](Above branch) {
                if (branch.column != column) above_.push_back(branch);
            };
            if (k > 0) {
                // The branches that count at the parent are on other columns than the one that ends here.
                keep({k, nodes[parent[k]].column & Forest::kColumn});
                const size_t at = static_cast<size_t>(tree.root + parent[k]);
                for (int64_t place = begin_[at]; place < begin_[at + 1]; ++place)
                    keep(above_[static_cast<size_t>(place)]);
            }
        }
        begin_.push_back(static_cast<int64_t>(above_.size()));
    }
}

void Interactions::tabulate(const Contributions::Tree& tree) {
    const Quadrature rule(tree.n_points);
    const Contributions::Branch* branches = contributions_.branches_.data() + tree.root;
    double* out = ratios_.data() + tree.table / Contributions::kStates;
    for (int32_t k = 0; k < tree.n_nodes; ++k)
        for (int taken = 0; taken < 2; ++taken, out += tree.n_points)
            for (int q = 0; q < tree.n_points; ++q) {
                const double t = rule.point[q], share = branches[k].share;
                out[q] = (taken - share) / (taken * t + share * (1.0 - t));
            }
}

// Adds to sums[row][output][column][other column]: contributions on the diagonal, and interactions once.
template <bool kMissing, bool kCategories>
void Interactions::add_rows(const double* x, int64_t n_rows, double* sums, Contributions::Walk& walk) const {
    const Forest& forest = contributions_.forest_;
    const int64_t n_columns = forest.n_columns_, pairs = n_columns * n_columns;
    std::vector<double> terms(walk.values.size());
    for (size_t t = 0; t < contributions_.trees_.size(); ++t) {
        const Contributions::Tree& tree = contributions_.trees_[t];
        const double* ratios = ratios_.data() + tree.table / Contributions::kStates;
        with_points(tree.n_points, [&](auto known) {
            constexpr int kPoints = decltype(known)::value;
            const int points = kPoints ? kPoints : tree.n_points;
            for (int64_t i = 0; i < n_rows; ++i) {
                double* of_row = sums + (i * forest.n_outputs_ + forest.outputs_[t]) * pairs;
                contributions_.descend<kPoints, kMissing, kCategories>(tree, x + i * n_columns, walk);
                contributions_.ascend<kPoints>(tree, walk, [&](int32_t k, uint32_t column, auto term) {
                    double* of_column = of_row + column * n_columns;
                    double sum = 0.0;
                    for (int q = 0; q < points; ++q) sum += terms[q] = term(q);
                    of_column[column] += sum;
                    for (int64_t place = begin_[tree.root + k]; place < begin_[tree.root + k + 1]; ++place) {
                        const Above& above = above_[static_cast<size_t>(place)];
                        const double* ratio = ratios + (above.node * 2 + walk.taken[above.node]) * points;
                        double shared = 0.0;
                        for (int q = 0; q < points; ++q) shared += terms[q] * ratio[q];
                        of_column[above.column] += shared;
                    }
                });
            }
        });
    }
}

void Interactions::write(Pool& pool, AnyTable any, Array<const int64_t, 1> columns,
                         Array<const int64_t, 1> places, Array<double, 4> out) const {
    const Forest& forest = contributions_.forest_;
    const int64_t n_columns = forest.n_columns_, n_outputs = forest.n_outputs_, pairs = n_columns * n_columns;
    const int64_t width = static_cast<int64_t>(out.shape(3));
    require(static_cast<int64_t>(places.shape(0)) == n_columns, "Interactions: one place per column");
    require_below(places, width, "Interactions: place out of range");
    require(out.shape(0) == any.shape(0) && static_cast<int64_t>(out.shape(1)) == n_outputs &&
                out.shape(2) == out.shape(3),
            "Interactions: out must have shape (rows, outputs, width, width)");
    const int64_t row_size = std::max<int64_t>(1, n_outputs * pairs);
    const int64_t step = std::clamp<int64_t>(kMostSums / row_size, 1, Forest::kBlock);
    std::vector<std::vector<double>> all_sums(static_cast<size_t>(pool.size()),
                                              std::vector<double>(static_cast<size_t>(step * row_size)));
    std::vector<Contributions::Walk> walks(all_sums.size(), Contributions::Walk(contributions_));
    for_blocks(pool, any, columns, n_columns, work_ + row_size, [&](const BlockOfRows& block) {
        std::vector<double>& sums = all_sums[block.worker];
        const auto add =
            forest.has_categories_
                ? (block.missing ? &Interactions::add_rows<true, true> : &Interactions::add_rows<false, true>)
                : (block.missing ? &Interactions::add_rows<true, false>
                                 : &Interactions::add_rows<false, false>);
        for (int64_t begin = 0; begin < block.n_rows; begin += step) {
            const int64_t n_rows = std::min(step, block.n_rows - begin);
            std::fill(sums.begin(), sums.end(), 0.0);
            (this->*add)(block.x + begin * n_columns, n_rows, sums.data(), walks[block.worker]);
            for (int64_t i = 0; i < n_rows * n_outputs; ++i) {
                const double* from = sums.data() + i * pairs;
                double* to = out.data() + ((block.begin + begin) * n_outputs + i) * width * width;
                for (int64_t c = 0; c < n_columns; ++c) {
                    double own = from[c * n_columns + c];
                    for (int64_t d = 0; d < n_columns; ++d) {
                        if (d == c) continue;
                        const double half = 0.5 * (from[c * n_columns + d] + from[d * n_columns + c]);
                        own -= half;
                        to[places.data()[c] * width + places.data()[d]] = half;
                    }
                    to[places.data()[c] * width + places.data()[c]] = own;
                }
            }
        }
    });
}

}  // namespace gtgbm
