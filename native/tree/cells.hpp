// The best split of a histogram of cells.
#pragma once

#include <cstdint>
#include <limits>

#include "support/codes.hpp"
#include "support/compiler.hpp"
#include "tree/cell_format.hpp"

namespace gtgbm {

// The child that missing values go to. Unseen: there is no split, or it is on a category, whose rule says
// where missing values go.
enum MissingSide : int32_t { kMissingRight = 0, kMissingLeft = 1, kMissingUnseen = 2 };

// Conditions on the sides of a split, in units of the counts of cells: the fewest rows, and the L2
// regularization that is added to the count of a side wherever its mean is computed.
struct SideTerms {
    int64_t min_leaf;
    double l2;
};

template <class Cell>
struct Split {
    double gain = -std::numeric_limits<double>::infinity();  // in squared fixed-point units
    int32_t bin = -1;                                        // codes <= bin go left
    int32_t missing_side = kMissingUnseen;
    Cell left{};  // cell sum of the left side
};

// With regularized counts m = n + l2, the gain of a split is
//     G_left^2 / m_left + G_right^2 / m_right - G^2 / m
//         = (G_left m_both - G m_left)^2 / (m_left m_right m_both) - (G^2 / m - G^2 / m_both)
// where m_both = m_left + m_right = n + 2 l2. The second term is returned here: it is the same for all splits
// of a node, and 0 without regularization.
inline double loss_of_two(double g, double m_both, double l2) {
    return g * g * l2 / ((m_both - l2) * m_both);
}

// Keeps the best threshold so far. Gains are compared as fractions, which saves a division per bin.
template <class Format>
class BestThreshold {
  public:
    using Cell = typename Format::Cell;

    // direction is a monotone constraint. 1: the value of the left side must not be above that of the right
    // side, -1: must not be below, 0: no constraint.
    BestThreshold(const Cell& total, Format format, SideTerms terms, double direction = 0.0)
        : format_(format),
          terms_(terms),
          direction_(direction),
          rows_(format.count(total)),
          n_(static_cast<double>(rows_) + 2.0 * terms.l2),
          g_(static_cast<double>(format.gradient(total))) {}

    void offer(const Cell& left, int32_t bin, MissingSide side) { offer_with(left, bin, side, direction_); }
    void offer_unconstrained(const Cell& left, int32_t bin, MissingSide side) {
        offer_with(left, bin, side, 0.0);
    }

    bool too_small() const { return rows_ < 2 * terms_.min_leaf; }

    Split<Cell> split() const {
        if (bin_ < 0) return {};
        const double gain = best_numerator_ / best_denominator_ / n_ - loss_of_two(g_, n_, terms_.l2);
        if (!(gain > 0.0)) return {};
        return {gain, bin_, side_, left_};
    }

  private:
    void offer_with(const Cell& left, int32_t bin, MissingSide side, double direction) {
        const int64_t rows_left = format_.count(left);
        if (rows_left < terms_.min_leaf || rows_ - rows_left < terms_.min_leaf) return;
        const double n_left = static_cast<double>(rows_left) + terms_.l2;
        const double d = static_cast<double>(format_.gradient(left)) * n_ - g_ * n_left;
        if (d * direction > 0.0) return;
        const double numerator = d * d;
        const double denominator = n_left * (n_ - n_left);
        if (numerator * best_denominator_ > best_numerator_ * denominator) {
            best_numerator_ = numerator;
            best_denominator_ = denominator;
            bin_ = bin;
            side_ = side;
            left_ = left;
        }
    }

    Format format_;
    SideTerms terms_;
    double direction_;
    int64_t rows_;
    double n_, g_;  // n_ is the regularized count of both sides together
    double best_numerator_ = 0.0, best_denominator_ = 1.0;
    int32_t bin_ = -1;
    MissingSide side_ = kMissingUnseen;
    Cell left_{};
};

// The cells of one column's histogram at one node.
template <class Cell>
struct AllCells {
    const Cell* cells;

