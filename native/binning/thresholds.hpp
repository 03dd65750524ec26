// Computes the thresholds between the bins of a column.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gtgbm {

// A value and how often it occurs.
struct Run {
    double value;
    int64_t count;
};

inline void runs_of_sorted(const double* values, int64_t n, std::vector<Run>& runs) {
    runs.clear();
    for (int64_t i = 0; i < n; ++i) {
        if (i == 0 || values[i] != values[i - 1]) runs.push_back({values[i], 0});
        ++runs.back().count;
    }
}

// Returns the midpoint, without overflow and without rounding up to the larger value.
inline double between(double low, double high) {
    const double middle = low / 2 + high / 2;
    return middle < high ? std::max(middle, low) : low;
}

// Calls put(i, number of thresholds below values[i]) for n values, by a branchless binary search. Several
// values are searched in lock-step, so that their memory loads overlap.
template <class Value, class Put>
void count_below(const double* thresholds, int count, const Value* values, int64_t n, Put&& put) {
    constexpr int64_t kTogether = 16;
    for (int64_t first = 0; first < n; first += kTogether) {
        const int together = static_cast<int>(std::min(kTogether, n - first));
        const Value* value = values + first;
        int below[kTogether] = {};
        int left = count;
        for (; left > 1; left -= left / 2) {
            const double* middle = thresholds + left / 2 - 1;
            // A mask instead of ?:, which compilers turn into a branch that is mispredicted half the time.
            for (int k = 0; k < together; ++k)
                below[k] += (left / 2) & -static_cast<int>(middle[below[k]] < value[k]);
        }
        for (int k = 0; k < together; ++k)
            put(first + k, below[k] + (left == 1 && thresholds[below[k]] < value[k]));
    }
}

// Takes runs in ascending order of value, writes at most max_bins - 1 thresholds and returns their number.
inline int thresholds_of_runs(const std::vector<Run>& runs, int max_bins, double* thresholds) {
    int n_thresholds = 0;
    if (runs.size() <= static_cast<size_t>(max_bins)) {
        for (size_t i = 1; i < runs.size(); ++i)
            thresholds[n_thresholds++] = between(runs[i - 1].value, runs[i].value);
        return n_thresholds;
    }
    // Quantiles. A value that is more frequent than a bin's share gets a bin of its own, and the other values
    // share the remaining bins. A column of mostly zeros thus keeps fine bins for its other values.
    int64_t n = 0;
    for (const Run& run : runs) n += run.count;
    const auto is_frequent = [&](const Run& run) { return run.count * max_bins >= n; };
    int64_t rest = n, bins_left = max_bins, in_bin = 0;
    for (const Run& run : runs) {
        if (is_frequent(run)) {
            rest -= run.count;
            --bins_left;
        }
    }
    const auto close_bin_before = [&](size_t i) {
        thresholds[n_thresholds++] = between(runs[i - 1].value, runs[i].value);
        rest -= in_bin;
        if (in_bin > 0) --bins_left;
        in_bin = 0;
    };
    for (size_t i = 0; i < runs.size() && n_thresholds < max_bins - 1; ++i) {
        const bool frequent = is_frequent(runs[i]);
        // A frequent value starts a bin of its own, if that leaves a bin for the values after it.
        if (frequent && in_bin > 0 && n_thresholds < max_bins - 2) close_bin_before(i);
        in_bin += frequent ? 0 : runs[i].count;
        if (i + 1 < runs.size() && (frequent || in_bin * bins_left >= rest) && n_thresholds < max_bins - 1)
            close_bin_before(i + 1);
    }
    return n_thresholds;
}

}  // namespace gtgbm
