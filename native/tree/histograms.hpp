#pragma once

#include "support/arrays.hpp"
#include "support/pool.hpp"
#include "tree/tile_set.hpp"

namespace gtgbm {

// Histograms of row ranges over tiles of eight interleaved columns.
// For job k: hist[slot[k]][t] over rows[begin[k] .. end[k]) for tiles first_tile <= t < last_tile.
void build_histograms(Pool& pool, Array<const uint8_t, 3> codes,  // in  (tiles, n, 8)
                      Array<const int32_t, 1> rows,               // in  row ids, node after node
                      Array<const int64_t, 1> cells,              // in  packed gradients by row
                      Array<const int64_t, 1> begin, Array<const int64_t, 1> end,
                      Array<const int64_t, 1> slot, int64_t first_tile, int64_t last_tile,
                      Array<int64_t, 1> ordered,  // scratch as long as rows
                      Array<int64_t, 4> hist);    // out (slots, tiles, 8, 256)

// hist[slot[k]] = parents[parent[k]] - hist[sibling[k]] for the first n_cells cells; one row per histogram.
void subtract_histograms(Pool& pool, Array<const int64_t, 2> parents, Array<const int64_t, 1> parent,
                         Array<const int64_t, 1> sibling, Array<const int64_t, 1> slot, int64_t n_cells,
                         Array<int64_t, 2> hist);

// Best split of every node, over owned features and over new ones. gain (nodes, 2): owned, new, in squared
// fixed-point units (-inf: none). where (nodes, 2, 3): column, bin, and the side of missing values
// (MissingSide). Numbers go left up to the bin; a category goes right, all others left.
void scan_histograms(Pool& pool, const TileColumns& columns,
                     Array<const int64_t, 4> hist,  // in  (slots, tiles, 8, 256)
                     Array<const int64_t, 1> slot, Array<const int64_t, 1> total,  // in  (nodes,)
                     int count_bits, int64_t min_leaf,                             // in
                     Array<double, 2> gain, Array<int32_t, 3> where);              // out

// Best split of single columns at single nodes: pair k asks for column[k] over rows[begin[k] .. end[k]).
// hist receives the pair's histogram, so that many machines can add theirs before scan_pair_histograms.
void build_pair_histograms(Pool& pool, Array<const uint8_t, 2> codes, Array<const int64_t, 1> column,
                           Array<const int32_t, 1> rows, Array<const int64_t, 1> cells,
                           Array<const int64_t, 1> begin, Array<const int64_t, 1> end,
                           Array<int64_t, 2> hist);

void scan_pair_histograms(Pool& pool, Array<const int64_t, 2> hist, Array<const int32_t, 1> n_bins,
                          Array<const uint8_t, 1> use, Array<const int64_t, 1> total, int count_bits,
                          int64_t min_leaf, Array<double, 1> gain, Array<int32_t, 1> bin,
                          Array<int32_t, 1> missing_side);

}  // namespace gtgbm