    // Calls body(code, cell) for every code below n_codes, ascending.
    template <class F>
    void for_each(int n_codes, F&& body) const {
        for (int code = 0; code < n_codes; ++code) body(code, cells[code]);
    }
};

constexpr int kMarkWords = kCells / 64;

// The same for a node of few rows, with a bit set for every code that any of its rows has.
template <class Cell>
struct MarkedCells {
    const Cell* cells;
    const uint64_t* marks;  // (kMarkWords,)

    // Calls body(code, cell) for the marked codes below n_codes, ascending.
    template <class F>
    void for_each(int n_codes, F&& body) const {
        for (int word = 0; word < kMarkWords; ++word)
            for (uint64_t left = marks[word]; left != 0; left &= left - 1) {
                const int code = word * 64 + lowest_bit(left);
                if (code < n_codes) body(code, cells[code]);
            }
    }
};

// Returns the best split of one column at one node. Empty cells are dropped first: they give the same
// partition as the cell before, and small nodes have far fewer occupied cells than bins. Ties go to missing
// values on the right, then to the lower bin.
template <class Cells, class Format, class Cell = typename Format::Cell>
inline Split<Cell> best_split(const Cells& cells, int n_bins, const typename Format::Cell& total,
                              Format format, SideTerms terms, double direction = 0.0) {
    BestThreshold<Format> best(total, format, terms, direction);
    if (best.too_small()) return {};
    Cell below[kCells];
    uint8_t bin[kCells];
    int occupied = 0;
    Cell sum{};
    cells.for_each(n_bins, [&](int code, const Cell& cell) {
        sum += cell;
        below[occupied] = sum;
        bin[occupied] = static_cast<uint8_t>(code);
        occupied += cell != Cell{};
    });
    const Cell missing = total - sum;
    const bool has_missing = missing != Cell{};
    const MissingSide side = has_missing ? kMissingRight : kMissingUnseen;
    for (int k = 0; k + 1 < occupied; ++k) best.offer(below[k], bin[k], side);
    // All values against missing values, to which monotone constraints do not apply.
    if (occupied > 0) best.offer_unconstrained(below[occupied - 1], bin[occupied - 1], side);
    if (has_missing)
        for (int k = 0; k + 1 < occupied; ++k) best.offer(below[k] + missing, bin[k], kMissingLeft);
    Split<Cell> split = best.split();
    // A node without missing values sends them to the larger side. This is decided here, once: rows of weight
    // 0 may still be missing, and must go where the finished tree sends them.
    if (!has_missing && split.bin >= 0)
        split.missing_side =
            2 * format.count(split.left) >= format.count(total) ? kMissingLeft : kMissingRight;
    return split;
}

// Returns the gain of the best split of a histogram without missing values, with at most kCells codes; -inf
// if there is none. Made for many short histograms: it has no branches, and its division loop is vectorised.
template <class Format>
inline double best_gain(const typename Format::Cell* cells, int n_codes, const typename Format::Cell& total,
                        Format format, SideTerms terms) {
    const double count = static_cast<double>(format.count(total)),
                 g = static_cast<double>(format.gradient(total));
    const double fewest = static_cast<double>(terms.min_leaf), most = count - fewest;
    const double n = count + 2.0 * terms.l2;
    double rows[kCells], sums[kCells];
    typename Format::Cell left{};
    for (int b = 0; b < n_codes; ++b) {
        left += cells[b];
        rows[b] = static_cast<double>(format.count(left));
        sums[b] = static_cast<double>(format.gradient(left));
    }
    double best = 0.0;
    for (int b = 0; b < n_codes; ++b) {
        const double n_left = rows[b] + terms.l2;
        const double d = sums[b] * n - g * n_left;
        const double ratio = d * d / (n_left * (n - n_left));
        // A comparison with NaN, which an empty side gives, is false.
        const double valid = ((rows[b] >= fewest) & (rows[b] <= most)) ? ratio : 0.0;
        best = valid > best ? valid : best;
    }
    const double gain = best / n - loss_of_two(g, n, terms.l2);
    return gain > 0.0 ? gain : -std::numeric_limits<double>::infinity();
}

}  // namespace gtgbm
