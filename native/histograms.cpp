#include "histograms.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cells.hpp"
#include "histogram_kernel.hpp"

namespace gtgbm {
namespace {

constexpr int64_t kTile = int64_t{kLanes} * kCells;  // cells of one tile's histogram

void require_ranges(const Array<const int64_t, 1>& begin, const Array<const int64_t, 1>& end, size_t n_rows,
                    size_t n_cells) {
    require(begin.shape(0) == end.shape(0), "histograms: begin and end must have the same length");
    require(n_rows == n_cells, "histograms: rows and cells must have the same length");
    for (size_t k = 0; k < begin.shape(0); ++k)
        require(0 <= begin.data()[k] && begin.data()[k] <= end.data()[k] &&
                    end.data()[k] <= static_cast<int64_t>(n_rows),
                "histograms: range outside the rows");
}

void require_hist(const Array<int64_t, 4>& hist, int64_t tiles) {
    require(
        static_cast<int64_t>(hist.shape(1)) >= tiles && hist.shape(2) == kLanes && hist.shape(3) == kCells,
        "histograms: hist must have shape (slots, tiles, 8, 256)");
}

int64_t total_rows(const Array<const int64_t, 1>& begin, const Array<const int64_t, 1>& end) {
    int64_t rows = 0;
    for (size_t k = 0; k < begin.shape(0); ++k) rows += end.data()[k] - begin.data()[k];
    return rows;
}

}  // namespace

void build_histograms(Pool& pool, Array<const uint8_t, 3> codes, Array<const int32_t, 1> rows,
                      Array<const int64_t, 1> cells, Array<const int64_t, 1> begin,
                      Array<const int64_t, 1> end, Array<const int64_t, 1> slot, int64_t first_tile,
                      int64_t last_tile, Array<int64_t, 4> hist) {
    const int64_t n = static_cast<int64_t>(codes.shape(1)), jobs = static_cast<int64_t>(begin.shape(0));
    const int64_t tiles = last_tile - first_tile, slot_size = static_cast<int64_t>(hist.shape(1)) * kTile;
    require_ranges(begin, end, rows.shape(0), cells.shape(0));
    require_hist(hist, last_tile);
    require_below(slot, static_cast<int64_t>(hist.shape(0)), "build_histograms: slot out of range");
    require(slot.shape(0) == begin.shape(0), "build_histograms: one slot per job");
    require(rows.shape(0) <= codes.shape(1), "build_histograms: more rows than codes");
    require(codes.shape(2) == kLanes && 0 <= first_tile && first_tile <= last_tile &&
                last_tile <= static_cast<int64_t>(codes.shape(0)),
            "build_histograms: codes must have shape (tiles, rows, 8)");
    if (tiles == 0) return;
    pool.run(tiles * jobs, total_rows(begin, end) * tiles * 4, [&](int64_t task, int) {
        const int64_t tile = first_tile + task / jobs, job = task % jobs;
        int64_t* out = hist.data() + slot.data()[job] * slot_size + tile * kTile;
        std::memset(out, 0, kTile * sizeof(int64_t));
        add_rows<kLanes>(codes.data() + tile * n * kLanes, rows.data(), cells.data(), begin.data()[job],
                         end.data()[job], kCells, out);
    });
}

void subtract_histograms(Pool& pool, Array<const int64_t, 4> parents, Array<const int64_t, 1> parent,
                         Array<const int64_t, 1> sibling, Array<const int64_t, 1> slot, int64_t n_tiles,
                         Array<int64_t, 4> hist) {
    const int64_t jobs = static_cast<int64_t>(slot.shape(0));
    const int64_t slot_size = static_cast<int64_t>(hist.shape(1)) * kTile;
    const int64_t parent_size = static_cast<int64_t>(parents.shape(1)) * kTile;
    require_hist(hist, n_tiles);
    require(static_cast<int64_t>(parents.shape(1)) >= n_tiles && parents.shape(2) == kLanes &&
                parents.shape(3) == kCells,
            "subtract_histograms: parents must have shape (slots, tiles, 8, 256)");
    require(parent.shape(0) == slot.shape(0) && sibling.shape(0) == slot.shape(0),
            "subtract_histograms: parent, sibling and slot must have the same length");
    require_below(parent, static_cast<int64_t>(parents.shape(0)), "subtract_histograms: parent out of range");
    require_below(sibling, static_cast<int64_t>(hist.shape(0)), "subtract_histograms: sibling out of range");
    require_below(slot, static_cast<int64_t>(hist.shape(0)), "subtract_histograms: slot out of range");
    pool.run(jobs * n_tiles, jobs * n_tiles * kTile / 2, [&](int64_t task, int) {
        const int64_t job = task / n_tiles, tile = task % n_tiles;
        const int64_t* whole = parents.data() + parent.data()[job] * parent_size + tile * kTile;
        const int64_t* other = hist.data() + sibling.data()[job] * slot_size + tile * kTile;
        int64_t* out = hist.data() + slot.data()[job] * slot_size + tile * kTile;
        for (int64_t i = 0; i < kTile; ++i) out[i] = whole[i] - other[i];
    });
}

void scan_histograms(Pool& pool, Array<const int64_t, 4> hist, Array<const int32_t, 1> n_bins,
                     Array<const int64_t, 1> slot, Array<const int64_t, 1> total, int count_bits,
                     int64_t min_leaf, Array<double, 2> gain, Array<int32_t, 2> bin,
                     Array<int32_t, 2> missing_side) {
    const int64_t nodes = static_cast<int64_t>(slot.shape(0)),
                  columns = static_cast<int64_t>(n_bins.shape(0));
    const int64_t slot_size = static_cast<int64_t>(hist.shape(1)) * kTile;
    require(static_cast<int64_t>(hist.shape(1)) * kLanes >= columns && hist.shape(2) == kLanes &&
                hist.shape(3) == kCells,
            "scan_histograms: hist must have shape (slots, tiles, 8, 256)");
    require(total.shape(0) == slot.shape(0) && gain.shape(0) == slot.shape(0) &&
                gain.shape(1) == n_bins.shape(0) && bin.shape(0) == slot.shape(0) &&
                bin.shape(1) == n_bins.shape(0) && missing_side.shape(0) == slot.shape(0) &&
                missing_side.shape(1) == n_bins.shape(0),
            "scan_histograms: outputs must have shape (nodes, columns)");
    require_below(slot, static_cast<int64_t>(hist.shape(0)), "scan_histograms: slot out of range");
    for (int64_t c = 0; c < columns; ++c)
        require(n_bins.data()[c] <= kMissingCell, "scan_histograms: at most 255 bins");
    const CellFormat format{count_bits};
    const int64_t blocks = (columns + kLanes - 1) / kLanes;
    pool.run(nodes * blocks, nodes * columns * kCells, [&](int64_t task, int) {
        const int64_t node = task / blocks, first = task % blocks * kLanes;
        const int64_t last = std::min(first + kLanes, columns);
        for (int64_t c = first; c < last; ++c) {
            const Split split = best_split(hist.data() + slot.data()[node] * slot_size + c * kCells,
                                           n_bins.data()[c], total.data()[node], format, min_leaf);
            gain.data()[node * columns + c] = split.gain;
            bin.data()[node * columns + c] = split.bin;
            missing_side.data()[node * columns + c] = split.missing_side;
        }
    });
}

void build_pair_histograms(Pool& pool, Array<const uint8_t, 2> codes, Array<const int64_t, 1> column,
                           Array<const int32_t, 1> rows, Array<const int64_t, 1> cells,
                           Array<const int64_t, 1> begin, Array<const int64_t, 1> end,
                           Array<int64_t, 2> hist) {
    require_ranges(begin, end, rows.shape(0), cells.shape(0));
    require(column.shape(0) == begin.shape(0) && hist.shape(0) == begin.shape(0) && hist.shape(1) == kCells,
            "build_pair_histograms: hist must have shape (pairs, 256)");
    require_below(column, static_cast<int64_t>(codes.shape(0)), "build_pair_histograms: column out of range");
    require(rows.shape(0) <= codes.shape(1), "build_pair_histograms: more rows than codes");
    pool.run(static_cast<int64_t>(begin.shape(0)), total_rows(begin, end) * 3, [&](int64_t pair, int) {
        int64_t* out = hist.data() + pair * kCells;
        std::memset(out, 0, kCells * sizeof(int64_t));
        add_rows<1>(codes.data() + column.data()[pair] * static_cast<int64_t>(codes.shape(1)), rows.data(),
                    cells.data(), begin.data()[pair], end.data()[pair], kCells, out);
    });
}

void scan_pair_histograms(Pool& pool, Array<const int64_t, 2> hist, Array<const int32_t, 1> n_bins,
                          Array<const int64_t, 1> total, int count_bits, int64_t min_leaf,
                          Array<double, 1> gain, Array<int32_t, 1> bin, Array<int32_t, 1> missing_side) {
    const size_t pairs = hist.shape(0);
    require(hist.shape(1) == kCells && n_bins.shape(0) == pairs && total.shape(0) == pairs &&
                gain.shape(0) == pairs && bin.shape(0) == pairs && missing_side.shape(0) == pairs,
            "scan_pair_histograms: one entry per pair");
    for (size_t pair = 0; pair < pairs; ++pair)
        require(n_bins.data()[pair] <= kMissingCell, "scan_pair_histograms: at most 255 bins");
    const CellFormat format{count_bits};
    pool.run(static_cast<int64_t>(pairs), static_cast<int64_t>(pairs) * kCells, [&](int64_t pair, int) {
        const Split split = best_split(hist.data() + pair * kCells, n_bins.data()[pair], total.data()[pair],
                                       format, min_leaf);
        gain.data()[pair] = split.gain;
        bin.data()[pair] = split.bin;
        missing_side.data()[pair] = split.missing_side;
    });
}

}  // namespace gtgbm
