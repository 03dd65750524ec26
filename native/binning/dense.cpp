#include "binning/dense.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "binning/few_edges.hpp"
#include "binning/thresholds.hpp"
#include "support/codes.hpp"
#include "support/radix_sort.hpp"

namespace gtgbm {
namespace {

// Columns read together: in a table stored by rows, one cache line serves all of them.
constexpr int64_t kColumnBlock = 16;
constexpr int64_t kRowBlock = 2048;
// Rows prefetched ahead, since every sampled row is a cache miss.
constexpr int64_t kAhead = 32;

int64_t blocks_of(int64_t total, int64_t block) {
    return (total + block - 1) / block;
}

// Memory for the block of values that each worker reads together. Not on the stack, which for musl's threads
// is 128 KiB, the size of one block.
template <class Value = double>
class Buffers {
  public:
    Buffers(const Pool& pool, int64_t size)
        : size_(size), values_(new Value[static_cast<size_t>(pool.size() * size)]) {}

    Value* of(int worker) { return values_.get() + worker * size_; }

  private:
    int64_t size_;
    std::unique_ptr<Value[]> values_;  // not zeroed, unlike a std::vector
};

int64_t drop_nan(double* values, int64_t n) {
    return std::remove_if(values, values + n, [](double v) { return std::isnan(v); }) - values;
}

// Copies the values of some rows in a few columns: row_at(i) of columns[c] goes to values[c * stride + i]. In
// a table stored by rows, each row is read once for all columns.
template <class T, class F, class Value>
void read_block(const Table<T>& table, F&& row_at, int64_t n_rows, const int64_t* columns, int64_t n_columns,
                Value* values, int64_t stride) {
    const auto copy = [&](int64_t row, int64_t i, int64_t c) {
        values[c * stride + i] = static_cast<Value>(table.at(row, columns[c]));
    };
    if (table.by_columns()) {
        for (int64_t c = 0; c < n_columns; ++c)
            for (int64_t i = 0; i < n_rows; ++i) copy(row_at(i), i, c);
        return;
    }
    // Neighbours share a cache line: the first and the last of them are enough.
    const bool are_neighbours = columns[n_columns - 1] - columns[0] == n_columns - 1;
    const int64_t step = are_neighbours ? std::max<int64_t>(n_columns - 1, 1) : 1;
    for (int64_t i = 0; i < n_rows; ++i) {
        const int64_t row = row_at(i), ahead = row_at(std::min(i + kAhead, n_rows - 1));
        for (int64_t c = 0; c < n_columns; c += step) table.prefetch(ahead, columns[c]);
        for (int64_t c = 0; c < n_columns; ++c) copy(row, i, c);
    }
}

// Writes thresholds for a column whose sorted sample is constant, around that value, from all of `rows`: rare
// values would otherwise be missed. Returns their number.
template <class T>
int edges_around_one_value(const Table<T>& table, const int64_t* rows, int64_t n_rows, int64_t column,
                           double* edges) {
    double usual = std::numeric_limits<double>::quiet_NaN();
    double below = usual, above = usual;
    for (int64_t i = 0; i < n_rows; ++i) {
        const double value = table.at(rows[i], column);
        if (std::isnan(usual)) usual = value;
        if (value < usual && !(value <= below)) below = value;
        if (value > usual && !(value >= above)) above = value;
    }
    int count = 0;
    if (!std::isnan(below)) edges[count++] = between(below, usual);
    if (!std::isnan(above)) edges[count++] = between(usual, above);
    return count;
}

// Values of float32 tables are compared as such, twice as many at a time.
template <class AnyTableView>
using Compared = std::conditional_t<std::is_same_v<AnyTableView, Table<float>>, float, double>;

template <class Value>
struct CodeByFew {
    static GTGBM_INLINE void run(const Value* edges, int n_edges, const Value* values, int64_t n,
                                 uint8_t* codes) {
        using Count = std::conditional_t<std::is_same_v<Value, float>, int32_t, int64_t>;
        code_by_all<Value, Count>(edges, n_edges, values, n, codes);
    }
};

// Writes 1 + the number of thresholds below each value, 0 for NaN.
template <class Value>
void code_values(const double* edges, int n_edges, const Value* values, int64_t n, uint8_t* codes) {
    if (n_edges <= kFewEdges) {
        Value few[kFewEdges];
        for (int e = 0; e < n_edges; ++e) {
            if constexpr (std::is_same_v<Value, float>)
                few[e] = float_not_above(edges[e]);
            else
                few[e] = edges[e];
        }
        return run_vectorised<CodeByFew<Value>>(static_cast<const Value*>(few), n_edges, values, n, codes);
    }
    count_below(edges, n_edges, values, n, [&](int64_t i, int below) {
        codes[i] = static_cast<uint8_t>(std::isnan(values[i]) ? 0 : 1 + below);
    });
}

// Scales values by the smallest and largest finite one to 0 .. 65535; missing values become 0.
void scale_to_range(const double* values, int64_t n, uint16_t* out) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (int64_t i = 0; i < n; ++i) {
        if (!std::isfinite(values[i])) continue;
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    // Halves, so that a range wider than the largest double does not overflow.
    const double range = high / 2 - low / 2;
    for (int64_t i = 0; i < n; ++i) {
        const double scaled = range > 0 ? (values[i] / 2 - low / 2) / range : 0.0;
        // Infinite values lie at the ends of the range.
        const double clipped = scaled > 1.0 ? 1.0 : scaled > 0.0 ? scaled : 0.0;
        out[i] = static_cast<uint16_t>(std::nearbyint(clipped * 65535.0));
    }
}

}  // namespace

void gather(Pool& pool, AnyTable any, Array<const int64_t, 1> rows, Array<const int64_t, 1> columns,
            Array<double, 2> out) {
    const int64_t n = static_cast<int64_t>(rows.shape(0)), m = static_cast<int64_t>(columns.shape(0));
    require(out.shape(0) == columns.shape(0) && out.shape(1) == rows.shape(0),
            "gather: out must have shape (columns, rows)");
    require_below(rows, static_cast<int64_t>(any.shape(0)), "gather: row out of range");
    require_below(columns, static_cast<int64_t>(any.shape(1)), "gather: column out of range");
    with_table(any, [&](auto table) {
        const int64_t row_blocks = blocks_of(n, kRowBlock);
        pool.run(row_blocks * blocks_of(m, kColumnBlock), n * m * 4, [&](int64_t task, int) {
            const int64_t first = task / row_blocks * kColumnBlock, last = std::min(first + kColumnBlock, m);
            const int64_t begin = task % row_blocks * kRowBlock, end = std::min(begin + kRowBlock, n);
            read_block(
                table, [&](int64_t i) { return rows.data()[begin + i]; }, end - begin, columns.data() + first,
                last - first, out.data() + first * n + begin, n);
        });
    });
}

void find_thresholds(Pool& pool, Array<double, 2> values, int max_bins, Array<double, 2> thresholds,
                     Array<int32_t, 1> n_thresholds) {
    const int64_t m = static_cast<int64_t>(values.shape(0)), n = static_cast<int64_t>(values.shape(1));
    require(max_bins >= 2 && max_bins <= kCells - 1, "find_thresholds: max_bins must be in 2 .. 255");
    require(thresholds.shape(0) == values.shape(0) && static_cast<int>(thresholds.shape(1)) == max_bins - 1 &&
                n_thresholds.shape(0) == values.shape(0),
            "find_thresholds: thresholds must have shape (columns, max_bins - 1)");
    std::vector<std::vector<uint64_t>> scratch(static_cast<size_t>(pool.size()),
                                               std::vector<uint64_t>(static_cast<size_t>(2 * n)));
    std::vector<std::vector<Run>> runs(static_cast<size_t>(pool.size()));
    pool.run(m, n * m * 10, [&](int64_t c, int worker) {
        double* column = values.data() + c * n;
        const int64_t present = drop_nan(column, n);
        radix_sort(column, present, scratch[static_cast<size_t>(worker)].data());
        auto& found = runs[static_cast<size_t>(worker)];
        runs_of_sorted(column, present, found);
        n_thresholds.data()[c] =
            present == 0 ? -1 : thresholds_of_runs(found, max_bins, thresholds.data() + c * (max_bins - 1));
    });
}

void encode(Pool& pool, AnyTable any, Array<const int64_t, 1> columns, Array<const double, 2> thresholds,
            Array<const int32_t, 1> n_thresholds, Array<uint8_t, 3> out) {
    const int64_t m = static_cast<int64_t>(columns.shape(0)), n = static_cast<int64_t>(any.shape(0));
    const int64_t lanes = static_cast<int64_t>(out.shape(2)),
                  width = static_cast<int64_t>(thresholds.shape(1));
    require(static_cast<int64_t>(out.shape(1)) == n && static_cast<int64_t>(out.shape(0)) * lanes >= m,
            "encode: out must have shape (tiles, rows, lanes)");
    require(thresholds.shape(0) == columns.shape(0) && n_thresholds.shape(0) == columns.shape(0) &&
                width < kCells - 1,
            "encode: one row of at most 254 thresholds per column");
    require_below(columns, static_cast<int64_t>(any.shape(1)), "encode: column out of range");
    for (int64_t c = 0; c < m; ++c)
        require(n_thresholds.data()[c] <= width, "encode: n_thresholds beyond the thresholds given");
    with_table(any, [&](auto table) {
        const int64_t row_blocks = blocks_of(n, kRowBlock), column_blocks = blocks_of(m, kLanes);
        Buffers<> buffers(pool, kLanes * kRowBlock);
        pool.run(row_blocks * column_blocks, n * m * 8, [&](int64_t task, int worker) {
            const int64_t first = task / row_blocks * kLanes, last = std::min(first + kLanes, m);
            const int64_t begin = task % row_blocks * kRowBlock, end = std::min(begin + kRowBlock, n);
            // Read all values first: a loop of loads only keeps many cache misses in flight, and these
            // dominate when single columns of a table stored by rows are read.
            double* values = buffers.of(worker);
            read_block(
                table, [&](int64_t i) { return begin + i; }, end - begin, columns.data() + first,
                last - first, values, kRowBlock);
            for (int64_t c = first; c < last; ++c) {
                const double* edges = thresholds.data() + c * width;
                const int count = std::max(n_thresholds.data()[c], 0);
                uint8_t* codes = out.data() + (c / lanes) * n * lanes + c % lanes;
                const double* value = values + (c - first) * kRowBlock;
                count_below(edges, count, value, end - begin, [&](int64_t i, int code) {
                    codes[(begin + i) * lanes] =
                        static_cast<uint8_t>(std::isnan(value[i]) ? kMissingCell : code);
                });
            }
        });
    });
}

void rank_codes(Pool& pool, AnyTable any, Array<const int64_t, 1> rows, Array<const int64_t, 1> columns,
                int levels, Array<uint8_t, 2> out) {
    // Thresholds need not be exact ranks: a few values per code are enough, and sorting more would cost more
    // than encoding.
    constexpr int64_t kSorted = 512, kPerLevel = 8;
    const int64_t n = static_cast<int64_t>(rows.shape(0)), m = static_cast<int64_t>(columns.shape(0));
    require(levels >= 3 && levels <= kCells - 1, "rank_codes: levels must be in 3 .. 255");
    require(out.shape(0) == columns.shape(0) && out.shape(1) == rows.shape(0),
            "rank_codes: out must have shape (columns, rows)");
    require_below(columns, static_cast<int64_t>(any.shape(1)), "rank_codes: column out of range");
    require_below(rows, static_cast<int64_t>(any.shape(0)), "rank_codes: row out of range");
    const int64_t step = std::max<int64_t>(1, blocks_of(n, std::min(kSorted, kPerLevel * levels)));
    const int64_t taken = blocks_of(n, step), column_blocks = blocks_of(m, kColumnBlock);
    const int64_t row_blocks = blocks_of(n, kSorted);
    std::vector<double> edges(static_cast<size_t>(m * levels));
    std::vector<int> n_edges(static_cast<size_t>(m));
    std::vector<std::vector<Run>> runs(static_cast<size_t>(pool.size()));
    with_table(any, [&](auto table) {
        Buffers<> sampled(pool, kColumnBlock * kSorted);
        Buffers<Compared<decltype(table)>> read(pool, kColumnBlock * kSorted);
        pool.run(column_blocks, taken * m * 20, [&](int64_t task, int worker) {
            const int64_t first = task * kColumnBlock, count = std::min(kColumnBlock, m - first);
            double* values = sampled.of(worker);
            read_block(
                table, [&](int64_t i) { return rows.data()[i * step]; }, taken, columns.data() + first, count,
                values, kSorted);
            auto& found = runs[static_cast<size_t>(worker)];
            for (int64_t c = 0; c < count; ++c) {
                double* value = values + c * kSorted;
                const int64_t present = drop_nan(value, taken);
                std::sort(value, value + present);
                runs_of_sorted(value, present, found);
                double* edge = edges.data() + (first + c) * levels;
                n_edges[static_cast<size_t>(first + c)] =
                    found.size() > 1
                        ? thresholds_of_runs(found, levels - 1, edge)
                        : edges_around_one_value(table, rows.data(), n, columns.data()[first + c], edge);
            }
        });
        pool.run(column_blocks * row_blocks, n * m * 8, [&](int64_t task, int worker) {
            const int64_t first = task / row_blocks * kColumnBlock, count = std::min(kColumnBlock, m - first);
            const int64_t begin = task % row_blocks * kSorted, size = std::min(kSorted, n - begin);
            auto* values = read.of(worker);
            read_block(
                table, [&](int64_t i) { return rows.data()[begin + i]; }, size, columns.data() + first, count,
                values, kSorted);
            for (int64_t c = first; c < first + count; ++c)
                code_values(edges.data() + c * levels, n_edges[static_cast<size_t>(c)],
                            values + (c - first) * kSorted, size, out.data() + c * n + begin);
        });
    });
}

void minmax_values(Pool& pool, AnyTable any, Array<const int64_t, 1> rows, Array<const int64_t, 1> columns,
                   Array<uint16_t, 2> out) {
    const int64_t n = static_cast<int64_t>(rows.shape(0)), m = static_cast<int64_t>(columns.shape(0));
    require(out.shape(0) == columns.shape(0) && out.shape(1) == rows.shape(0),
            "minmax_values: out must have shape (columns, rows)");
    require_below(columns, static_cast<int64_t>(any.shape(1)), "minmax_values: column out of range");
    require_below(rows, static_cast<int64_t>(any.shape(0)), "minmax_values: row out of range");
    std::vector<std::vector<double>> buffers(static_cast<size_t>(pool.size()));
    with_table(any, [&](auto table) {
        pool.run(blocks_of(m, kColumnBlock), n * m * 12, [&](int64_t task, int worker) {
            const int64_t first = task * kColumnBlock, count = std::min(kColumnBlock, m - first);
            auto& values = buffers[static_cast<size_t>(worker)];
            values.resize(static_cast<size_t>(kColumnBlock * n));
            read_block(
                table, [&](int64_t i) { return rows.data()[i]; }, n, columns.data() + first, count,
                values.data(), n);
            for (int64_t c = 0; c < count; ++c)
                scale_to_range(values.data() + c * n, n, out.data() + (first + c) * n);
        });
    });
}

}  // namespace gtgbm
