// Best splits of a node over many columns: the best on owned features and the best on new features.
#pragma once

#include <cstdint>
#include <limits>

#include "tree/cells.hpp"
#include "tree/screening.hpp"

namespace gtgbm {

// How a scan uses a column, or one category of a categorical column.
enum Use : uint8_t { kSkipped = 0, kNew = 1, kOwned = 2, kCategorical = 3 };
// Monotone constraint, added to kNew or kOwned: predictions must not fall, or not rise, with the column.
constexpr uint8_t kUseMask = 3, kRising = 4, kFalling = 8;

inline double direction_of(uint8_t use) {
    return (use & kRising) != 0 ? 1.0 : (use & kFalling) != 0 ? -1.0 : 0.0;
}

// The columns of some tiles. Each category of a categorical column is a feature of its own: a row of
// `category_use` holds the Use of each code, and a split sends one code to the right and all others to the
// left. `price` is what the first use of each column costs, in units of gain; nullptr: the same for all.
struct ScannedColumns {
    const int32_t* n_bins;
    const uint8_t* use;
    const int32_t* category_row;
    const uint8_t* category_use;
    const double* price = nullptr;

    double price_of(int64_t column) const { return price == nullptr ? 0.0 : price[column]; }
};

// The best split so far, with its column: the one with the largest gain after the price of the column.
template <class Cell>
struct BestSplit {
    double net = -std::numeric_limits<double>::infinity();
    double gain = -std::numeric_limits<double>::infinity();
    int32_t column = -1, bin = -1, missing_side = kMissingUnseen;
    Cell left{};  // cell sum of the left side

    // Ties go to the split that was offered first.
    void offer(const Split<Cell>& split, int32_t in_column, double price = 0.0) {
        if (split.gain - price > net) {
            net = split.gain - price;
            gain = split.gain;
            column = in_column;
            bin = split.bin;
            missing_side = split.missing_side;
            left = split.left;
        }
    }
    void offer(const BestSplit& other) {
        if (other.net > net) *this = other;
    }
};

template <class Cell>
struct NodeSplits {
    BestSplit<Cell> owned, fresh;

    void offer(const NodeSplits& other) {
        owned.offer(other.owned);
        fresh.offer(other.fresh);
    }
};

template <class Cells, class Format, class Cell = typename Format::Cell>
inline void scan_categories(const Cells& cells, const uint8_t* use, int32_t column, int n_codes,
                            const Cell& total, Format format, SideTerms terms, double price,
                            NodeSplits<Cell>& best) {
    BestThreshold<Format> owned(total, format, terms), fresh(total, format, terms);
    cells.for_each(n_codes, [&](int32_t code, const Cell& cell) {
        if (use[code] == kOwned) owned.offer(total - cell, code, kMissingUnseen);
        if (use[code] == kNew) fresh.offer(total - cell, code, kMissingUnseen);
    });
    best.owned.offer(owned.split(), column);
    best.fresh.offer(fresh.split(), column, price);
}

// Fewer bins are faster scanned than screened, as are all without AVX-512, which converts 64-bit integers.
constexpr int kFewestScreened = 16;

// Whether a column may have a split that gains more than `gain`; false positives are allowed.
template <class Format, class Cell = typename Format::Cell>
inline bool may_gain_more(const AllCells<Cell>& cells, int n_bins, const Cell& total, Format format,
                          SideTerms terms, double gain) {
    if (n_bins < kFewestScreened || !(gain > 0.0) || instructions() != Instructions::kAvx512) return true;
    bool is_above;
    run_vectorised<MayGainMore>(cells.cells, n_bins, total, format, terms, gain, &is_above);
    return is_above;
}
template <class Format, class Cell = typename Format::Cell>
inline bool may_gain_more(const MarkedCells<Cell>&, int, const Cell&, Format, SideTerms, double) {
    return true;
}

// Scans columns [first, last); cells_of(k) are the cells of column first + k.
template <class CellsOf, class Format, class Cell = typename Format::Cell>
inline void scan_columns(const CellsOf& cells_of, const ScannedColumns& columns, int64_t first, int64_t last,
                         const Cell& total, Format format, SideTerms terms, NodeSplits<Cell>& best) {
    for (int64_t c = first; c < last; ++c) {
        const auto cells = cells_of(c - first);
        const auto column = static_cast<int32_t>(c);
        const int n_bins = columns.n_bins[c];
        const uint8_t use = columns.use[c] & kUseMask;
        if (use == kCategorical) {
            scan_categories(cells, columns.category_use + int64_t{columns.category_row[c]} * kCells, column,
                            n_bins, total, format, terms, columns.price_of(c), best);
        } else if (use != kSkipped) {
            const double price = use == kOwned ? 0.0 : columns.price_of(c);
            BestSplit<Cell>& rival = use == kOwned ? best.owned : best.fresh;
            if (!may_gain_more(cells, n_bins, total, format, terms, rival.net + price)) continue;
            rival.offer(best_split(cells, n_bins, total, format, terms, direction_of(columns.use[c])), column,
                        price);
        }
    }
}

// The same for columns whose histograms of `width` cells each are contiguous.
template <class Format, class Cell = typename Format::Cell>
inline void scan_columns(const Cell* hist, int64_t width, const ScannedColumns& columns, int64_t first,
                         int64_t last, const Cell& total, Format format, SideTerms terms,
                         NodeSplits<Cell>& best) {
    scan_columns([=](int64_t k) { return AllCells<Cell>{hist + k * width}; }, columns, first, last, total,
                 format, terms, best);
}

}  // namespace gtgbm
