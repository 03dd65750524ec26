#include "binning/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "binning/thresholds.hpp"
#include "support/codes.hpp"
#include "support/radix_sort.hpp"

namespace gtgbm {
namespace {

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

void require_sparse(const Array<const int64_t, 1>& start, size_t entries,
                    const Array<const int64_t, 1>& columns) {
    require(start.shape(0) >= 1 && start.data()[0] == 0 &&
                start.data()[start.shape(0) - 1] == static_cast<int64_t>(entries),
            "sparse: start must run from 0 to the number of entries");
    for (size_t c = 1; c < start.shape(0); ++c)
        require(start.data()[c - 1] <= start.data()[c], "sparse: start must not decrease");
    require_below(columns, static_cast<int64_t>(start.shape(0)) - 1, "sparse: column out of range");
}

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

}  // namespace gtgbm
