#include "partition.hpp"

#include <algorithm>
#include <vector>

#include "cells.hpp"

namespace gtgbm {
namespace {

constexpr int64_t kChunk = 16384;

struct Chunk {
    int64_t split, begin, end;
    int64_t left = 0;   // rows of this chunk that go left
    int64_t cells = 0;  // their cell sum
    int64_t squares_high = 0, squares_low = 0;
    int64_t left_to = 0, right_to = 0;  // where they end up
};

}  // namespace

void partition_rows(Pool& pool, Array<const uint8_t, 3> codes, Array<const int64_t, 1> column,
                    Array<const int32_t, 1> bin, Array<const uint8_t, 1> missing_left,
                    Array<const int64_t, 1> begin, Array<const int64_t, 1> end, int count_bits,
                    Array<int32_t, 1> rows, Array<int64_t, 1> cells, Array<int32_t, 2> row_scratch,
                    Array<int64_t, 2> cell_scratch, Array<int64_t, 2> stats) {
    const int64_t n = static_cast<int64_t>(codes.shape(1)), n_rows = static_cast<int64_t>(rows.shape(0));
    const int64_t splits = static_cast<int64_t>(column.shape(0));
    require(codes.shape(2) == kLanes, "partition_rows: codes must have shape (tiles, rows, 8)");
    require(n_rows <= n, "partition_rows: more rows than codes");
    require(cells.shape(0) == rows.shape(0) && row_scratch.shape(0) == 2 &&
                row_scratch.shape(1) == rows.shape(0) && cell_scratch.shape(0) == 2 &&
                cell_scratch.shape(1) == rows.shape(0),
            "partition_rows: cells and scratch must be as long as rows");
    require(bin.shape(0) == column.shape(0) && missing_left.shape(0) == column.shape(0) &&
                begin.shape(0) == column.shape(0) && end.shape(0) == column.shape(0) &&
                stats.shape(0) == column.shape(0) && stats.shape(1) == 4,
            "partition_rows: one entry per split");
    require_below(column, static_cast<int64_t>(codes.shape(0)) * kLanes,
                  "partition_rows: column out of range");
    std::vector<Chunk> chunks;
    int64_t work = 0;
    for (int64_t k = 0; k < splits; ++k) {
        const int64_t from = begin.data()[k], to = end.data()[k];
        require(0 <= from && from <= to && to <= n_rows, "partition_rows: range outside the rows");
        for (int64_t at = from; at < to; at += kChunk) chunks.push_back({k, at, std::min(at + kChunk, to)});
        work += (to - from) * 4;
    }
    const int64_t n_chunks = static_cast<int64_t>(chunks.size());
    const CellFormat format{count_bits};
    int32_t* row_left = row_scratch.data();
    int32_t* row_right = row_scratch.data() + n_rows;
    int64_t* cell_left = cell_scratch.data();
    int64_t* cell_right = cell_scratch.data() + n_rows;

    pool.run(n_chunks, work, [&](int64_t task, int) {
        Chunk& chunk = chunks[static_cast<size_t>(task)];
        const int64_t lane = column.data()[chunk.split];
        const uint8_t* code = codes.data() + lane / kLanes * n * kLanes + lane % kLanes;
        const int last_left = bin.data()[chunk.split];
        const bool missing = missing_left.data()[chunk.split] != 0;
        int64_t to_left = chunk.begin, to_right = chunk.begin;
        for (int64_t i = chunk.begin; i < chunk.end; ++i) {
            const int32_t row = rows.data()[i];
            const int64_t cell = cells.data()[i];
            const int c = code[int64_t{row} * kLanes];
            const bool left = (c <= last_left) | ((c == kMissingCell) & missing);
            row_left[to_left] = row;
            cell_left[to_left] = cell;
            row_right[to_right] = row;
            cell_right[to_right] = cell;
            to_left += left;
            to_right += !left;
            const int64_t q = left ? format.gradient(cell) : 0;
            chunk.cells += left ? cell : 0;
            chunk.squares_high += (q * q) >> 32;
            chunk.squares_low += (q * q) & 0xffffffff;
        }
        chunk.left = to_left - chunk.begin;
    });

    std::fill(stats.data(), stats.data() + splits * 4, int64_t{0});
    for (const Chunk& chunk : chunks) {
        int64_t* out = stats.data() + chunk.split * 4;
        out[0] += chunk.left;
        out[1] += chunk.cells;
        out[2] += chunk.squares_high;
        out[3] += chunk.squares_low;
    }
    int64_t before_left = 0, before_right = 0;
    for (size_t i = 0; i < chunks.size(); ++i) {
        Chunk& chunk = chunks[i];
        if (i == 0 || chunks[i - 1].split != chunk.split) {
            before_left = begin.data()[chunk.split];
            before_right = before_left + stats.data()[chunk.split * 4];
        }
        chunk.left_to = before_left;
        chunk.right_to = before_right;
        before_left += chunk.left;
        before_right += chunk.end - chunk.begin - chunk.left;
    }

    pool.run(n_chunks, work / 2, [&](int64_t task, int) {
        const Chunk& chunk = chunks[static_cast<size_t>(task)];
        const int64_t right = chunk.end - chunk.begin - chunk.left;
        std::copy_n(row_left + chunk.begin, chunk.left, rows.data() + chunk.left_to);
        std::copy_n(cell_left + chunk.begin, chunk.left, cells.data() + chunk.left_to);
        std::copy_n(row_right + chunk.begin, right, rows.data() + chunk.right_to);
        std::copy_n(cell_right + chunk.begin, right, cells.data() + chunk.right_to);
    });
}

}  // namespace gtgbm
