#include "tree/partition.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tree/cells.hpp"
#include "tree/partition_kernel.hpp"

namespace gtgbm {
int64_t split_shared(Pool& pool, const uint8_t* codes, const SideRule& rule, int32_t* rows, int64_t count,
                     int32_t* scratch, int32_t* more_scratch) {
    const int64_t n_chunks = (count + kPartitionChunk - 1) / kPartitionChunk;
    const auto length = [&](int64_t chunk) {
        return std::min(kPartitionChunk, count - chunk * kPartitionChunk);
    };
    std::vector<int64_t> left(static_cast<size_t>(n_chunks)), left_to(left.size()), right_to(left.size());
    pool.run(n_chunks, count * 2, [&](int64_t chunk, int) {
        const int64_t at = chunk * kPartitionChunk;
        left[static_cast<size_t>(chunk)] =
            split_range(codes, rule, rows + at, length(chunk), scratch + at, more_scratch + at);
    });
    // First position of the left and right rows of each chunk.
    const int64_t all_left = std::accumulate(left.begin(), left.end(), int64_t{0});
    int64_t before_left = 0, before_right = all_left;
    for (int64_t chunk = 0; chunk < n_chunks; ++chunk) {
        const auto k = static_cast<size_t>(chunk);
        left_to[k] = before_left;
        right_to[k] = before_right;
        before_left += left[k];
        before_right += length(chunk) - left[k];
    }
    pool.run(n_chunks, count, [&](int64_t chunk, int) {
        const auto k = static_cast<size_t>(chunk);
        const int64_t at = chunk * kPartitionChunk;
        std::copy_n(scratch + at, left[k], rows + left_to[k]);
        std::copy_n(more_scratch + at, length(chunk) - left[k], rows + right_to[k]);
    });
    return all_left;
}

void partition_rows(Pool& pool, Array<const uint8_t, 3> codes, Array<const int64_t, 1> column,
                    Array<const int32_t, 1> bin, Array<const uint8_t, 1> is_category,
                    Array<const uint8_t, 1> missing_left, Array<const int64_t, 1> begin,
                    Array<const int64_t, 1> end, Array<int32_t, 1> rows, Array<int32_t, 2> scratch,
                    Array<int64_t, 1> n_left) {
    const int64_t n = static_cast<int64_t>(codes.shape(1)), n_rows = static_cast<int64_t>(rows.shape(0));
    const int64_t splits = static_cast<int64_t>(column.shape(0));
    require(codes.shape(2) == kLanes, "partition_rows: codes must have shape (tiles, rows, 8)");
    require(n_rows <= n, "partition_rows: more rows than codes");
    require(scratch.shape(0) == 2 && scratch.shape(1) == rows.shape(0),
            "partition_rows: scratch must be twice as long as rows");
    require(bin.shape(0) == column.shape(0) && is_category.shape(0) == column.shape(0) &&
                missing_left.shape(0) == column.shape(0) && begin.shape(0) == column.shape(0) &&
                end.shape(0) == column.shape(0) && n_left.shape(0) == column.shape(0),
            "partition_rows: one entry per split");
    require_below(column, static_cast<int64_t>(codes.shape(0)) * kLanes,
                  "partition_rows: column out of range");
    int64_t work = 0;
    for (int64_t k = 0; k < splits; ++k) {
        const int64_t from = begin.data()[k], to = end.data()[k];
        require(0 <= from && from <= to && to <= n_rows, "partition_rows: range outside the rows");
        work += (to - from) * 2;
    }
    const auto is_long = [&](int64_t k) { return end.data()[k] - begin.data()[k] > kPartitionChunk; };
    const auto split = [&](int64_t k) {
        const int64_t at = begin.data()[k], count = end.data()[k] - at, lane = column.data()[k];
        const uint8_t* code = codes.data() + lane / kLanes * n * kLanes + lane % kLanes;
        const SideRule rule(bin.data()[k], is_category.data()[k] != 0, missing_left.data()[k] != 0);
        int32_t* scratch_at = scratch.data() + at;
        n_left.data()[k] = is_long(k) ? split_shared(pool, code, rule, rows.data() + at, count, scratch_at,
                                                     scratch_at + n_rows)
                                      : split_in_place(code, rule, rows.data() + at, count, scratch_at);
    };
    for (int64_t k = 0; k < splits; ++k)
        if (is_long(k)) split(k);
    pool.run(splits, work, [&](int64_t k, int) {
        if (!is_long(k)) split(k);
    });
}

constexpr int64_t kSums = 4;  // of a node: gradient, count, and squares in two parts

void node_sums(Pool& pool, Array<const int32_t, 1> rows, Array<const int64_t, 1> cells,
               Array<const int64_t, 1> begin, Array<const int64_t, 1> end, const CellFormat& format,
               Array<int64_t, 2> out) {
    const int64_t nodes = static_cast<int64_t>(begin.shape(0));
    require(end.shape(0) == begin.shape(0) && out.shape(0) == begin.shape(0) && out.shape(1) == kSums,
            "node_sums: out must have shape (nodes, 4)");
    require(rows.shape(0) <= cells.shape(0), "node_sums: more rows than cells");
    int64_t work = 0;
    for (int64_t k = 0; k < nodes; ++k) {
        require(0 <= begin.data()[k] && begin.data()[k] <= end.data()[k] &&
                    end.data()[k] <= static_cast<int64_t>(rows.shape(0)),
                "node_sums: range outside the rows");
        work += end.data()[k] - begin.data()[k];
    }
    // Fixed parts of each node; sums are exact in any order.
    constexpr int64_t kShares = 4;
    std::vector<int64_t> parts(static_cast<size_t>(nodes * kShares * kSums), 0);
    with_format(format, [&](auto of_cells) {
        pool.run(nodes * kShares, work * 2, [&](int64_t task, int) {
            const int64_t k = task / kShares, share = task % kShares, from = begin.data()[k];
            const int64_t length = end.data()[k] - from;
            typename decltype(of_cells)::Cell sum{};
            int64_t high = 0, low = 0;
            for (int64_t i = from + length * share / kShares; i < from + length * (share + 1) / kShares;
                 ++i) {
                const int64_t row = cells.data()[rows.data()[i]];
                sum += of_cells.of_row(row);
                of_cells.add_squares(row, high, low);
            }
            int64_t* part = parts.data() + task * kSums;
            part[0] = of_cells.gradient(sum);
            part[1] = of_cells.count(sum);
            part[2] = high;
            part[3] = low;
        });
    });
    for (int64_t k = 0; k < nodes; ++k)
        for (int64_t j = 0; j < kSums; ++j) {
            int64_t sum = 0;
            for (int64_t share = 0; share < kShares; ++share)
                sum += parts[static_cast<size_t>((k * kShares + share) * kSums + j)];
            out.data()[k * kSums + j] = sum;
        }
}

void sampled_rows(Array<const int32_t, 1> rows, Array<const int64_t, 1> cells, Array<const int64_t, 1> begin,
                  Array<const int64_t, 1> end, Array<const int32_t, 1> position, const CellFormat& format,
                  Array<int32_t, 1> out_positions, Array<int64_t, 1> out_cells, Array<int64_t, 1> first,
                  Array<int64_t, 2> total) {
    const int64_t nodes = static_cast<int64_t>(begin.shape(0));
    require(cells.shape(0) == position.shape(0) && end.shape(0) == begin.shape(0) &&
                total.shape(0) == begin.shape(0) && total.shape(1) == 2 &&
                first.shape(0) == begin.shape(0) + 1 && out_cells.shape(0) == out_positions.shape(0),
            "sampled_rows: arrays of different lengths");
    const int64_t room = static_cast<int64_t>(out_positions.shape(0)),
                  n = static_cast<int64_t>(position.shape(0));
    int64_t count = 0;
    for (int64_t k = 0; k < nodes; ++k) {
        const int64_t from = begin.data()[k], to = end.data()[k];
        require(0 <= from && from <= to && to <= static_cast<int64_t>(rows.shape(0)),
                "sampled_rows: range outside the rows");
        first.data()[k] = count;
        for (int64_t i = from; i < to; ++i) {
            const int32_t row = rows.data()[i];
            require(0 <= row && row < n, "sampled_rows: row out of range");
            const int32_t at = position.data()[row];
            if (at < 0) continue;
            require(count < room, "sampled_rows: more sampled rows than places");
            out_positions.data()[count] = at;
            out_cells.data()[count++] = cells.data()[row];
        }
    }
    first.data()[nodes] = count;
    with_format(format, [&](auto of_cells) {
        for (int64_t k = 0; k < nodes; ++k) {
            typename decltype(of_cells)::Cell sum{};
            for (int64_t i = first.data()[k]; i < first.data()[k + 1]; ++i)
                sum += of_cells.of_row(out_cells.data()[i]);
            total.data()[2 * k] = of_cells.gradient(sum);
            total.data()[2 * k + 1] = of_cells.count(sum);
        }
    });
}

}  // namespace gtgbm
