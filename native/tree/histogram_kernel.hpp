// The inner loop of the library: adds rows to the histograms of a few interleaved columns.
#pragma once

#include <cstdint>

#include "support/compiler.hpp"
#include "tree/cells.hpp"

namespace gtgbm {

// Adds cells[i] to hist[lane][code of rows[i] in that lane]. `stride` is the number of cells of one lane.
template <int Lanes, class Row, class Format>
inline void add_rows(const uint8_t* codes, const Row* rows, const int64_t* cells, int64_t begin, int64_t end,
                     int stride, Format format, typename Format::Cell* hist) {
    constexpr int64_t kAhead = 16;
    for (int64_t i = begin; i < end; ++i) {
        // rows[] may end where the range ends, so do not prefetch beyond it.
        if (i + kAhead < end) prefetch(codes + static_cast<int64_t>(rows[i + kAhead]) * Lanes);
        const uint8_t* code = codes + static_cast<int64_t>(rows[i]) * Lanes;
        const typename Format::Cell cell = format.of_row(cells[i]);
        for (int lane = 0; lane < Lanes; ++lane) hist[lane * stride + code[lane]] += cell;
    }
}

// ordered[i] = cells[rows[i]]: puts cells into the order of rows.
inline void order_cells(const int32_t* rows, const int64_t* cells, int64_t begin, int64_t end,
                        int64_t* ordered) {
    for (int64_t i = begin; i < end; ++i) ordered[i] = cells[rows[i]];
}

}  // namespace gtgbm
