// Tiles of codes, and how a scan uses their columns; checked once and then passed to several kernels.
#pragma once

#include "support/arrays.hpp"
#include "tree/scan.hpp"

namespace gtgbm {

// How a scan uses the columns of some tiles (see scan.hpp). Keeps the arrays alive.
class TileColumns {
  public:
    TileColumns(Array<const int32_t, 1> n_bins,        // in  (columns,), at most 255
                Array<const uint8_t, 1> use,           // in  (columns,), Use and monotone constraint
                Array<const int32_t, 1> category_row,  // in  (columns,), row of category_use or -1
                Array<const uint8_t, 2> category_use,  // in  (categorical columns, 256), of Use
                Array<const double, 1> price);         // in  (columns,), or (0,): the same for all

    int64_t size() const { return static_cast<int64_t>(n_bins_.shape(0)); }
    ScannedColumns scanned() const {
        return {n_bins_.data(), use_.data(), category_row_.data(), category_use_.data(),
                price_.shape(0) == 0 ? nullptr : price_.data()};
    }

  private:
    Array<const int32_t, 1> n_bins_;
    Array<const uint8_t, 1> use_;
    Array<const int32_t, 1> category_row_;
    Array<const uint8_t, 2> category_use_;
    Array<const double, 1> price_;
};

// Codes of columns, with eight columns interleaved in each tile. Histograms of tile t have widths[t] cells
// per column, so its codes must be smaller than that.
struct TileSet {
    TileSet(Array<const uint8_t, 3> codes,   // in  (tiles, rows, 8)
            Array<const int64_t, 1> widths,  // in  (tiles,)
            TileColumns columns);            // in

    Array<const uint8_t, 3> codes;
    Array<const int64_t, 1> widths;
    TileColumns columns;
};

}  // namespace gtgbm
