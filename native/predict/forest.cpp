#include "predict/forest.hpp"

#include <algorithm>
#include <limits>

#include "predict/walking.hpp"

namespace gtgbm {

namespace {

constexpr int kLanes = Forest::kLanes;

using Node = Forest::Node;

// Descends from node k[l] to a leaf with the values x[l], for all lanes, until no lane moves.
template <int kN, bool kMissing, bool kCategories>
void descend(const Node* nodes, const double* const (&x)[kN], int32_t (&k)[kN]) {
    int32_t moved;
    do {
        moved = 0;
        for (int l = 0; l < kN; ++l) {
            const Node& node = nodes[k[l]];
            const double v = x[l][node.column & Forest::kColumn];
            const int32_t next = node.left + !goes_left<kMissing, kCategories>(node, v);
            moved |= next ^ k[l];
            k[l] = next;
        }
    } while (moved);
}

}  // namespace

Forest::Forest(int64_t n_columns, int64_t n_outputs, Array<const int64_t, 1> first,
               Array<const int64_t, 1> output, Array<const int32_t, 1> feature,
               Array<const double, 1> threshold, Array<const uint8_t, 1> is_category,
               Array<const uint8_t, 1> missing_left, Array<const int32_t, 1> left,
               Array<const double, 1> value)
    : n_columns_(n_columns), n_outputs_(n_outputs) {
    const int64_t trees = static_cast<int64_t>(output.shape(0)), n = static_cast<int64_t>(feature.shape(0));
    require(0 <= n_columns && n_columns <= kColumn, "Forest: too many columns");
    require(n < std::numeric_limits<int32_t>::max(), "Forest: too many nodes");
    require(static_cast<int64_t>(first.shape(0)) == trees + 1,
            "Forest: first must have one entry more than trees");
    require(threshold.shape(0) == feature.shape(0) && is_category.shape(0) == feature.shape(0) &&
                missing_left.shape(0) == feature.shape(0) && left.shape(0) == feature.shape(0) &&
                value.shape(0) == feature.shape(0),
            "Forest: one entry per node");
    require_below(output, n_outputs, "Forest: output out of range");
    nodes_.reserve(static_cast<size_t>(n));
    std::vector<int64_t> depth;
    for (int64_t t = 0; t < trees; ++t) {
        const int64_t from = first.data()[t], to = first.data()[t + 1];
        require(from == static_cast<int64_t>(nodes_.size()) && from < to && to <= n,
                "Forest: trees must stand one after the other, each with nodes");
        roots_.push_back(static_cast<int32_t>(from));
        depth.assign(static_cast<size_t>(to - from), 1);
        for (int64_t k = from; k < to; ++k) {
            const int32_t column = feature.data()[k];
            require(column >= -1 && column < n_columns, "Forest: feature out of range");
            if (column < 0) {
                const double nan = std::numeric_limits<double>::quiet_NaN();
                nodes_.push_back({nan, 0, static_cast<int32_t>(k - 1)});
                continue;
            }
            // Children have higher numbers than their parent, so that every descent ends.
            const int64_t child = left.data()[k];
            require(child > k - from && child + 1 < to - from, "Forest: child out of range");
            for (const int64_t c : {child, child + 1}) {
                depth[c] = std::max(depth[c], depth[k - from] + 1);
                max_depth_ = std::max(max_depth_, depth[c]);
            }
            has_categories_ |= is_category.data()[k] != 0;
            nodes_.push_back({threshold.data()[k],
                              static_cast<uint32_t>(column) | (missing_left.data()[k] ? kMissingLeft : 0) |
                                  (is_category.data()[k] ? kIsCategory : 0),
                              static_cast<int32_t>(from + child)});
        }
    }
    require(static_cast<int64_t>(nodes_.size()) == n, "Forest: nodes without a tree");
    values_.assign(value.data(), value.data() + n);
    outputs_.assign(output.data(), output.data() + trees);
}

template <bool kMissing, bool kCategories>
void Forest::add_block(const double* x, int64_t n_rows, double* out, Sums range) const {
    const int64_t whole = n_rows - n_rows % kLanes;
    const double* at[kLanes];
    int32_t k[kLanes];
    if (whole)
        for (int64_t t = range.begin; t < range.end; ++t) {
            double* sums = out + outputs_[t] * range.stride;
            for (int64_t i = 0; i < whole; i += kLanes) {
                for (int l = 0; l < kLanes; ++l) {
                    at[l] = x + (i + l) * n_columns_;
                    k[l] = roots_[t];
                }
                descend<kLanes, kMissing, kCategories>(nodes_.data(), at, k);
                for (int l = 0; l < kLanes; ++l) sums[i + l] += values_[k[l]];
            }
        }
    // Too few rows for all lanes: descend several trees at once, and add their values in the order of the
    // trees.
    for (int64_t i = whole; i < n_rows; ++i) {
        std::fill_n(at, kLanes, x + i * n_columns_);
        for (int64_t t = range.begin; t < range.end; t += kLanes) {
            const int n = static_cast<int>(std::min<int64_t>(kLanes, range.end - t));
            for (int l = 0; l < kLanes; ++l) k[l] = roots_[t + std::min(l, n - 1)];
            descend<kLanes, kMissing, kCategories>(nodes_.data(), at, k);
            for (int l = 0; l < n; ++l) out[outputs_[t + l] * range.stride + i] += values_[k[l]];
        }
    }
}

template <bool kMissing, bool kCategories>
void Forest::find_leaves(const double* x, int64_t n_rows, int32_t* out) const {
    const int64_t trees = n_trees();
    const double* at[kLanes];
    int32_t k[kLanes];
    for (int64_t t = 0; t < trees; ++t)
        for (int64_t i = 0; i < n_rows; i += kLanes) {
            const int n = static_cast<int>(std::min<int64_t>(kLanes, n_rows - i));
            for (int l = 0; l < kLanes; ++l) at[l] = x + (i + std::min(l, n - 1)) * n_columns_;
            std::fill_n(k, kLanes, roots_[t]);
            descend<kLanes, kMissing, kCategories>(nodes_.data(), at, k);
            for (int l = 0; l < n; ++l) out[(i + l) * trees + t] = k[l] - roots_[t];
        }
}

void Forest::predict(Pool& pool, AnyTable any, Array<const int64_t, 1> columns, Array<double, 2> out,
                     int64_t begin, int64_t end) const {
    const int64_t n = static_cast<int64_t>(any.shape(0));
    require(0 <= begin && begin <= end && end <= n_trees(), "predict: trees out of range");
    require(static_cast<int64_t>(out.shape(0)) == n_outputs_ && static_cast<int64_t>(out.shape(1)) == n,
            "predict: out must have shape (outputs, rows)");
    for_blocks(pool, any, columns, n_columns_, (end - begin) * 8, [&](const BlockOfRows& block) {
        const AddBlock add = adder(block.missing);
        (this->*add)(block.x, block.n_rows, out.data() + block.begin, Sums{begin, end, n});
    });
}

Forest::AddBlock Forest::adder(bool missing) const {
    if (has_categories_) return missing ? &Forest::add_block<true, true> : &Forest::add_block<false, true>;
    return missing ? &Forest::add_block<true, false> : &Forest::add_block<false, false>;
}

void Forest::add_row(const double* x, bool missing, double* sums) const {
    (this->*adder(missing))(x, 1, sums, Sums{0, n_trees(), 1});
}

void Forest::leaves(Pool& pool, AnyTable any, Array<const int64_t, 1> columns, Array<int32_t, 2> out) const {
    const int64_t trees = n_trees();
    require(out.shape(0) == any.shape(0) && static_cast<int64_t>(out.shape(1)) == trees,
            "leaves: out must have shape (rows, trees)");
    for_blocks(pool, any, columns, n_columns_, trees * 8, [&](const BlockOfRows& block) {
        const auto find =
            has_categories_
                ? (block.missing ? &Forest::find_leaves<true, true> : &Forest::find_leaves<false, true>)
                : (block.missing ? &Forest::find_leaves<true, false> : &Forest::find_leaves<false, false>);
        (this->*find)(block.x, block.n_rows, out.data() + block.begin * trees);
    });
}

}  // namespace gtgbm
