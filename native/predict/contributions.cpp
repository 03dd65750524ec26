#include "predict/contributions.hpp"

#include <algorithm>
#include <cmath>

#include "predict/walking.hpp"

namespace gtgbm {

namespace {

constexpr double kPi = 3.14159265358979323846;

// Points and weights of Gauss's quadrature on [0, 1]: roots of Legendre's polynomials, by Newton's method.
struct Quadrature {
    explicit Quadrature(int n) : point(static_cast<size_t>(n)), weight(point.size()) {
        for (int i = 0; i < n; ++i) {
            double x = std::cos(kPi * (i + 0.75) / (n + 0.5)), slope = 1.0, step = 1.0;
            for (int round = 0; round < 100 && std::abs(step) > 1e-16; ++round) {
                double value = x, before = 1.0;
                for (int k = 2; k <= n; ++k) {
                    const double next = ((2.0 * k - 1.0) * x * value - (k - 1.0) * before) / k;
                    before = value;
                    value = next;
                }
                slope = n * (x * value - before) / (x * x - 1.0);
                step = value / slope;
                x -= step;
            }
            point[i] = 0.5 * (1.0 + x);
            weight[i] = 1.0 / ((1.0 - x * x) * slope * slope);
        }
    }
    std::vector<double> point, weight;
};

}  // namespace

// The sums of the rows of a task, and values by node and point of the row at hand.
struct Contributions::Scratch {
    std::vector<double> sums;    // (rows, outputs, columns)
    std::vector<double> values;  // (nodes, points)
    std::vector<uint8_t> taken;  // (nodes,) whether the row takes all branches on the column so far
    std::vector<uint8_t> state;  // (nodes,)
};

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

// kPoints is 0 where the number of points is known only at run time.
template <int kPoints, bool kMissing, bool kCategories>
void Contributions::add_tree(const Tree& tree, const double* x, int64_t n_rows, int64_t output,
                             Scratch& scratch) const {
    const int points = kPoints ? kPoints : tree.n_points;
    const int64_t n_columns = forest_.n_columns_, stride = forest_.n_outputs_ * n_columns;
    const Forest::Node* nodes = forest_.nodes_.data() + tree.root;
    const double* leaf_values = forest_.values_.data() + tree.root;
    const Branch* branches = branches_.data() + tree.root;
    const double* factors = factors_.data() + tree.table;
    double* values = scratch.values.data();
    uint8_t *taken = scratch.taken.data(), *state = scratch.state.data();
    const auto factors_of = [&](int32_t k) { return factors + (k * kStates + state[k]) * 2 * points; };
    taken[0] = 1;
    for (int64_t i = 0; i < n_rows; ++i, x += n_columns) {
        double* sums = scratch.sums.data() + i * stride + output * n_columns;
        std::fill_n(values, points, 1.0);
        for (int32_t k = 0; k < tree.n_nodes; ++k) {
            const int32_t left = nodes[k].left - tree.root;
            double* own = values + k * points;
            if (left < k) {
                for (int q = 0; q < points; ++q) own[q] *= leaf_values[k];
                continue;
            }
            const bool is_left =
                goes_left<kMissing, kCategories>(nodes[k], x[nodes[k].column & Forest::kColumn]);
            for (int32_t child = left; child < left + 2; ++child) {
                const uint8_t earlier = taken[branches[child].before];
                const uint8_t now = earlier & static_cast<uint8_t>((child == left) == is_left);
                taken[child] = now;
                state[child] = static_cast<uint8_t>(2 - earlier - now);
                const double* factor = factors_of(child);
                double* product = values + child * points;
                for (int q = 0; q < points; ++q) product[q] = own[q] * factor[q];
            }
        }
        for (int32_t k = tree.n_nodes - 1; k >= 0; --k) {
            const int32_t left = nodes[k].left - tree.root;
            if (left < k) continue;
            double* own = values + k * points;
            const double *of_left = values + left * points, *of_right = of_left + points;
            const double *left_weight = factors_of(left) + points,
                         *right_weight = factors_of(left + 1) + points;
            double sum = 0.0;
            for (int q = 0; q < points; ++q) {
                sum += of_left[q] * left_weight[q] + of_right[q] * right_weight[q];
                own[q] = of_left[q] + of_right[q];
            }
            sums[nodes[k].column & Forest::kColumn] += sum;
        }
    }
}

template <bool kMissing, bool kCategories>
void Contributions::add_block(const double* x, int64_t n_rows, Scratch& scratch) const {
    for (size_t t = 0; t < trees_.size(); ++t) {
        const Tree& tree = trees_[t];
        const int64_t output = forest_.outputs_[t];
        // Trees have few different columns on a path: with a known number of points loops are unrolled.
        switch (tree.n_points) {
            case 1:
                add_tree<1, kMissing, kCategories>(tree, x, n_rows, output, scratch);
                break;
            case 2:
                add_tree<2, kMissing, kCategories>(tree, x, n_rows, output, scratch);
                break;
            case 3:
                add_tree<3, kMissing, kCategories>(tree, x, n_rows, output, scratch);
                break;
            case 4:
                add_tree<4, kMissing, kCategories>(tree, x, n_rows, output, scratch);
                break;
            case 5:
                add_tree<5, kMissing, kCategories>(tree, x, n_rows, output, scratch);
                break;
            case 6:
                add_tree<6, kMissing, kCategories>(tree, x, n_rows, output, scratch);
                break;
            default:
                add_tree<0, kMissing, kCategories>(tree, x, n_rows, output, scratch);
        }
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
    Scratch empty{std::vector<double>(static_cast<size_t>(Forest::kBlock * n_outputs * n_columns)),
                  std::vector<double>(static_cast<size_t>(most_values_)),
                  std::vector<uint8_t>(static_cast<size_t>(most_nodes_)),
                  std::vector<uint8_t>(static_cast<size_t>(most_nodes_))};
    std::vector<Scratch> scratches(static_cast<size_t>(pool.size()), empty);
    const int64_t work = static_cast<int64_t>(factors_.size());
    for_blocks(pool, any, columns, n_columns, work, [&](const BlockOfRows& block) {
        Scratch& scratch = scratches[block.worker];
        std::fill(scratch.sums.begin(), scratch.sums.end(), 0.0);
        const auto add = forest_.has_categories_ ? (block.missing ? &Contributions::add_block<true, true>
                                                                  : &Contributions::add_block<false, true>)
                                                 : (block.missing ? &Contributions::add_block<true, false>
                                                                  : &Contributions::add_block<false, false>);
        (this->*add)(block.x, block.n_rows, scratch);
        for (int64_t i = 0; i < block.n_rows * n_outputs; ++i)
            for (int64_t c = 0; c < n_columns; ++c)
                out.data()[(block.begin * n_outputs + i) * width + places.data()[c]] +=
                    scratch.sums[i * n_columns + c];
    });
}

}  // namespace gtgbm
