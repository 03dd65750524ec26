// The exact histogram cell, a gradient sum and a row count in one 64-bit integer, and the best split of a
// histogram of such cells.
//
// A row of integer weight w contributes (w q << count_bits) + w, where q is its fixed-point gradient: the
// same as w rows of weight 1. Integer sums do not depend on their order, so splits depend neither on the
// number of threads nor on how rows are divided among machines. Counts of rows are sums of weights.
#pragma once

#include <cstdint>
#include <limits>

#include "support/codes.hpp"
#include "support/compiler.hpp"

namespace gtgbm {

struct CellFormat {
    int count_bits;

    int64_t count(int64_t cell) const { return cell & ((int64_t{1} << count_bits) - 1); }
    // An arithmetic shift rounds towards minus infinity, which removes the count exactly.
    int64_t gradient(int64_t cell) const { return cell >> count_bits; }

    // Adds w q^2 of one row's cell to high * 2^32 + low.
    void add_squares(int64_t cell, int64_t& high, int64_t& low) const {
        const int64_t weight = count(cell), sum = gradient(cell);
        const int64_t q = weight > 1 ? sum / weight : sum;
        high += ((q * q) >> 32) * weight;
        low += ((q * q) & 0xffffffff) * weight;
    }
};

// The child that missing values go to. Unseen: there is no split, or it is on a category, whose rule says
// where missing values go.
enum MissingSide : int32_t { kMissingRight = 0, kMissingLeft = 1, kMissingUnseen = 2 };

// Conditions on the sides of a split, in units of the counts of cells: the fewest rows, and the L2
// regularization that is added to the count of a side wherever its mean is computed.
struct SideTerms {
    int64_t min_leaf;
    double l2;
};

struct Split {
    double gain = -std::numeric_limits<double>::infinity();  // in squared fixed-point units
    int32_t bin = -1;                                        // codes <= bin go left
    int32_t missing_side = kMissingUnseen;
    int64_t left = 0;  // cell sum of the left side
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
class BestThreshold {
  public:
    // direction is a monotone constraint. 1: the value of the left side must not be above that of the right
    // side, -1: must not be below, 0: no constraint.
    BestThreshold(int64_t total, CellFormat format, SideTerms terms, double direction = 0.0)
        : format_(format),
          terms_(terms),
          direction_(direction),
          rows_(format.count(total)),
          n_(static_cast<double>(rows_) + 2.0 * terms.l2),
          g_(static_cast<double>(format.gradient(total))) {}

    void offer(int64_t left, int32_t bin, MissingSide side) { offer_with(left, bin, side, direction_); }
    void offer_unconstrained(int64_t left, int32_t bin, MissingSide side) {
        offer_with(left, bin, side, 0.0);
    }

    bool too_small() const { return rows_ < 2 * terms_.min_leaf; }

    Split split() const {
        if (bin_ < 0) return {};
        const double gain = best_numerator_ / best_denominator_ / n_ - loss_of_two(g_, n_, terms_.l2);
        if (!(gain > 0.0)) return {};
        return {gain, bin_, side_, left_};
    }

  private:
    void offer_with(int64_t left, int32_t bin, MissingSide side, double direction) {
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

    CellFormat format_;
    SideTerms terms_;
    double direction_;
    int64_t rows_;
    double n_, g_;  // n_ is the regularized count of both sides together
    double best_numerator_ = 0.0, best_denominator_ = 1.0;
    int32_t bin_ = -1;
    MissingSide side_ = kMissingUnseen;
    int64_t left_ = 0;
};

// The cells of one column's histogram at one node.
struct AllCells {
    const int64_t* cells;

    // Calls body(code, cell) for every code below n_codes, ascending.
    template <class F>
    void for_each(int n_codes, F&& body) const {
        for (int code = 0; code < n_codes; ++code) body(code, cells[code]);
    }
};

// The same for a node of few rows, with a bit set for every code that any of its rows has.
struct MarkedCells {
    static constexpr int kWords = kCells / 64;

    const int64_t* cells;
    const uint64_t* marks;  // (kWords,)

    // Calls body(code, cell) for the marked codes below n_codes, ascending.
    template <class F>
    void for_each(int n_codes, F&& body) const {
        for (int word = 0; word < kWords; ++word)
            for (uint64_t left = marks[word]; left != 0; left &= left - 1) {
                const int code = word * 64 + lowest_bit(left);
                if (code < n_codes) body(code, cells[code]);
            }
    }
};

// Returns the best split of one column at one node. Empty cells are dropped first: they give the same
// partition as the cell before, and small nodes have far fewer occupied cells than bins. Ties go to missing
// values on the right, then to the lower bin.
template <class Cells>
inline Split best_split(const Cells& cells, int n_bins, int64_t total, CellFormat format, SideTerms terms,
                        double direction = 0.0) {
    BestThreshold best(total, format, terms, direction);
    if (best.too_small()) return {};
    int64_t below[kCells];
    uint8_t bin[kCells];
    int occupied = 0;
    int64_t sum = 0;
    cells.for_each(n_bins, [&](int code, int64_t cell) {
        sum += cell;
        below[occupied] = sum;
        bin[occupied] = static_cast<uint8_t>(code);
        occupied += cell != 0;
    });
    const int64_t missing = total - sum;
    const MissingSide side = missing != 0 ? kMissingRight : kMissingUnseen;
    for (int k = 0; k + 1 < occupied; ++k) best.offer(below[k], bin[k], side);
    // All values against missing values, to which monotone constraints do not apply.
    if (occupied > 0) best.offer_unconstrained(below[occupied - 1], bin[occupied - 1], side);
    if (missing != 0)
        for (int k = 0; k + 1 < occupied; ++k) best.offer(below[k] + missing, bin[k], kMissingLeft);
    Split split = best.split();
    // A node without missing values sends them to the larger side. This is decided here, once: rows of weight
    // 0 may still be missing, and must go where the finished tree sends them.
    if (missing == 0 && split.bin >= 0)
        split.missing_side =
            2 * format.count(split.left) >= format.count(total) ? kMissingLeft : kMissingRight;
    return split;
}

// Returns the gain of the best split of a histogram without missing values, with at most kCells codes; -inf
// if there is none. Made for many short histograms: it has no branches, and its division loop is vectorised.
inline double best_gain(const int64_t* cells, int n_codes, int64_t total, CellFormat format,
                        SideTerms terms) {
    const double count = static_cast<double>(format.count(total)),
                 g = static_cast<double>(format.gradient(total));
    const double fewest = static_cast<double>(terms.min_leaf), most = count - fewest;
    const double n = count + 2.0 * terms.l2;
    double rows[kCells], sums[kCells];
    int64_t left = 0;
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
