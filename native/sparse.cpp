#include "sparse.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cells.hpp"
#include "radix_sort.hpp"
#include "scan.hpp"
#include "thresholds.hpp"

namespace gtgbm {
namespace {

// Checks a table stored by columns. Rows are checked when they are used: there may be very many.
void require_sparse(const Array<const int64_t, 1>& start, size_t entries,
                    const Array<const int64_t, 1>& columns) {
    require(start.shape(0) >= 1 && start.data()[0] == 0 &&
                start.data()[start.shape(0) - 1] == static_cast<int64_t>(entries),
            "sparse: start must run from 0 to the number of entries");
    for (size_t c = 1; c < start.shape(0); ++c)
        require(start.data()[c - 1] <= start.data()[c], "sparse: start must not decrease");
    require_below(columns, static_cast<int64_t>(start.shape(0)) - 1, "sparse: column out of range");
}

void require_values(const AnyTable& values, const Array<const int32_t, 1>& rows) {
    require(values.shape(1) == 1 && rows.shape(0) == values.shape(0),
            "sparse: values must have shape (entries, 1), with one row each");
}

void require_thresholds(const Array<const int64_t, 1>& columns, const Array<const double, 2>& thresholds,
                        const Array<const int32_t, 1>& n_thresholds) {
    require(thresholds.shape(0) == columns.shape(0) && n_thresholds.shape(0) == columns.shape(0) &&
                thresholds.shape(1) < kCells - 1,
            "sparse: one row of at most 254 thresholds per column");
    for (size_t c = 0; c < columns.shape(0); ++c)
        require(n_thresholds.data()[c] <= static_cast<int64_t>(thresholds.shape(1)),
                "sparse: n_thresholds beyond the thresholds given");
}

uint8_t code_of(const double* edges, int count, double value) {
    int code = kMissingCell;
    if (!std::isnan(value)) count_below(edges, count, &value, 1, [&](int64_t, int below) { code = below; });
    return static_cast<uint8_t>(code);
}

// Adds `zeros` zeros to sorted runs.
void insert_zeros(std::vector<Run>& runs, int64_t zeros) {
    if (zeros == 0) return;
    const auto at = std::lower_bound(runs.begin(), runs.end(), 0.0,
                                     [](const Run& run, double value) { return run.value < value; });
    if (at != runs.end() && at->value == 0.0)
        at->count += zeros;
    else
        runs.insert(at, Run{0.0, zeros});
}

}  // namespace

void find_sparse_thresholds(Pool& pool, Array<const int64_t, 1> start, Array<const int32_t, 1> rows,
                            AnyTable any, Array<const int64_t, 1> columns, Array<const uint8_t, 1> in_sample,
                            int max_bins, Array<double, 2> thresholds, Array<int32_t, 1> n_thresholds) {
    const int64_t m = static_cast<int64_t>(columns.shape(0)), n = static_cast<int64_t>(in_sample.shape(0));
    require_sparse(start, any.shape(0), columns);
    require_values(any, rows);
    require(max_bins >= 2 && max_bins <= kCells - 1, "sparse: max_bins must be in 2 .. 255");
    require(thresholds.shape(0) == columns.shape(0) &&
                static_cast<int>(thresholds.shape(1)) == max_bins - 1 &&
                n_thresholds.shape(0) == columns.shape(0),
            "sparse: thresholds must have shape (columns, max_bins - 1)");
    const int64_t n_sampled = std::count(in_sample.data(), in_sample.data() + n, uint8_t{1});
    struct Scratch {
        std::vector<double> values;
        std::vector<uint64_t> sorting;
        std::vector<Run> runs;
    };
    std::vector<Scratch> scratches(static_cast<size_t>(pool.size()));
    with_table(any, [&](auto values) {
        pool.run(m, static_cast<int64_t>(any.shape(0)) * 10, [&](int64_t c, int worker) {
            Scratch& scratch = scratches[static_cast<size_t>(worker)];
            scratch.values.clear();
            int64_t missing = 0;
            const int64_t column = columns.data()[c];
            for (int64_t e = start.data()[column]; e < start.data()[column + 1]; ++e) {
                const int32_t row = rows.data()[e];
                require(0 <= row && row < n, "sparse: row out of range");
                if (in_sample.data()[row] != 1) continue;
                const double value = values.at(e, 0);
                std::isnan(value) ? static_cast<void>(++missing) : scratch.values.push_back(value);
            }
            const int64_t present = static_cast<int64_t>(scratch.values.size());
            scratch.sorting.resize(static_cast<size_t>(2 * present));
            radix_sort(scratch.values.data(), present, scratch.sorting.data());
            runs_of_sorted(scratch.values.data(), present, scratch.runs);
            insert_zeros(scratch.runs, n_sampled - present - missing);
            n_thresholds.data()[c] =
                scratch.runs.empty()
                    ? -1
                    : thresholds_of_runs(scratch.runs, max_bins, thresholds.data() + c * (max_bins - 1));
        });
    });
}

void encode_sparse(Pool& pool, Array<const int64_t, 1> start, Array<const int32_t, 1> rows, AnyTable any,
                   Array<const int64_t, 1> columns, Array<const double, 2> thresholds,
                   Array<const int32_t, 1> n_thresholds, Array<uint8_t, 3> out) {
    const int64_t m = static_cast<int64_t>(columns.shape(0)), n = static_cast<int64_t>(out.shape(1));
    const int64_t lanes = static_cast<int64_t>(out.shape(2)),
                  width = static_cast<int64_t>(thresholds.shape(1));
    require_sparse(start, any.shape(0), columns);
    require_values(any, rows);
    require_thresholds(columns, thresholds, n_thresholds);
    require(static_cast<int64_t>(out.shape(0)) * lanes >= m,
            "sparse: out must have shape (tiles, rows, lanes)");
    for (int64_t c = 0; c < m; ++c)
        for (int64_t e = start.data()[columns.data()[c]]; e < start.data()[columns.data()[c] + 1]; ++e)
            require(rows.data()[e] >= 0 && rows.data()[e] < n, "sparse: row out of range");
    with_table(any, [&](auto values) {
        pool.run(m, n * m, [&](int64_t c, int) {
            const double* edges = thresholds.data() + c * width;
            const int count = std::max(n_thresholds.data()[c], 0);
            uint8_t* codes = out.data() + (c / lanes) * n * lanes + c % lanes;
            const uint8_t zero = code_of(edges, count, 0.0);
            for (int64_t i = 0; i < n; ++i) codes[i * lanes] = zero;
            const int64_t column = columns.data()[c];
            for (int64_t e = start.data()[column]; e < start.data()[column + 1]; ++e)
                codes[rows.data()[e] * lanes] = code_of(edges, count, values.at(e, 0));
        });
    });
}

void code_entries(Pool& pool, Array<const int64_t, 1> start, AnyTable any, Array<const int64_t, 1> columns,
                  Array<const double, 2> thresholds, Array<const int32_t, 1> n_thresholds,
                  Array<uint8_t, 1> codes, Array<uint8_t, 1> zero_code) {
    const int64_t m = static_cast<int64_t>(columns.shape(0)),
                  width = static_cast<int64_t>(thresholds.shape(1));
    require_sparse(start, any.shape(0), columns);
    require_thresholds(columns, thresholds, n_thresholds);
    require(any.shape(1) == 1 && codes.shape(0) == any.shape(0) && zero_code.shape(0) == columns.shape(0),
            "code_entries: a code per entry, and one for 0 per column");
    with_table(any, [&](auto values) {
        pool.run(m, static_cast<int64_t>(any.shape(0)) * 8, [&](int64_t c, int) {
            const double* edges = thresholds.data() + c * width;
            const int count = std::max(n_thresholds.data()[c], 0);
            zero_code.data()[c] = code_of(edges, count, 0.0);
            const int64_t column = columns.data()[c];
            for (int64_t e = start.data()[column]; e < start.data()[column + 1]; ++e)
                codes.data()[e] = code_of(edges, count, values.at(e, 0));
        });
    });
}

void search_sparse(Pool& pool, Array<const int64_t, 1> start, Array<const int32_t, 1> rows,
                   Array<const uint8_t, 1> codes, Array<const int64_t, 1> columns,
                   Array<const int32_t, 1> n_bins, Array<const uint8_t, 1> zero_code,
                   Array<const uint8_t, 1> use, Array<const int32_t, 1> node_rows,
                   Array<const int64_t, 1> begin, Array<const int64_t, 1> end, Array<const int64_t, 1> total,
                   Array<const int64_t, 1> cells, int count_bits, int64_t min_leaf, Array<double, 1> gain,
                   Array<int32_t, 2> where) {
    const int64_t m = static_cast<int64_t>(columns.shape(0)), n = static_cast<int64_t>(cells.shape(0)),
                  nodes = static_cast<int64_t>(begin.shape(0));
    require_sparse(start, codes.shape(0), columns);
    require(rows.shape(0) == codes.shape(0), "sparse: one row per entry");
    require(n_bins.shape(0) == columns.shape(0) && zero_code.shape(0) == columns.shape(0) &&
                use.shape(0) == columns.shape(0),
            "search_sparse: one entry per column");
    require(end.shape(0) == begin.shape(0) && total.shape(0) == begin.shape(0) &&
                gain.shape(0) == begin.shape(0) && where.shape(0) == begin.shape(0) && where.shape(1) == 3,
            "search_sparse: one entry per node");
    // A cell for missing values after the bins.
    for (int64_t c = 0; c < m; ++c)
        require(n_bins.data()[c] <= kMissingCell &&
                    (n_bins.data()[c] < 1 || zero_code.data()[c] < n_bins.data()[c]),
                "search_sparse: at most 255 bins, one of them for 0");
    std::vector<int32_t> node_of(static_cast<size_t>(n), -1);
    for (int64_t k = 0; k < nodes; ++k) {
        require(0 <= begin.data()[k] && begin.data()[k] <= end.data()[k] &&
                    end.data()[k] <= static_cast<int64_t>(node_rows.shape(0)),
                "search_sparse: range outside the rows");
        for (int64_t i = begin.data()[k]; i < end.data()[k]; ++i) {
            const int32_t row = node_rows.data()[i];
            require(0 <= row && row < n, "search_sparse: row out of range");
            node_of[static_cast<size_t>(row)] = static_cast<int32_t>(k);
        }
    }
    const CellFormat format{count_bits};
    constexpr int64_t kBlock = 32;
    const int64_t blocks = (m + kBlock - 1) / kBlock;
    // The best of each block of columns, so that the result does not depend on which thread looked at it.
    std::vector<Found> found(static_cast<size_t>(blocks * nodes));
    std::vector<std::vector<int64_t>> hists(static_cast<size_t>(pool.size()),
                                            std::vector<int64_t>(static_cast<size_t>(nodes * kCells)));
    pool.run(blocks, static_cast<int64_t>(codes.shape(0)) * 2, [&](int64_t block, int worker) {
        int64_t* hist = hists[static_cast<size_t>(worker)].data();
        for (int64_t c = block * kBlock; c < std::min(m, (block + 1) * kBlock); ++c) {
            const int bins = n_bins.data()[c];
            const uint8_t as = use.data()[c];
            if ((as & kUseMask) == kSkipped || bins < 1) continue;
            const int64_t column = columns.data()[c], stride = bins + 1;
            std::fill_n(hist, nodes * stride, int64_t{0});
            for (int64_t e = start.data()[column]; e < start.data()[column + 1]; ++e) {
                const int32_t row = rows.data()[e];
                require(0 <= row && row < n, "search_sparse: row of an entry out of range");
                const int32_t node = node_of[static_cast<size_t>(row)];
                if (node < 0) continue;
                const int code = std::min<int>(codes.data()[e], bins);
                hist[node * stride + code] += cells.data()[row];
            }
            for (int64_t k = 0; k < nodes; ++k) {
                int64_t* cell = hist + k * stride;
                int64_t entries = 0;
                for (int64_t b = 0; b < stride; ++b) entries += cell[b];
                // One side of any split consists of entries alone.
                if (format.count(entries) < min_leaf) continue;
                cell[zero_code.data()[c]] += total.data()[k] - entries;
                found[static_cast<size_t>(block * nodes + k)].offer(
                    best_split(cell, bins, total.data()[k], format, min_leaf, direction_of(as)),
                    static_cast<int32_t>(c));
            }
        }
    });
    for (int64_t k = 0; k < nodes; ++k) {
        Found best;
        for (int64_t block = 0; block < blocks; ++block)
            best.offer(found[static_cast<size_t>(block * nodes + k)]);
        gain.data()[k] = best.gain;
        where.data()[3 * k] = best.column;
        where.data()[3 * k + 1] = best.bin;
        where.data()[3 * k + 2] = best.missing_side;
    }
}

}  // namespace gtgbm
