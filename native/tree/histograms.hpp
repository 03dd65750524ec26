#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"
#include "tree/tile_set.hpp"

namespace gtgbm {

// Cells are as in cell_format.hpp, and `width` is what its CellFormat says: the numbers of a cell.

// Builds the histograms of row ranges for tiles of eight interleaved columns: hist[slot[k]][t] is that of
// rows[begin[k] .. end[k]), for each job k and the tiles first_tile <= t < last_tile.
void build_histograms(Pool& pool, Array<const uint8_t, 3> codes,  // in  (tiles, n, 8)
                      Array<const int32_t, 1> rows,               // in  row ids, node by node
                      Array<const int64_t, 1> cells,              // in  by row
                      Array<const int64_t, 1> begin, Array<const int64_t, 1> end,       // in  (jobs,)
                      Array<const int64_t, 1> slot,                                     // in  (jobs,)
                      int64_t first_tile, int64_t last_tile, const CellFormat& format,  // in
                      Array<int64_t, 1> ordered,                                        // scratch (rows,)
                      Array<int64_t, 4> hist);  // out (slots, tiles, 8, 256 * width)

// Histogram subtraction: hist[slot[k]] = parents[parent[k]] - hist[sibling[k]] for the first n_cells cells.
void subtract_histograms(Pool& pool, Array<const int64_t, 2> parents,  // in  (slots, cells)
                         Array<const int64_t, 1> parent, Array<const int64_t, 1> sibling,  // in
                         Array<const int64_t, 1> slot, int64_t n_cells,                    // in
                         Array<int64_t, 2> hist);  // in and out (slots, cells)

// Finds the best splits of every node: on owned features (index 0) and on new features (index 1). Gains are
// in squared fixed-point units, -inf if there is no split. `where` holds the column, the bin and the side of
// missing values (MissingSide). Numeric codes up to the bin go left; of a categorical column, the code `bin`
// goes right and all others left. l2 is the regularization in units of the counts, here and below.
void scan_histograms(Pool& pool, const TileColumns& columns,
                     Array<const int64_t, 4> hist,   // in  (slots, tiles, 8, 256 * width)
                     Array<const int64_t, 1> slot,   // in  (nodes,)
                     Array<const int64_t, 2> total,  // in  (nodes, 2), gradient and count
                     const CellFormat& format, int64_t min_leaf, double l2,  // in
                     Array<double, 2> gain,                                  // out (nodes, 2)
                     Array<int32_t, 3> where);                               // out (nodes, 2, 3)

// Builds the histograms of pairs of one column and one node: pair k is column[k] at rows[begin[k] .. end[k]).
// Building and scanning are separate, so that several machines can add up their histograms in between.
void build_pair_histograms(Pool& pool, Array<const uint8_t, 2> codes,                   // in  (columns, n)
                           Array<const int64_t, 1> column,                              // in  (pairs,)
                           Array<const int32_t, 1> rows,                                // in  row ids
                           Array<const int64_t, 1> cells,                               // in  by row
                           Array<const int64_t, 1> begin, Array<const int64_t, 1> end,  // in  (pairs,)
                           const CellFormat& format,                                    // in
                           Array<int64_t, 2> hist);  // out (pairs, 256 * width)

// Finds the best split of each pair.
void scan_pair_histograms(
    Pool& pool, Array<const int64_t, 2> hist,  // in  (pairs, 256 * width)
    Array<const int32_t, 1> n_bins,            // in  (pairs,)
    Array<const uint8_t, 1> use,               // in  (pairs,), monotone constraint: 0, kRising, kFalling
    Array<const int64_t, 2> total,             // in  (pairs, 2), gradient and count
    const CellFormat& format, int64_t min_leaf, double l2,   // in
    Array<double, 1> gain,                                   // out (pairs,), -inf: no split
    Array<int32_t, 1> bin, Array<int32_t, 1> missing_side);  // out (pairs,)

}  // namespace gtgbm
