#include "predict.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gtgbm {

void predict(Pool& pool, AnyTable any, Array<const int64_t, 1> columns, Array<const int64_t, 1> first,
             Array<const int64_t, 1> output, Array<const int32_t, 1> feature,
             Array<const double, 1> threshold, Array<const uint8_t, 1> missing_left,
             Array<const int32_t, 1> left, Array<const double, 1> value, Array<double, 2> out) {
    constexpr int64_t kBlock = 256;
    const int64_t n = static_cast<int64_t>(any.shape(0)), width = static_cast<int64_t>(columns.shape(0));
    const int64_t trees = static_cast<int64_t>(output.shape(0)),
                  nodes = static_cast<int64_t>(feature.shape(0));
    require(static_cast<int64_t>(first.shape(0)) == trees + 1,
            "predict: first must have one entry more than trees");
    require(threshold.shape(0) == feature.shape(0) && missing_left.shape(0) == feature.shape(0) &&
                left.shape(0) == feature.shape(0) && value.shape(0) == feature.shape(0),
            "predict: one entry per node");
    require(static_cast<int64_t>(out.shape(1)) == n, "predict: out must have shape (outputs, rows)");
    require_below(columns, static_cast<int64_t>(any.shape(1)), "predict: column out of range");
    require_below(output, static_cast<int64_t>(out.shape(0)), "predict: output out of range");
    for (int64_t t = 0; t < trees; ++t) {
        const int64_t from = first.data()[t], to = first.data()[t + 1];
        require(0 <= from && from < to && to <= nodes, "predict: tree outside the nodes");
        for (int64_t k = from; k < to; ++k) {
            require(feature.data()[k] >= -1 && feature.data()[k] < width, "predict: feature out of range");
            // Children after their parent: descending always ends.
            require(feature.data()[k] < 0 || (left.data()[k] > k - from && left.data()[k] + 1 < to - from),
                    "predict: child out of range");
        }
    }
    std::vector<double> buffers(static_cast<size_t>(pool.size() * kBlock * width));
    with_table(any, [&](auto table) {
        pool.run((n + kBlock - 1) / kBlock, n * (trees * 8 + width), [&](int64_t block, int worker) {
            const int64_t begin = block * kBlock, rows = std::min(kBlock, n - begin);
            double* x = buffers.data() + worker * kBlock * width;
            for (int64_t i = 0; i < rows; ++i)
                for (int64_t c = 0; c < width; ++c) x[i * width + c] = table.at(begin + i, columns.data()[c]);
            for (int64_t t = 0; t < trees; ++t) {
                const int64_t base = first.data()[t];
                double* sum = out.data() + output.data()[t] * n + begin;
                for (int64_t i = 0; i < rows; ++i) {
                    int64_t k = base;
                    while (feature.data()[k] >= 0) {
                        const double v = x[i * width + feature.data()[k]];
                        const bool goes_left =
                            (v <= threshold.data()[k]) | (std::isnan(v) & (missing_left.data()[k] != 0));
                        k = base + left.data()[k] + !goes_left;
                    }
                    sum[i] += value.data()[k];
                }
            }
        });
    });
}

}  // namespace gtgbm
