// The way of a row down a tree and of sums up again, which contributions and interactions share.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "predict/contributions.hpp"
#include "predict/walking.hpp"

namespace gtgbm {

// Values of the row at hand.
struct Contributions::Walk {
    explicit Walk(const Contributions& of)
        : values(static_cast<size_t>(of.most_values_)),
          taken(static_cast<size_t>(of.most_nodes_)),
          state(taken.size()) {}
    std::vector<double> values;  // (nodes, points)
    std::vector<uint8_t> taken;  // (nodes,) whether the row takes all branches on the column so far
    std::vector<uint8_t> state;  // (nodes,)
};

// Passes products down a tree. kPoints is 0 where the number of points is known only at run time.
template <int kPoints, bool kMissing, bool kCategories>
void Contributions::descend(const Tree& tree, const double* x, Walk& walk) const {
    const int points = kPoints ? kPoints : tree.n_points;
    const Forest::Node* nodes = forest_.nodes_.data() + tree.root;
    const double* leaf_values = forest_.values_.data() + tree.root;
    const Branch* branches = branches_.data() + tree.root;
    const double* factors = factors_.data() + tree.table;
    double* values = walk.values.data();
    uint8_t *taken = walk.taken.data(), *state = walk.state.data();
    taken[0] = 1;
    std::fill_n(values, points, 1.0);
    for (int32_t k = 0; k < tree.n_nodes; ++k) {
        const int32_t left = nodes[k].left - tree.root;
        double* own = values + k * points;
        if (left < k) {
            for (int q = 0; q < points; ++q) own[q] *= leaf_values[k];
            continue;
        }
        const bool is_left = goes_left<kMissing, kCategories>(nodes[k], x[nodes[k].column & Forest::kColumn]);
        for (int32_t child = left; child < left + 2; ++child) {
            const uint8_t earlier = taken[branches[child].before];
            const uint8_t now = earlier & static_cast<uint8_t>((child == left) == is_left);
            taken[child] = now;
            state[child] = static_cast<uint8_t>(2 - earlier - now);
            const double* factor = factors + (child * kStates + state[child]) * 2 * points;
            double* product = values + child * points;
            for (int q = 0; q < points; ++q) product[q] = own[q] * factor[q];
        }
    }
}

// Passes sums over leaves up a tree. Calls visit(k, column, term) for each split k, where term(q) is what it
// adds to the contribution of its column at point q.
template <int kPoints, class Visit>
void Contributions::ascend(const Tree& tree, Walk& walk, Visit&& visit) const {
    const int points = kPoints ? kPoints : tree.n_points;
    const Forest::Node* nodes = forest_.nodes_.data() + tree.root;
    const double* factors = factors_.data() + tree.table;
    double* values = walk.values.data();
    const uint8_t* state = walk.state.data();
    const auto weights_of = [&](int32_t k) { return factors + ((k * kStates + state[k]) * 2 + 1) * points; };
    for (int32_t k = tree.n_nodes - 1; k >= 0; --k) {
        const int32_t left = nodes[k].left - tree.root;
        if (left < k) continue;
        double* own = values + k * points;
        const double *of_left = values + left * points, *of_right = of_left + points;
        const double *left_weight = weights_of(left), *right_weight = weights_of(left + 1);
        visit(k, nodes[k].column & Forest::kColumn,
              [=](int q) { return of_left[q] * left_weight[q] + of_right[q] * right_weight[q]; });
        for (int q = 0; q < points; ++q) own[q] = of_left[q] + of_right[q];
    }
}

// Calls body(std::integral_constant<int, n>) with the number of points, 0 for a large one: trees have few
// different columns on a path, and with a known number of points loops are unrolled.
template <class F>
void with_points(int32_t n_points, F&& body) {
    switch (n_points) {
        case 1:
            return body(std::integral_constant<int, 1>{});
        case 2:
            return body(std::integral_constant<int, 2>{});
        case 3:
            return body(std::integral_constant<int, 3>{});
        case 4:
            return body(std::integral_constant<int, 4>{});
        case 5:
            return body(std::integral_constant<int, 5>{});
        case 6:
            return body(std::integral_constant<int, 6>{});
        default:
            return body(std::integral_constant<int, 0>{});
    }
}

}  // namespace gtgbm
