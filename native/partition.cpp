#include "partition.hpp"

#include <algorithm>
#include <vector>

#include "cells.hpp"
#include "partition_kernel.hpp"

namespace gtgbm {
namespace {

constexpr int64_t kChunk = 16384;  // longer ranges are divided among threads

struct Chunk {
    int64_t split, begin, end;
    bool alone;  // the whole range of its split
    LeftSide left;
    int64_t left_to = 0, right_to = 0;  // where its rows end up
};

// Adds up what the chunks of each split found, and tells each where its rows go.
void place(std::vector<Chunk>& chunks, const int64_t* begin, int64_t* stats) {
    for (const Chunk& chunk : chunks) {
        int64_t* out = stats + chunk.split * 4;
        out[0] += chunk.left.rows;
        out[1] += chunk.left.cells;
        out[2] += chunk.left.squares_high;
        out[3] += chunk.left.squares_low;
    }
    int64_t before_left = 0, before_right = 0;
    for (size_t i = 0; i < chunks.size(); ++i) {
        Chunk& chunk = chunks[i];
        if (i == 0 || chunks[i - 1].split != chunk.split) {
            before_left = begin[chunk.split];
            before_right = before_left + stats[chunk.split * 4];
        }
        chunk.left_to = before_left;
        chunk.right_to = before_right;
        before_left += chunk.left.rows;
        before_right += chunk.end - chunk.begin - chunk.left.rows;
    }
}

}  // namespace

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
    std::vector<Chunk> chunks;
    int64_t work = 0;
    for (int64_t k = 0; k < splits; ++k) {
        const int64_t from = begin.data()[k], to = end.data()[k];
        require(0 <= from && from <= to && to <= n_rows, "partition_rows: range outside the rows");
        for (int64_t at = from; at < to; at += kChunk)
            chunks.push_back({k, at, std::min(at + kChunk, to), to - from <= kChunk, {}});
        work += (to - from) * 4;
    }
    const int64_t n_chunks = static_cast<int64_t>(chunks.size());
    const CellFormat format{count_bits};
    int32_t *row = rows.data(), *row_left = row_scratch.data(), *row_right = row_scratch.data() + n_rows;
    int64_t *cell = cells.data(), *cell_left = cell_scratch.data(),
            *cell_right = cell_scratch.data() + n_rows;

    bool any_divided = false;
    for (const Chunk& chunk : chunks) any_divided |= !chunk.alone;
    pool.run(n_chunks, work, [&](int64_t task, int) {
        Chunk& chunk = chunks[static_cast<size_t>(task)];
        const int64_t k = chunk.split, at = chunk.begin, count = chunk.end - chunk.begin;
        const int64_t lane = column.data()[k];
        const uint8_t* code = codes.data() + lane / kLanes * n * kLanes + lane % kLanes;
        const SideRule rule(bin.data()[k], is_category.data()[k] != 0, missing_left.data()[k] != 0);
        chunk.left = chunk.alone
                         ? split_in_place<true>(code, rule, format, row + at, cell + at, count,
                                                row_right + at, cell_right + at)
                         : split_range<true>(code, rule, format, row + at, cell + at, count, row_left + at,
                                             cell_left + at, row_right + at, cell_right + at);
    });
    std::fill(stats.data(), stats.data() + splits * 4, int64_t{0});
    place(chunks, begin.data(), stats.data());
    if (!any_divided) return;
    pool.run(n_chunks, work / 2, [&](int64_t task, int) {
        const Chunk& chunk = chunks[static_cast<size_t>(task)];
        if (chunk.alone) return;
        const int64_t left = chunk.left.rows, right = chunk.end - chunk.begin - left;
        std::copy_n(row_left + chunk.begin, left, row + chunk.left_to);
        std::copy_n(cell_left + chunk.begin, left, cell + chunk.left_to);
        std::copy_n(row_right + chunk.begin, right, row + chunk.right_to);
        std::copy_n(cell_right + chunk.begin, right, cell + chunk.right_to);
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
