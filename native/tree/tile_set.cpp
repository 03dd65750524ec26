#include "tree/tile_set.hpp"

#include <utility>

namespace gtgbm {

TileColumns::TileColumns(Array<const int32_t, 1> n_bins, Array<const uint8_t, 1> use,
                         Array<const int32_t, 1> category_row, Array<const uint8_t, 2> category_use,
                         Array<const double, 1> price)
    : n_bins_(std::move(n_bins)),
      use_(std::move(use)),
      category_row_(std::move(category_row)),
      category_use_(std::move(category_use)),
      price_(std::move(price)) {
    const size_t columns = n_bins_.shape(0);
    require(use_.shape(0) == columns && category_row_.shape(0) == columns,
            "TileColumns: n_bins, use and category_row must have the same length");
    require(price_.shape(0) == columns || price_.shape(0) == 0, "TileColumns: one price per column, or none");
    require(category_use_.shape(1) == kCells, "TileColumns: category_use must have 256 codes per row");
    for (size_t c = 0; c < columns; ++c) {
        require(n_bins_.data()[c] <= kMissingCell, "TileColumns: at most 255 bins");
        require(use_.data()[c] <= (kUseMask | kRising | kFalling), "TileColumns: use must be 0 .. 15");
        require((use_.data()[c] & kUseMask) != kCategorical ||
                    (0 <= category_row_.data()[c] &&
                     category_row_.data()[c] < static_cast<int64_t>(category_use_.shape(0))),
                "TileColumns: category_row out of range");
    }
}

TileSet::TileSet(Array<const uint8_t, 3> codes_, Array<const int64_t, 1> widths_, TileColumns columns_)
    : codes(std::move(codes_)), widths(std::move(widths_)), columns(std::move(columns_)) {
    const size_t tiles = codes.shape(0);
    require(codes.shape(2) == kLanes && columns.size() <= static_cast<int64_t>(tiles) * kLanes,
            "TileSet: codes must have shape (tiles, rows, 8), with a place for every column");
    require(widths.shape(0) == tiles, "TileSet: one width per tile");
    for (size_t tile = 0; tile < tiles; ++tile)
        require(1 <= widths.data()[tile] && widths.data()[tile] <= kCells,
                "TileSet: a width must be in 1 .. 256");
    const ScannedColumns scanned = columns.scanned();
    for (int64_t c = 0; c < columns.size(); ++c)
        require(scanned.n_bins[c] <= widths.data()[c / kLanes], "TileSet: more bins than cells");
}

}  // namespace gtgbm
