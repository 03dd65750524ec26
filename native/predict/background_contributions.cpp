// Contributions of columns against the rows of a background: interventional Shapley values of trees.
#include <algorithm>

#include "predict/forest.hpp"
#include "predict/walking.hpp"

namespace gtgbm {

namespace {

// What the leaves below a node give to each column known from the row, and take from each known from the
// background row, up to their signs.
struct Shares {
    double given, taken;
};

// One row against one background row, in one tree. Where both go the same way, there is one way. Where they
// part at a column for the first time, both ways are followed: the column is known from the row on one of
// them, and from the background row on the other.
struct Pair {
    enum : uint8_t { kNone, kRow, kBackground };

    const Forest::Node* nodes;
    const double* values;
    const uint8_t *row_left, *background_left;  // by node of the tree
    int32_t root;
    const double* weight;  // (most + 1, most + 1): p! q! / (p + q + 1)!
    int64_t stride;
    uint8_t* known;  // by column, from where it is known on this way
    double* sums;    // by column

    Shares walk(int32_t k, int64_t n_row, int64_t n_background) {
        const Forest::Node& node = nodes[k];
        if (node.left < k) {
            const double value = values[k];
            return {n_row ? value * weight[(n_row - 1) * stride + n_background] : 0.0,
                    n_background ? value * weight[(n_background - 1) * stride + n_row] : 0.0};
        }
        const uint32_t column = node.column & Forest::kColumn;
        const bool row = row_left[k - root] != 0, background = background_left[k - root] != 0;
        if (row == background || known[column] == kRow) return walk(node.left + !row, n_row, n_background);
        if (known[column] == kBackground) return walk(node.left + !background, n_row, n_background);
        known[column] = kRow;
        const Shares as_row = walk(node.left + !row, n_row + 1, n_background);
        known[column] = kBackground;
        const Shares as_background = walk(node.left + !background, n_row, n_background + 1);
        known[column] = kNone;
        sums[column] += as_row.given - as_background.taken;
        return {as_row.given + as_background.given, as_row.taken + as_background.taken};
    }
};

// Weights of Shapley values, p! q! / (p + q + 1)!, for p and q up to n.
std::vector<double> shapley_weights(int64_t n) {
    std::vector<double> weight(static_cast<size_t>((n + 1) * (n + 1)));
    for (int64_t p = 0; p <= n; ++p)
        for (int64_t q = 0; q <= n; ++q) {
            double w = 1.0 / static_cast<double>(p + q + 1);  // divided by the number of ways to choose p
            for (int64_t k = 1; k <= p; ++k) w *= static_cast<double>(k) / static_cast<double>(q + k);
            weight[p * (n + 1) + q] = w;
        }
    return weight;
}

}  // namespace

void Forest::add_contributions(Pool& pool, AnyTable any, Array<const int64_t, 1> columns,
                               Array<const double, 2> background, Array<const int64_t, 1> places,
                               Array<double, 3> out) const {
    const int64_t m = static_cast<int64_t>(background.shape(0)), width = static_cast<int64_t>(out.shape(2));
    const int64_t n_nodes = static_cast<int64_t>(nodes_.size());
    require(m > 0 && static_cast<int64_t>(background.shape(1)) == n_columns_,
            "add_contributions: background must have rows of the forest's columns");
    require(static_cast<int64_t>(places.shape(0)) == n_columns_, "add_contributions: one place per column");
    require_below(places, width, "add_contributions: place out of range");
    require(out.shape(0) == any.shape(0) && static_cast<int64_t>(out.shape(1)) == n_outputs_,
            "add_contributions: out must have shape (rows, outputs, width)");
    const auto sides = [this](const double* x, int64_t first, int64_t last, uint8_t* is_left) {
        for (int64_t k = first; k < last; ++k)
            is_left[k - first] = goes_left<true, true>(nodes_[k], x[nodes_[k].column & kColumn]);
    };
    const int64_t deepest = std::min<int64_t>(std::max<int64_t>(max_depth_, 1), n_columns_ + 1);
    const std::vector<double> weight = shapley_weights(deepest);
    const std::vector<double> none(1, 0.0);  // leaves read column 0, even if there is none
    std::vector<uint8_t> background_left(static_cast<size_t>(m * n_nodes));
    for (int64_t b = 0; b < m; ++b)
        sides(n_columns_ ? background.data() + b * n_columns_ : none.data(), 0, n_nodes,
              background_left.data() + b * n_nodes);
    struct Scratch {
        std::vector<uint8_t> row_left, known;
        std::vector<double> sums;
    };
    std::vector<Scratch> scratches(
        static_cast<size_t>(pool.size()),
        Scratch{std::vector<uint8_t>(static_cast<size_t>(n_nodes)),
                std::vector<uint8_t>(static_cast<size_t>(std::max<int64_t>(n_columns_, 1)), Pair::kNone),
                std::vector<double>(static_cast<size_t>(std::max<int64_t>(n_columns_, 1)))});
    for_blocks(pool, any, columns, n_columns_, m * n_nodes, [&](const BlockOfRows& block) {
        Scratch& scratch = scratches[block.worker];
        for (int64_t i = 0; i < block.n_rows; ++i) {
            sides(block.x + i * n_columns_, 0, n_nodes, scratch.row_left.data());
            double* row_out = out.data() + (block.begin + i) * n_outputs_ * width;
            for (int64_t t = 0; t < n_trees(); ++t) {
                const int32_t root = roots_[t];
                std::fill(scratch.sums.begin(), scratch.sums.end(), 0.0);
                for (int64_t b = 0; b < m; ++b) {
                    Pair pair{nodes_.data(),
                              values_.data(),
                              scratch.row_left.data() + root,
                              background_left.data() + b * n_nodes + root,
                              root,
                              weight.data(),
                              deepest + 1,
                              scratch.known.data(),
                              scratch.sums.data()};
                    pair.walk(root, 0, 0);
                }
                for (int64_t c = 0; c < n_columns_; ++c)
                    row_out[outputs_[t] * width + places.data()[c]] +=
                        scratch.sums[c] / static_cast<double>(m);
            }
        }
    });
}

}  // namespace gtgbm
