// Tells quickly, without finding the split, that no split of a column can beat one that was found before.
#pragma once

#include <cstdint>

#include "support/vectors.hpp"
#include "tree/cells.hpp"

namespace gtgbm {

// Sets `is_above` if the best split of a histogram may gain more than `gain`, which is not negative. Rounding
// never hides a split: what is compared is a little lower than `gain`.
struct MayGainMore {
    static constexpr double kMargin = 1e-9;  // much more than all rounding errors together

    template <class Format, class Cell = typename Format::Cell>
    static GTGBM_INLINE void run(const Cell* cells, int n_bins, Cell total, Format format, SideTerms terms,
                                 double gain, bool* is_above) {
        Cell below[kCells];
        Cell sum{};
        for (int code = 0; code < n_bins; ++code) below[code] = sum += cells[code];
        *is_above = any_above(below, n_bins, Cell{}, total, format, terms, gain) ||
                    (sum != total && any_above(below, n_bins, total - sum, total, format, terms, gain));
    }

  private:
    // The same for given sums of left sides, to all of which `missing` is added.
    template <class Format, class Cell = typename Format::Cell>
    static GTGBM_INLINE bool any_above(const Cell* below, int n_bins, const Cell& missing, const Cell& total,
                                       Format format, SideTerms terms, double gain) {
        const int64_t rows = format.count(total);
        const double n = static_cast<double>(rows) + 2.0 * terms.l2;
        const double g = static_cast<double>(format.gradient(total));
        const double least = (gain + loss_of_two(g, n, terms.l2)) * n * (1.0 - kMargin);
        int64_t found = 0;
        for (int code = 0; code < n_bins; ++code) {
            const Cell left = below[code] + missing;
            const int64_t rows_left = format.count(left);
            const double n_left = static_cast<double>(rows_left) + terms.l2;
            const double d = static_cast<double>(format.gradient(left)) * n - g * n_left;
            const int64_t is_allowed = (rows_left >= terms.min_leaf) & (rows - rows_left >= terms.min_leaf);
            found |= is_allowed & static_cast<int64_t>(d * d > least * (n_left * (n - n_left)));
        }
        return found != 0;
    }
};

}  // namespace gtgbm
