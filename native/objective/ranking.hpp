#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// Query q has rows[begin[q] .. begin[q + 1]); out receives them by falling score, ties in their order.
void rank_rows(Pool& pool, Array<const int64_t, 1> rows, Array<const int64_t, 1> begin,
               Array<const double, 1> scores, Array<int64_t, 1> out);

// Residuals and curvatures of the logistic loss of pairs of documents: of each pair of one query with
// different relevance, the more relevant one should have the higher score. Query q has rows[begin[q] ..
// begin[q + 1]), in whatever order. losses receives the sum over the pairs of each query.
//
// Only pairs with a document among the first `truncation` count, sorted by score and then by `rows`.
// by_ndcg: LambdaMART. A pair weighs as much as NDCG would change if its documents changed places; gain and
// inverse_ideal (1 / DCG of the best order, by query) are NDCG's. Else all pairs of a query weigh the same,
// weight[q].
void rank_residuals(Pool& pool, Array<const int64_t, 1> rows, Array<const int64_t, 1> begin,  // in
                    Array<const double, 1> relevance, Array<const double, 1> gain,            // in, by row
                    Array<const double, 1> weight,     // in, by query: inverse_ideal, or of a pair
                    Array<const double, 1> discount,   // in, by place, as many as the longest query has
                    Array<const double, 1> scores,     // in, by row
                    int64_t truncation, bool by_ndcg,  // in
                    Array<double, 1> residuals, Array<double, 1> curvatures,  // out, by row
                    Array<double, 1> losses);                                 // out, by query

}  // namespace gtgbm
