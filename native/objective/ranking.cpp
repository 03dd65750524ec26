#include "objective/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/exponential.hpp"

namespace gtgbm {
namespace {

// Returns log(1 + x) for x in [0, 1] to 1e-11, with the same bits on every machine: 2 atanh(x / (2 + x)).
double log_of_one_and(double x) {
    const double z = x / (2.0 + x), square = z * z;
    double sum = 1.0 / 21;
    for (int power = 19; power >= 1; power -= 2) sum = sum * square + 1.0 / power;
    return 2.0 * z * sum;
}

// The rows of query q are rows[begin[q] .. begin[q + 1]).
void require_queries(const Array<const int64_t, 1>& rows, const Array<const int64_t, 1>& begin, size_t n) {
    require(rows.shape(0) == n, "queries: one entry per row");
    require_below(rows, static_cast<int64_t>(n), "queries: row out of range");
    require(begin.shape(0) >= 1 && begin.data()[0] == 0 &&
                begin.data()[begin.shape(0) - 1] == static_cast<int64_t>(n),
            "queries: begin must go from 0 to the number of rows");
    for (size_t q = 0; q + 1 < begin.shape(0); ++q)
        require(begin.data()[q] <= begin.data()[q + 1], "queries: begin must not fall");
}

// Sorts by descending score; ties keep their order.
void sort_by_score(std::vector<int64_t>::iterator first, std::vector<int64_t>::iterator last,
                   const double* scores) {
    std::stable_sort(first, last, [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
}

// One query, with its documents by descending score. Each worker has one object and reuses its buffers.
class Query {
  public:
    // Ties keep their order.
    void sort(const int64_t* rows, int64_t n, const double* relevance, const double* gain,
              const double* scores) {
        order_.assign(rows, rows + n);
        sort_by_score(order_.begin(), order_.end(), scores);
        const auto size = static_cast<size_t>(n);
        relevance_.resize(size);
        gain_.resize(size);
        score_.resize(size);
        residual_.assign(size, 0.0);
        curvature_.assign(size, 0.0);
        for (size_t k = 0; k < size; ++k) {
            relevance_[k] = relevance[order_[k]];
            gain_[k] = gain[order_[k]];
            score_[k] = scores[order_[k]];
        }
        loss_ = pull_ = 0.0;
    }

    void add_pairs(const double* discount, double weight, int64_t truncation, bool by_ndcg) {
        const size_t n = order_.size(), first = std::min(n, static_cast<size_t>(truncation));
        // Once scores differ, pairs with distant scores get less weight, since their order is clear.
        const bool differ = n > 0 && score_.front() != score_.back();
        for (size_t i = 0; i < first; ++i)
            for (size_t j = i + 1; j < n; ++j) {
                if (relevance_[i] == relevance_[j]) continue;
                const bool i_is_better = relevance_[i] > relevance_[j];
                const double ahead = i_is_better ? score_[i] - score_[j] : score_[j] - score_[i];
                double w = weight;
                if (by_ndcg) {
                    w *= std::fabs(gain_[i] - gain_[j]) * std::fabs(discount[i] - discount[j]);
                    if (differ) w /= 0.01 + std::fabs(ahead);
                }
                add_pair(i_is_better ? i : j, i_is_better ? j : i, ahead, w);
            }
    }

    // Writes residuals and curvatures of the query's rows, and returns its loss.
    double write(bool normalise, double* residuals, double* curvatures) const {
        // Otherwise queries with many pairs would dominate.
        const double factor = normalise && pull_ > 0.0 ? std::log2(1.0 + pull_) / pull_ : 1.0;
        for (size_t k = 0; k < order_.size(); ++k) {
            residuals[order_[k]] = residual_[k] * factor;
            curvatures[order_[k]] = curvature_[k] * factor;
        }
        return loss_ * factor;
    }

  private:
    void add_pair(size_t better, size_t worse, double ahead, double weight) {
        const double e = exp_minus_abs(ahead);
        const double wrong = (ahead >= 0.0 ? e : 1.0) / (1.0 + e);  // probability of the wrong order
        const double residual = weight * wrong, curvature = weight * wrong * (1.0 - wrong);
        residual_[better] += residual;
        residual_[worse] -= residual;
        curvature_[better] += curvature;
        curvature_[worse] += curvature;
        pull_ += 2.0 * residual;
        loss_ += weight * (log_of_one_and(e) + (ahead < 0.0 ? -ahead : 0.0));
    }

    std::vector<int64_t> order_;
    std::vector<double> relevance_, gain_, score_, residual_, curvature_;
    double loss_ = 0.0, pull_ = 0.0;
};

}  // namespace

void rank_rows(Pool& pool, Array<const int64_t, 1> rows, Array<const int64_t, 1> begin,
               Array<const double, 1> scores, Array<int64_t, 1> out) {
    require_queries(rows, begin, scores.shape(0));
    require(out.shape(0) == rows.shape(0), "rank_rows: out must be as long as rows");
    pool.run(static_cast<int64_t>(begin.shape(0)) - 1, static_cast<int64_t>(rows.shape(0)) * 20,
             [&](int64_t q, int) {
                 const int64_t *first = rows.data() + begin.data()[q],
                               *last = rows.data() + begin.data()[q + 1];
                 std::vector<int64_t> order(first, last);
                 sort_by_score(order.begin(), order.end(), scores.data());
                 std::copy(order.begin(), order.end(), out.data() + begin.data()[q]);
             });
}

void rank_residuals(Pool& pool, Array<const int64_t, 1> rows, Array<const int64_t, 1> begin,
                    Array<const double, 1> relevance, Array<const double, 1> gain,
                    Array<const double, 1> weight, Array<const double, 1> discount,
                    Array<const double, 1> scores, int64_t truncation, bool by_ndcg,
                    Array<double, 1> residuals, Array<double, 1> curvatures, Array<double, 1> losses) {
    const size_t n = scores.shape(0);
    require(
        begin.shape(0) >= 1 && weight.shape(0) + 1 == begin.shape(0) && losses.shape(0) == weight.shape(0),
        "rank_residuals: one weight and one loss per query");
    require_queries(rows, begin, n);
    require(
        relevance.shape(0) == n && gain.shape(0) == n && residuals.shape(0) == n && curvatures.shape(0) == n,
        "rank_residuals: arrays of different lengths");
    require(truncation >= 1, "rank_residuals: truncation must be at least 1");
    const int64_t queries = static_cast<int64_t>(weight.shape(0)), *first = begin.data();
    int64_t work = 0;
    for (int64_t q = 0; q < queries; ++q) {
        const int64_t length = first[q + 1] - first[q];
        require(length <= static_cast<int64_t>(discount.shape(0)),
                "rank_residuals: every place needs a discount");
        work += length * std::min(length, truncation) * 10;
    }
    std::vector<Query> workers(static_cast<size_t>(pool.size()));
    pool.run(queries, work, [&](int64_t q, int worker) {
        Query& query = workers[static_cast<size_t>(worker)];
        query.sort(rows.data() + first[q], first[q + 1] - first[q], relevance.data(), gain.data(),
                   scores.data());
        query.add_pairs(discount.data(), weight.data()[q], truncation, by_ndcg);
        losses.data()[q] = query.write(by_ndcg, residuals.data(), curvatures.data());
    });
}

}  // namespace gtgbm
