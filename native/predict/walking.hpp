// What every walk down packed trees shares: the values of some rows, and the side a value goes to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "predict/forest.hpp"
#include "support/arrays.hpp"
#include "support/pool.hpp"

namespace gtgbm {

// Whether a value goes to the left child. At a leaf no value does.
template <bool kMissing, bool kCategories>
inline bool goes_left(const Forest::Node& node, double v) {
    bool is_left = v <= node.threshold;
    if constexpr (kCategories) {
        const bool is_category = (node.column & Forest::kIsCategory) != 0;
        is_left = is_category ? (v != node.threshold) & !std::isnan(v) : is_left;
    }
    if constexpr (kMissing) is_left |= std::isnan(v) & (node.column >= Forest::kMissingLeft);
    return is_left;
}

// Copies the columns of the rows row_of(0) .. row_of(n - 1); returns whether any value is missing.
template <class T, class RowOf>
bool gather_rows(const Table<T>& table, const int64_t* columns, int64_t n_columns, int64_t n, RowOf row_of,
                 double* x) {
    bool missing = false;
    const auto copy = [&](int64_t i, int64_t c) {
        const double v = table.at(row_of(i), columns[c]);
        missing |= std::isnan(v);
        x[i * n_columns + c] = v;
    };
    if (table.by_columns()) {
        for (int64_t c = 0; c < n_columns; ++c)
            for (int64_t i = 0; i < n; ++i) copy(i, c);
    } else {
        for (int64_t i = 0; i < n; ++i)
            for (int64_t c = 0; c < n_columns; ++c) copy(i, c);
    }
    return missing;
}

// Some rows of a table, gathered: x has the values of the forest's columns, row by row.
struct BlockOfRows {
    const double* x;
    int64_t begin, n_rows;  // rows of the table
    bool missing;           // whether any value is missing
    int worker;             // of the pool
};

// Calls body(BlockOfRows) for all rows of a table, in parallel. `work` is that of one row, in inner-loop
// steps.
template <class F>
void for_blocks(Pool& pool, const AnyTable& any, const Array<const int64_t, 1>& columns, int64_t n_columns,
                int64_t work, F&& body) {
    const int64_t n = static_cast<int64_t>(any.shape(0)), size = Forest::kBlock;
    require(static_cast<int64_t>(columns.shape(0)) == n_columns, "Forest: columns of another number");
    require_below(columns, static_cast<int64_t>(any.shape(1)), "Forest: column out of range");
    // Leaves read column 0 too, so there must be one even if no tree splits.
    const int64_t width = std::max<int64_t>(n_columns, 1), block_rows = std::min(size, n);
    std::vector<double> buffers(static_cast<size_t>(pool.size() * block_rows * width));
    with_table(any, [&](auto table) {
        pool.run((n + size - 1) / size, n * (work + width), [&](int64_t block, int worker) {
            const int64_t begin = block * size, rows = std::min(size, n - begin);
            double* x = buffers.data() + worker * block_rows * width;
            const bool missing = gather_rows(
                table, columns.data(), n_columns, rows, [begin](int64_t i) { return begin + i; }, x);
            body(BlockOfRows{x, begin, rows, missing, worker});
        });
    });
}

}  // namespace gtgbm
