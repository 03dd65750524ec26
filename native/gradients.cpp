#include "gradients.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gtgbm {
namespace {

constexpr int64_t kBlock = 8192;

int64_t fixed(double value, double scale) {
    return static_cast<int64_t>(std::nearbyint(value * scale));
}

void require_leaves(const Array<const int32_t, 1>& rows, const Array<const int64_t, 1>& begin,
                    const Array<const int64_t, 1>& end, size_t n_values) {
    require(begin.shape(0) == end.shape(0), "leaves: begin and end must have the same length");
    for (size_t leaf = 0; leaf < begin.shape(0); ++leaf)
        require(0 <= begin.data()[leaf] && begin.data()[leaf] <= end.data()[leaf] &&
                    end.data()[leaf] <= static_cast<int64_t>(rows.shape(0)),
                "leaves: range outside the rows");
    require(rows.shape(0) <= n_values, "leaves: more rows than values");
}

}  // namespace

double logistic_residuals(Pool& pool, Array<const double, 1> scores, Array<const double, 1> y,
                          Array<double, 1> residuals, Array<double, 1> curvatures) {
    const int64_t n = static_cast<int64_t>(scores.shape(0)), blocks = (n + kBlock - 1) / kBlock;
    require(y.shape(0) == scores.shape(0) && residuals.shape(0) == scores.shape(0) &&
                curvatures.shape(0) == scores.shape(0),
            "logistic_residuals: all arrays must have the same length");
    // Losses are added block by block in a fixed order, whichever thread computed them.
    std::vector<double> losses(static_cast<size_t>(blocks));
    pool.run(blocks, n * 30, [&](int64_t block, int) {
        const int64_t end = std::min(n, (block + 1) * kBlock);
        double loss = 0.0;
        for (int64_t i = block * kBlock; i < end; ++i) {
            const double score = scores.data()[i], target = y.data()[i];
            const double e = std::exp(-std::fabs(score));
            const double p = (score >= 0 ? 1.0 : e) / (1.0 + e);
            residuals.data()[i] = target - p;
            curvatures.data()[i] = p * (1.0 - p);
            loss += std::log1p(e) + (score > 0 ? score : 0.0) - target * score;
        }
        losses[static_cast<size_t>(block)] = loss;
    });
    double sum = 0.0;
    for (const double loss : losses) sum += loss;
    return sum;
}

int64_t fixed_point_sum(Array<const double, 1> values, double scale) {
    int64_t sum = 0;
    for (size_t i = 0; i < values.shape(0); ++i) sum += fixed(values.data()[i], scale);
    return sum;
}

double max_abs(Array<const double, 1> values) {
    double largest = 0.0;
    for (size_t i = 0; i < values.shape(0); ++i) {
        const double size = std::fabs(values.data()[i]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

nb::tuple pack_cells(Array<const double, 1> residuals, double scale, int count_bits,
                     Array<int64_t, 1> cells) {
    require(cells.shape(0) == residuals.shape(0), "pack_cells: cells must be as long as residuals");
    require(count_bits >= 1 && count_bits <= 31, "pack_cells: count_bits must be in 1 .. 31");
    int64_t sum = 0, squares_high = 0, squares_low = 0;
    const int64_t one_gradient = int64_t{1} << count_bits;
    {
        nb::gil_scoped_release release;
        for (size_t i = 0; i < residuals.shape(0); ++i) {
            const int64_t q = fixed(residuals.data()[i], scale);
            // Multiplied, not shifted: shifting a negative number left is undefined in C++17.
            const int64_t cell = q * one_gradient + 1;
            cells.data()[i] = cell;
            sum += cell;
            squares_high += (q * q) >> 32;
            squares_low += (q * q) & 0xffffffff;
        }
    }
    return nb::make_tuple(sum, squares_high, squares_low);
}

void leaf_sums(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,
               Array<const int64_t, 1> end, Array<const double, 1> values, double scale,
               Array<int64_t, 1> out) {
    require_leaves(rows, begin, end, values.shape(0));
    require(out.shape(0) == begin.shape(0), "leaf_sums: out must have one entry per leaf");
    pool.run(static_cast<int64_t>(begin.shape(0)), static_cast<int64_t>(rows.shape(0)) * 2,
             [&](int64_t leaf, int) {
                 int64_t sum = 0;
                 for (int64_t i = begin.data()[leaf]; i < end.data()[leaf]; ++i)
                     sum += fixed(values.data()[rows.data()[i]], scale);
                 out.data()[leaf] = sum;
             });
}

void add_to_leaves(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,
                   Array<const int64_t, 1> end, Array<const double, 1> step, Array<double, 1> scores) {
    require_leaves(rows, begin, end, scores.shape(0));
    require(step.shape(0) == begin.shape(0), "add_to_leaves: step must have one entry per leaf");
    pool.run(static_cast<int64_t>(begin.shape(0)), static_cast<int64_t>(rows.shape(0)) * 2,
             [&](int64_t leaf, int) {
                 for (int64_t i = begin.data()[leaf]; i < end.data()[leaf]; ++i)
                     scores.data()[rows.data()[i]] += step.data()[leaf];
             });
}

}  // namespace gtgbm
