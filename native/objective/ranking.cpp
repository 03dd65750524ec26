#include "objective/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "support/exponential.hpp"
#include "support/vectors.hpp"

namespace gtgbm {
namespace {

// Returns log(1 + x) for x in [0, 1] to 1e-11, with the same bits on every machine: 2 atanh(x / (2 + x)).
GTGBM_INLINE double log_of_one_and(double x) {
    const double z = x / (2.0 + x), square = z * z;
    constexpr double kOdd[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11,
                               1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
    double sum = kOdd[0];
    for (int k = 1; k < 11; ++k) sum = sum * square + kOdd[k];
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

// Pairs of one document with others, in arrays of equal length, and what they add to sums.
struct Pairs {
    std::vector<size_t> other;
    std::vector<double> sign;      // 1 if the other document is less relevant, else -1
    std::vector<double> distance;  // score of the document minus the other's
    std::vector<double> weight;
    std::vector<double> residual, curvature, loss;
    size_t size = 0;

    void reserve(size_t most) {
        other.resize(most);
        for (auto* values : {&sign, &distance, &weight, &residual, &curvature, &loss}) values->resize(most);
    }
};

struct PairTerms {
    static GTGBM_INLINE void run(const double* sign, const double* distance, const double* weight, int64_t n,
                                 double* residual, double* curvature, double* loss) {
        // Three short loops, which the compiler vectorises.
        for (int64_t k = 0; k < n; ++k) loss[k] = exp_minus_abs(distance[k]);
        for (int64_t k = 0; k < n; ++k) {
            const double e = loss[k];
            // Probability of the wrong order.
            const double wrong = (sign[k] * distance[k] >= 0.0 ? e : 1.0) / (1.0 + e);
            residual[k] = weight[k] * wrong;
            curvature[k] = weight[k] * wrong * (1.0 - wrong);
        }
        for (int64_t k = 0; k < n; ++k) {
            const double behind = -sign[k] * distance[k];
            loss[k] = weight[k] * (log_of_one_and(loss[k]) + (behind > 0.0 ? behind : 0.0));
        }
    }
};

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
        pairs_.reserve(n);
        for (size_t i = 0; i < first; ++i) {
            find_pairs(i);
            for (size_t k = 0; k < pairs_.size; ++k) {
                const size_t j = pairs_.other[k];
                double w = weight;
                if (by_ndcg) {
                    w *= std::fabs(gain_[i] - gain_[j]) * std::fabs(discount[i] - discount[j]);
                    if (differ) w /= 0.01 + std::fabs(pairs_.distance[k]);
                }
                pairs_.weight[k] = w;
            }
            run_vectorised<PairTerms>(static_cast<const double*>(pairs_.sign.data()),
                                      static_cast<const double*>(pairs_.distance.data()),
                                      static_cast<const double*>(pairs_.weight.data()),
                                      static_cast<int64_t>(pairs_.size), pairs_.residual.data(),
                                      pairs_.curvature.data(), pairs_.loss.data());
            add_terms(i);
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
    // Finds the documents after i with another relevance.
    void find_pairs(size_t i) {
        size_t size = 0;
        for (size_t j = i + 1; j < order_.size(); ++j) {
            // Without branches: what is no pair is overwritten by the next one.
            pairs_.other[size] = j;
            pairs_.sign[size] = relevance_[i] > relevance_[j] ? 1.0 : -1.0;
            pairs_.distance[size] = score_[i] - score_[j];
            size += relevance_[i] != relevance_[j];
        }
        pairs_.size = size;
    }

    void add_terms(size_t i) {
        for (size_t k = 0; k < pairs_.size; ++k) {
            const double signed_residual = pairs_.sign[k] * pairs_.residual[k];
            residual_[i] += signed_residual;
            residual_[pairs_.other[k]] -= signed_residual;
            curvature_[i] += pairs_.curvature[k];
            curvature_[pairs_.other[k]] += pairs_.curvature[k];
            pull_ += 2.0 * pairs_.residual[k];
            loss_ += pairs_.loss[k];
        }
    }

    std::vector<int64_t> order_;
    std::vector<double> relevance_, gain_, score_, residual_, curvature_;
    Pairs pairs_;
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
