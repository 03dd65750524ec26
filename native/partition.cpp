#include "partition.hpp"

#include <algorithm>
#include <vector>

#include "cells.hpp"
#include "partition_kernel.hpp"

namespace gtgbm {
LeftSide split_shared(Pool& pool, const uint8_t* codes, SideRule rule, CellFormat format, int32_t* rows,
                      int64_t* cells, int64_t count, int32_t* row_left, int32_t* row_right,
                      int64_t* cell_left, int64_t* cell_right) {
    const int64_t n_chunks = (count + kPartitionChunk - 1) / kPartitionChunk;
    std::vector<LeftSide> parts(static_cast<size_t>(n_chunks));
    const auto length = [&](int64_t chunk) {
        return std::min(kPartitionChunk, count - chunk * kPartitionChunk);
    };
    pool.run(n_chunks, count * 4, [&](int64_t chunk, int) {
        const int64_t at = chunk * kPartitionChunk;
        parts[static_cast<size_t>(chunk)] =
            split_range<true>(codes, rule, format, rows + at, cells + at, length(chunk), row_left + at,
                              cell_left + at, row_right + at, cell_right + at);
    });
    LeftSide left;
    for (const LeftSide& part : parts) {
        left.rows += part.rows;
        left.cells += part.cells;
        left.squares_high += part.squares_high;
        left.squares_low += part.squares_low;
    }
    // Where the rows of each chunk end up.
    std::vector<int64_t> left_to(parts.size()), right_to(parts.size());
    int64_t before_left = 0, before_right = left.rows;
    for (size_t chunk = 0; chunk < parts.size(); ++chunk) {
        left_to[chunk] = before_left;
        right_to[chunk] = before_right;
        before_left += parts[chunk].rows;
        before_right += length(static_cast<int64_t>(chunk)) - parts[chunk].rows;
    }
    pool.run(n_chunks, count * 2, [&](int64_t chunk, int) {
        const auto k = static_cast<size_t>(chunk);
        const int64_t at = chunk * kPartitionChunk, right = length(chunk) - parts[k].rows;
        std::copy_n(row_left + at, parts[k].rows, rows + left_to[k]);
        std::copy_n(cell_left + at, parts[k].rows, cells + left_to[k]);
        std::copy_n(row_right + at, right, rows + right_to[k]);
        std::copy_n(cell_right + at, right, cells + right_to[k]);
    });
    return left;
}

void partition_rows(Pool& pool, Array<const uint8_t, 3> codes, Array<const int64_t, 1> column,
                    Array<const int32_t, 1> bin, Array<const uint8_t, 1> is_category,
                    Array<const uint8_t, 1> missing_left, Array<const int64_t, 1> begin,
                    Array<const int64_t, 1> end, int count_bits, Array<int32_t, 1> rows,
                    Array<int64_t, 1> cells, Array<int32_t, 2> row_scratch, Array<int64_t, 2> cell_scratch,
                    Array<int64_t, 2> stats) {
    const int64_t n = static_cast<int64_t>(codes.shape(1)), n_rows = static_cast<int64_t>(rows.shape(0));
    const int64_t splits = static_cast<int64_t>(column.shape(0));
    require(codes.shape(2) == kLanes, "partition_rows: codes must have shape (tiles, rows, 8)");
    require(n_rows <= n, "partition_rows: more rows than codes");
    require(cells.shape(0) == rows.shape(0) && row_scratch.shape(0) == 2 &&
                row_scratch.shape(1) == rows.shape(0) && cell_scratch.shape(0) == 2 &&
                cell_scratch.shape(1) == rows.shape(0),
            "partition_rows: cells and scratch must be as long as rows");
    require(bin.shape(0) == column.shape(0) && is_category.shape(0) == column.shape(0) &&
                missing_left.shape(0) == column.shape(0) && begin.shape(0) == column.shape(0) &&
                end.shape(0) == column.shape(0) && stats.shape(0) == column.shape(0) && stats.shape(1) == 4,
            "partition_rows: one entry per split");
    require_below(column, static_cast<int64_t>(codes.shape(0)) * kLanes,
                  "partition_rows: column out of range");
    int64_t work = 0;
    for (int64_t k = 0; k < splits; ++k) {
        const int64_t from = begin.data()[k], to = end.data()[k];
        require(0 <= from && from <= to && to <= n_rows, "partition_rows: range outside the rows");
        work += (to - from) * 4;
    }
    const CellFormat format{count_bits};
    int32_t *row = rows.data(), *row_left = row_scratch.data(), *row_right = row_scratch.data() + n_rows;
    int64_t *cell = cells.data(), *cell_left = cell_scratch.data(),
            *cell_right = cell_scratch.data() + n_rows;
    const auto is_long = [&](int64_t k) { return end.data()[k] - begin.data()[k] > kPartitionChunk; };
    const auto split = [&](int64_t k) {
        const int64_t at = begin.data()[k], count = end.data()[k] - at, lane = column.data()[k];
        const uint8_t* code = codes.data() + lane / kLanes * n * kLanes + lane % kLanes;
        const SideRule rule(bin.data()[k], is_category.data()[k] != 0, missing_left.data()[k] != 0);
        const LeftSide left =
            is_long(k) ? split_shared(pool, code, rule, format, row + at, cell + at, count, row_left + at,
                                      row_right + at, cell_left + at, cell_right + at)
                       : split_in_place<true>(code, rule, format, row + at, cell + at, count, row_right + at,
                                              cell_right + at);
        const int64_t out[4] = {left.rows, left.cells, left.squares_high, left.squares_low};
        std::copy_n(out, 4, stats.data() + k * 4);
    };
    for (int64_t k = 0; k < splits; ++k)
        if (is_long(k)) split(k);
    pool.run(splits, work, [&](int64_t k, int) {
        if (!is_long(k)) split(k);
    });
}

void sampled_rows(Array<const int32_t, 1> rows, Array<const int64_t, 1> cells, Array<const int64_t, 1> begin,
                  Array<const int64_t, 1> end, Array<const int32_t, 1> position,
                  Array<int32_t, 1> out_positions, Array<int64_t, 1> out_cells, Array<int64_t, 1> first,
                  Array<int64_t, 1> total) {
    const int64_t nodes = static_cast<int64_t>(begin.shape(0));
    require(cells.shape(0) == rows.shape(0) && end.shape(0) == begin.shape(0) &&
                total.shape(0) == begin.shape(0) && first.shape(0) == begin.shape(0) + 1 &&
                out_cells.shape(0) == out_positions.shape(0),
            "sampled_rows: arrays of different lengths");
    const int64_t room = static_cast<int64_t>(out_positions.shape(0)),
                  n = static_cast<int64_t>(position.shape(0));
    int64_t count = 0;
    for (int64_t k = 0; k < nodes; ++k) {
        const int64_t from = begin.data()[k], to = end.data()[k];
        require(0 <= from && from <= to && to <= static_cast<int64_t>(rows.shape(0)),
                "sampled_rows: range outside the rows");
        first.data()[k] = count;
        int64_t sum = 0;
        for (int64_t i = from; i < to; ++i) {
            const int32_t row = rows.data()[i];
            require(0 <= row && row < n, "sampled_rows: row out of range");
            const int32_t at = position.data()[row];
            if (at < 0) continue;
            require(count < room, "sampled_rows: more sampled rows than places");
            out_positions.data()[count] = at;
            out_cells.data()[count++] = cells.data()[i];
            sum += cells.data()[i];
        }
        total.data()[k] = sum;
    }
    first.data()[nodes] = count;
}

}  // namespace gtgbm
