#include "objective/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "support/exponential.hpp"
#include "support/vectors.hpp"
#include "tree/cells.hpp"

namespace gtgbm {
namespace {

constexpr int64_t kBlock = 8192;

int64_t fixed(double value, double scale) {
    return std::llrint(value * scale);
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

// Sample weights; all 1 if the array is empty.
class Weights {
  public:
    Weights(const Array<const int64_t, 1>& weights, size_t n)
        : data_(weights.shape(0) == 0 ? nullptr : weights.data()) {
        require(weights.shape(0) == 0 || weights.shape(0) == n, "weights: one per row, or none");
    }
    int64_t operator[](int64_t row) const { return data_ == nullptr ? 1 : data_[row]; }

  private:
    const int64_t* data_;
};

// Rows of a block whose exponentials are kept in the cache.
constexpr int64_t kLogisticRows = 512;

struct LogisticBlock {
    static GTGBM_INLINE void run(const double* scores, const double* y, int64_t n, double* residuals,
                                 double* curvatures, double* losses) {
        double exponentials[kLogisticRows];
        for (int64_t i = 0; i < n; ++i) exponentials[i] = exp_minus_abs(scores[i]);
        for (int64_t i = 0; i < n; ++i) {
            const double score = scores[i], e = exponentials[i];
            const double p = (score >= 0 ? 1.0 : e) / (1.0 + e);
            residuals[i] = y[i] - p;
            curvatures[i] = p * (1.0 - p);
            losses[i] = (score > 0 ? score : 0.0) - y[i] * score;
        }
        for (int64_t i = 0; i < n; ++i) losses[i] += log_one_plus(exponentials[i]);
    }
};

// Calls body(block, begin, end) for blocks of n values.
template <class F>
void for_blocks(Pool& pool, int64_t n, F&& body) {
    pool.run((n + kBlock - 1) / kBlock, n * 2,
             [&](int64_t block, int) { body(block, block * kBlock, std::min(n, (block + 1) * kBlock)); });
}

}  // namespace

void logistic_residuals(Pool& pool, Array<const double, 1> scores, Array<const double, 1> y,
                        Array<double, 1> residuals, Array<double, 1> curvatures, Array<double, 1> losses) {
    const int64_t n = static_cast<int64_t>(scores.shape(0)), blocks = (n + kBlock - 1) / kBlock;
    require(y.shape(0) == scores.shape(0) && residuals.shape(0) == scores.shape(0) &&
                curvatures.shape(0) == scores.shape(0) && losses.shape(0) == scores.shape(0),
            "logistic_residuals: all arrays must have the same length");
    pool.run(blocks, n * 10, [&](int64_t block, int) {
        const int64_t end = std::min(n, (block + 1) * kBlock);
        for (int64_t from = block * kBlock; from < end; from += kLogisticRows)
            run_vectorised<LogisticBlock>(scores.data() + from, y.data() + from,
                                          std::min(kLogisticRows, n - from), residuals.data() + from,
                                          curvatures.data() + from, losses.data() + from);
    });
}

void exponentials(Pool& pool, Array<const double, 1> values, Array<double, 1> out) {
    require(out.shape(0) == values.shape(0), "exponentials: out must be as long as values");
    for_blocks(pool, static_cast<int64_t>(values.shape(0)), [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) out.data()[i] = exponential(values.data()[i]);
    });
}

int64_t fixed_point_sum(Pool& pool, Array<const double, 1> values, Array<const int64_t, 1> weights,
                        double scale) {
    const int64_t n = static_cast<int64_t>(values.shape(0));
    const Weights weight(weights, values.shape(0));
    std::vector<int64_t> sums(static_cast<size_t>((n + kBlock - 1) / kBlock));
    for_blocks(pool, n, [&](int64_t block, int64_t begin, int64_t end) {
        int64_t sum = 0;
        for (int64_t i = begin; i < end; ++i) sum += fixed(values.data()[i], scale) * weight[i];
        sums[static_cast<size_t>(block)] = sum;
    });
    return std::accumulate(sums.begin(), sums.end(), int64_t{0});
}

nb::tuple signed_sums(Pool& pool, Array<const double, 1> values, Array<const int64_t, 1> weights,
                      double centre, double scale) {
    const int64_t n = static_cast<int64_t>(values.shape(0));
    const Weights weight(weights, values.shape(0));
    std::vector<std::pair<int64_t, int64_t>> parts(static_cast<size_t>((n + kBlock - 1) / kBlock));
    int64_t above = 0, below = 0;
    {
        nb::gil_scoped_release release;
        for_blocks(pool, n, [&](int64_t block, int64_t begin, int64_t end) {
            int64_t positive = 0, all = 0;
            for (int64_t i = begin; i < end; ++i) {
                const int64_t q = fixed(values.data()[i] - centre, scale) * weight[i];
                positive += q > 0 ? q : 0;
                all += q;
            }
            parts[static_cast<size_t>(block)] = {positive, positive - all};
        });
        for (const auto& part : parts) {
            above += part.first;
            below += part.second;
        }
    }
    return nb::make_tuple(above, below);
}

nb::tuple min_max(Pool& pool, Array<const double, 1> values) {
    const int64_t n = static_cast<int64_t>(values.shape(0));
    if (n == 0) return nb::make_tuple(HUGE_VAL, -HUGE_VAL);
    const auto blocks = static_cast<size_t>((n + kBlock - 1) / kBlock);
    std::vector<double> lows(blocks), highs(blocks);
    {
        nb::gil_scoped_release release;
        for_blocks(pool, n, [&](int64_t block, int64_t begin, int64_t end) {
            double low = values.data()[begin], high = low;
            bool has_nan = false;
            for (int64_t i = begin; i < end; ++i) {
                const double value = values.data()[i];
                low = value < low ? value : low;
                high = value > high ? value : high;
                has_nan |= value != value;
            }
            lows[static_cast<size_t>(block)] = has_nan ? -HUGE_VAL : low;
            highs[static_cast<size_t>(block)] = has_nan ? HUGE_VAL : high;
        });
    }
    return nb::make_tuple(*std::min_element(lows.begin(), lows.end()),
                          *std::max_element(highs.begin(), highs.end()));
}

nb::tuple pack_cells(Pool& pool, Array<const double, 1> residuals, Array<const int64_t, 1> weights,
                     double centre, double scale, const CellFormat& format, Array<int64_t, 1> cells) {
    require(cells.shape(0) == residuals.shape(0), "pack_cells: cells must be as long as residuals");
    require(format.count_bits >= 1 && format.count_bits <= 31, "pack_cells: count_bits must be in 1 .. 31");
    const int64_t n = static_cast<int64_t>(residuals.shape(0));
    const Weights weight(weights, residuals.shape(0));
    struct Sums {
        int64_t gradient = 0, count = 0, squares_high = 0, squares_low = 0;
    };
    std::vector<Sums> parts(static_cast<size_t>((n + kBlock - 1) / kBlock));
    Sums sums;
    {
        nb::gil_scoped_release release;
        with_format(format, [&](auto of_cells) {
            for_blocks(pool, n, [&](int64_t block, int64_t begin, int64_t end) {
                Sums part;
                typename decltype(of_cells)::Cell sum{};
                for (int64_t i = begin; i < end; ++i) {
                    const int64_t q = fixed(residuals.data()[i] - centre, scale);
                    const int64_t row = of_cells.row_of(q, weight[i]);
                    cells.data()[i] = row;
                    sum += of_cells.of_row(row);
                    of_cells.add_squares(row, part.squares_high, part.squares_low);
                }
                part.gradient = of_cells.gradient(sum);
                part.count = of_cells.count(sum);
                parts[static_cast<size_t>(block)] = part;
            });
        });
        for (const Sums& part : parts) {
            sums.gradient += part.gradient;
            sums.count += part.count;
            sums.squares_high += part.squares_high;
            sums.squares_low += part.squares_low;
        }
    }
    return nb::make_tuple(sums.gradient, sums.count, sums.squares_high, sums.squares_low);
}

void leaf_sums(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,
               Array<const int64_t, 1> end, Array<const double, 1> values, Array<const int64_t, 1> weights,
               double scale, Array<int64_t, 1> out) {
    require_leaves(rows, begin, end, values.shape(0));
    const Weights weight(weights, values.shape(0));
    require(out.shape(0) == begin.shape(0), "leaf_sums: out must have one entry per leaf");
    pool.run(static_cast<int64_t>(begin.shape(0)), static_cast<int64_t>(rows.shape(0)) * 2,
             [&](int64_t leaf, int) {
                 int64_t sum = 0;
                 for (int64_t i = begin.data()[leaf]; i < end.data()[leaf]; ++i)
                     sum += fixed(values.data()[rows.data()[i]], scale) * weight[rows.data()[i]];
                 out.data()[leaf] = sum;
             });
}

void leaf_quantiles(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> begin,
                    Array<const int64_t, 1> end, Array<const double, 1> values,
                    Array<const int64_t, 1> weights, double share, Array<double, 1> out) {
    require_leaves(rows, begin, end, values.shape(0));
    require(out.shape(0) == begin.shape(0), "leaf_quantiles: out must have one entry per leaf");
    require(0.0 <= share && share <= 1.0, "leaf_quantiles: share must be in [0, 1]");
    const Weights weight(weights, values.shape(0));
    pool.run(static_cast<int64_t>(begin.shape(0)), static_cast<int64_t>(rows.shape(0)) * 20,
             [&](int64_t leaf, int) {
                 std::vector<std::pair<double, int64_t>> sorted;
                 int64_t total = 0;
                 for (int64_t i = begin.data()[leaf]; i < end.data()[leaf]; ++i) {
                     const int32_t row = rows.data()[i];
                     // Minus zero becomes zero: of equal values, it does not matter which is found.
                     if (weight[row] > 0) sorted.emplace_back(values.data()[row] + 0.0, weight[row]);
                     total += weight[row];
                 }
                 std::sort(sorted.begin(), sorted.end());
                 const double wanted = share * static_cast<double>(total);
                 int64_t below = 0;
                 double quantile = 0.0;
                 for (size_t k = 0; k < sorted.size(); ++k) {
                     below += sorted[k].second;
                     if (static_cast<double>(below) < wanted) continue;
                     // Weighted rows give the same result as repeated rows.
                     const bool between = static_cast<double>(below) == wanted && k + 1 < sorted.size();
                     quantile = sorted[k].first;
                     if (between) quantile += (sorted[k + 1].first - sorted[k].first) / 2;
                     break;
                 }
                 out.data()[leaf] = quantile;
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
