// Tiles of codes and what their columns are to a scan, checked once and then handed from kernel to kernel.
#pragma once

#include "support/arrays.hpp"
#include "tree/scan.hpp"

namespace gtgbm {

// What the columns of some tiles are to a scan (see scan.hpp). Keeps the arrays alive.
class TileColumns {
  public:
    TileColumns(Array<const int32_t, 1> n_bins,         // in  (columns,), at most 255
                Array<const uint8_t, 1> use,            // in  (columns,), of Use, with a direction or without
                Array<const int32_t, 1> category_row,   // in  (columns,), of category_use, -1 for numbers
                Array<const uint8_t, 2> category_use);  // in  (categorical columns, 256), of Use

    int64_t size() const { return static_cast<int64_t>(n_bins_.shape(0)); }
    ScannedColumns scanned() const {
        return {n_bins_.data(), use_.data(), category_row_.data(), category_use_.data()};
    }

  private:
    Array<const int32_t, 1> n_bins_;
    Array<const uint8_t, 1> use_;
    Array<const int32_t, 1> category_row_;
    Array<const uint8_t, 2> category_use_;
};

// Codes of columns, eight interleaved in each tile. Histograms of tile t need widths[t] cells per column:
// none of its codes may be larger.
struct TileSet {
    TileSet(Array<const uint8_t, 3> codes,   // in  (tiles, rows, 8)
            Array<const int64_t, 1> widths,  // in  (tiles,)
            TileColumns columns);

    Array<const uint8_t, 3> codes;
    Array<const int64_t, 1> widths;
    TileColumns columns;
};

}  // namespace gtgbm
