#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// The rows of query q are rows[begin[q] .. begin[q + 1]). Sorts the rows of each query by descending score;
// ties keep their order.
void rank_rows(Pool& pool, Array<const int64_t, 1> rows, Array<const int64_t, 1> begin,  // in
               Array<const double, 1> scores,                                            // in, by row
               Array<int64_t, 1> out);                                                   // out

// Residuals and curvatures of the pairwise logistic loss: in each pair of documents of one query with
// different relevance, the more relevant document should have the higher score. The rows of query q are
// rows[begin[q] .. begin[q + 1]), in any order. losses[q] is the sum over the pairs of query q.
//
// Only pairs with at least one document in the first `truncation` ranks count. Documents are ranked by score;
// ties keep the order of `rows`. With by_ndcg (LambdaMART), the weight of a pair is the change of NDCG if its
// documents swapped ranks, where weight[q] is 1 / ideal DCG of query q. Else all pairs of query q have weight
// weight[q].
void rank_residuals(Pool& pool, Array<const int64_t, 1> rows, Array<const int64_t, 1> begin,  // in
                    Array<const double, 1> relevance, Array<const double, 1> gain,            // in, by row
                    Array<const double, 1> weight,     // in, by query: see above
                    Array<const double, 1> discount,   // in, by rank, up to the longest query
                    Array<const double, 1> scores,     // in, by row
                    int64_t truncation, bool by_ndcg,  // in
                    Array<double, 1> residuals, Array<double, 1> curvatures,  // out, by row
                    Array<double, 1> losses);                                 // out, by query

}  // namespace gtgbm
