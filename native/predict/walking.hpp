// What every walk down packed trees shares: the values of some rows, and the side a value goes to.
#pragma once

#include <cmath>
#include <cstdint>

#include "predict/forest.hpp"
#include "support/arrays.hpp"

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

}  // namespace gtgbm
