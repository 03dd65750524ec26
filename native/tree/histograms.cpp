#include "tree/histograms.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "tree/cells.hpp"
#include "tree/histogram_kernel.hpp"
#include "tree/scan.hpp"

namespace gtgbm {
namespace {

constexpr int64_t kTile = int64_t{kLanes} * kCells;  // cells of one tile's histogram
constexpr int64_t kChunk = 16384;                    // fewest rows of a chunk

struct Chunk {
    int64_t job, begin, end;
    int64_t beside;  // index of the extra histogram to fill, -1 for the result itself
};

void require_ranges(const Array<const int64_t, 1>& begin, const Array<const int64_t, 1>& end, size_t n_rows,
                    size_t n_cells) {
    require(begin.shape(0) == end.shape(0), "histograms: begin and end must have the same length");
    require(n_rows == n_cells, "histograms: rows and cells must have the same length");
    for (size_t k = 0; k < begin.shape(0); ++k)
        require(0 <= begin.data()[k] && begin.data()[k] <= end.data()[k] &&
                    end.data()[k] <= static_cast<int64_t>(n_rows),
                "histograms: range outside the rows");
}

template <class T>
void require_hist(const Array<T, 4>& hist, int64_t tiles, const CellFormat& format) {
    require(static_cast<int64_t>(hist.shape(1)) >= tiles && hist.shape(2) == kLanes &&
                static_cast<int64_t>(hist.shape(3)) == kCells * format.width(),
            "histograms: hist must have shape (slots, tiles, 8, 256), or 512 with wide cells");
}

int64_t total_rows(const Array<const int64_t, 1>& begin, const Array<const int64_t, 1>& end) {
    int64_t rows = 0;
    for (size_t k = 0; k < begin.shape(0); ++k) rows += end.data()[k] - begin.data()[k];
    return rows;
}

// build_histograms of cells of one format.
template <class Format>
void build(Pool& pool, const Array<const uint8_t, 3>& codes, const Array<const int32_t, 1>& rows,
           const Array<const int64_t, 1>& cells, const Array<const int64_t, 1>& begin,
           const Array<const int64_t, 1>& end, const Array<const int64_t, 1>& slot, int64_t first_tile,
           int64_t last_tile, Format format, const Array<int64_t, 1>& ordered,
           const Array<int64_t, 4>& hist) {
    using Cell = typename Format::Cell;
    const int64_t n = static_cast<int64_t>(codes.shape(1)), jobs = static_cast<int64_t>(begin.shape(0));
    const int64_t tiles = last_tile - first_tile, slot_size = static_cast<int64_t>(hist.shape(1)) * kTile;
    // If there are too few tiles and nodes to keep all threads busy, long ranges are divided into chunks, one
    // for each thread. The first chunk of a job writes to the result, the others to extra histograms that are
    // added afterwards.
    std::vector<Chunk> chunks;
    int64_t extra = 0;
    for (int64_t job = 0; job < jobs; ++job) {
        const int64_t from = begin.data()[job], to = end.data()[job];
        const int64_t parts = tiles * jobs >= 4 * pool.size() ? 1 : pool.size();
        const int64_t length = std::max(kChunk, (to - from + parts - 1) / parts);
        chunks.push_back({job, from, parts == 1 ? to : std::min(from + length, to), -1});
        for (int64_t at = chunks.back().end; at < to; at += length)
            chunks.push_back({job, at, std::min(at + length, to), extra++});
    }
    std::vector<Cell> beside(static_cast<size_t>(extra * tiles * kTile));
    const int64_t n_chunks = static_cast<int64_t>(chunks.size());
    const auto in_place = [&](int64_t job, int64_t tile) {
        return cells_in<Format>(hist.data()) + slot.data()[job] * slot_size + tile * kTile;
    };
    // Put cells into the order of the rows once, since every tile reads them.
    pool.run(n_chunks, total_rows(begin, end) * 2, [&](int64_t task, int) {
        const Chunk& chunk = chunks[static_cast<size_t>(task)];
        order_cells(rows.data(), cells.data(), chunk.begin, chunk.end, ordered.data());
    });
    pool.run(tiles * n_chunks, total_rows(begin, end) * tiles * 4, [&](int64_t task, int) {
        const int64_t tile = first_tile + task / n_chunks;
        const Chunk& chunk = chunks[static_cast<size_t>(task % n_chunks)];
        Cell* out = chunk.beside < 0 ? in_place(chunk.job, tile)
                                     : beside.data() + (chunk.beside * tiles + tile - first_tile) * kTile;
        if (chunk.beside < 0) std::memset(out, 0, kTile * sizeof(Cell));
        add_rows<kLanes>(codes.data() + tile * n * kLanes, rows.data(), ordered.data(), chunk.begin,
                         chunk.end, kCells, format, out);
    });
    if (extra == 0) return;
    pool.run(tiles, extra * tiles * kTile, [&](int64_t tile, int) {
        for (const Chunk& chunk : chunks) {
            if (chunk.beside < 0) continue;
            const Cell* part = beside.data() + (chunk.beside * tiles + tile) * kTile;
            Cell* out = in_place(chunk.job, first_tile + tile);
            for (int64_t i = 0; i < kTile; ++i) out[i] += part[i];
        }
    });
}

// scan_histograms of cells of one format.
template <class Format>
void scan(Pool& pool, const ScannedColumns& scanned, int64_t columns, const Array<const int64_t, 4>& hist,
          const Array<const int64_t, 1>& slot, const Array<const int64_t, 2>& total, Format format,
          SideTerms terms, const Array<double, 2>& gain, const Array<int32_t, 3>& where) {
    using Cell = typename Format::Cell;
    const int64_t nodes = static_cast<int64_t>(slot.shape(0)), blocks = (columns + kLanes - 1) / kLanes;
    const int64_t slot_size = static_cast<int64_t>(hist.shape(1)) * kTile;
    std::vector<NodeSplits<Cell>> found(static_cast<size_t>(nodes * blocks));
    pool.run(nodes * blocks, nodes * columns * kCells, [&](int64_t task, int) {
        const int64_t node = task / blocks, first = task % blocks * kLanes;
        scan_columns(cells_in<Format>(hist.data()) + slot.data()[node] * slot_size + first * kCells, kCells,
                     scanned, first, std::min(first + kLanes, columns), format.at(total.data() + 2 * node),
                     format, terms, found[static_cast<size_t>(task)]);
    });
    for (int64_t node = 0; node < nodes; ++node) {
        NodeSplits<Cell> best;
        for (int64_t block = 0; block < blocks; ++block)
            best.offer(found[static_cast<size_t>(node * blocks + block)]);
        int64_t k = 2 * node;
        for (const BestSplit<Cell>* split : {&best.owned, &best.fresh}) {
            gain.data()[k] = split->gain;
            where.data()[3 * k] = split->column;
            where.data()[3 * k + 1] = split->bin;
            where.data()[3 * k + 2] = split->missing_side;
            ++k;
        }
    }
}

}  // namespace

void build_histograms(Pool& pool, Array<const uint8_t, 3> codes, Array<const int32_t, 1> rows,
                      Array<const int64_t, 1> cells, Array<const int64_t, 1> begin,
                      Array<const int64_t, 1> end, Array<const int64_t, 1> slot, int64_t first_tile,
                      int64_t last_tile, const CellFormat& format, Array<int64_t, 1> ordered,
                      Array<int64_t, 4> hist) {
    require_ranges(begin, end, rows.shape(0), ordered.shape(0));
    require(cells.shape(0) == codes.shape(1), "build_histograms: one cell per row of the table");
    require_hist(hist, last_tile, format);
    require_below(slot, static_cast<int64_t>(hist.shape(0)), "build_histograms: slot out of range");
    require(slot.shape(0) == begin.shape(0), "build_histograms: one slot per job");
    require(rows.shape(0) <= codes.shape(1), "build_histograms: more rows than codes");
    require(codes.shape(2) == kLanes && 0 <= first_tile && first_tile <= last_tile &&
                last_tile <= static_cast<int64_t>(codes.shape(0)),
            "build_histograms: codes must have shape (tiles, rows, 8)");
    with_format(format, [&](auto of_cells) {
        build(pool, codes, rows, cells, begin, end, slot, first_tile, last_tile, of_cells, ordered, hist);
    });
}

void subtract_histograms(Pool& pool, Array<const int64_t, 2> parents, Array<const int64_t, 1> parent,
                         Array<const int64_t, 1> sibling, Array<const int64_t, 1> slot, int64_t n_cells,
                         Array<int64_t, 2> hist) {
    const int64_t jobs = static_cast<int64_t>(slot.shape(0));
    const int64_t width = static_cast<int64_t>(hist.shape(1)),
                  parent_width = static_cast<int64_t>(parents.shape(1));
    require(0 <= n_cells && n_cells <= width && n_cells <= parent_width,
            "subtract_histograms: more cells than histograms have");
    require(parent.shape(0) == slot.shape(0) && sibling.shape(0) == slot.shape(0),
            "subtract_histograms: parent, sibling and slot must have the same length");
    require_below(parent, static_cast<int64_t>(parents.shape(0)), "subtract_histograms: parent out of range");
    require_below(sibling, static_cast<int64_t>(hist.shape(0)), "subtract_histograms: sibling out of range");
    require_below(slot, static_cast<int64_t>(hist.shape(0)), "subtract_histograms: slot out of range");
    constexpr int64_t kBlock = 4 * kTile;
    const int64_t blocks = (n_cells + kBlock - 1) / kBlock;
    pool.run(jobs * blocks, jobs * n_cells / 2, [&](int64_t task, int) {
        const int64_t job = task / blocks, from = task % blocks * kBlock;
        const int64_t count = std::min(kBlock, n_cells - from);
        const int64_t* whole = parents.data() + parent.data()[job] * parent_width + from;
        const int64_t* other = hist.data() + sibling.data()[job] * width + from;
        int64_t* out = hist.data() + slot.data()[job] * width + from;
        for (int64_t i = 0; i < count; ++i) out[i] = whole[i] - other[i];
    });
}

void scan_histograms(Pool& pool, const TileColumns& tile_columns, Array<const int64_t, 4> hist,
                     Array<const int64_t, 1> slot, Array<const int64_t, 2> total, const CellFormat& format,
                     int64_t min_leaf, double l2, Array<double, 2> gain, Array<int32_t, 3> where) {
    const int64_t columns = tile_columns.size();
    require_hist(hist, (columns + kLanes - 1) / kLanes, format);
    require(total.shape(0) == slot.shape(0) && total.shape(1) == 2 && gain.shape(0) == slot.shape(0) &&
                gain.shape(1) == 2 && where.shape(0) == slot.shape(0) && where.shape(1) == 2 &&
                where.shape(2) == 3,
            "scan_histograms: total and gain must have shape (nodes, 2), where (nodes, 2, 3)");
    require_below(slot, static_cast<int64_t>(hist.shape(0)), "scan_histograms: slot out of range");
    with_format(format, [&](auto of_cells) {
        scan(pool, tile_columns.scanned(), columns, hist, slot, total, of_cells, {min_leaf, l2}, gain, where);
    });
}

void build_pair_histograms(Pool& pool, Array<const uint8_t, 2> codes, Array<const int64_t, 1> column,
                           Array<const int32_t, 1> rows, Array<const int64_t, 1> cells,
                           Array<const int64_t, 1> begin, Array<const int64_t, 1> end,
                           const CellFormat& format, Array<int64_t, 2> hist) {
    require_ranges(begin, end, rows.shape(0), rows.shape(0));
    require(cells.shape(0) == codes.shape(1), "build_pair_histograms: one cell per row of the table");
    require(column.shape(0) == begin.shape(0) && hist.shape(0) == begin.shape(0) &&
                static_cast<int64_t>(hist.shape(1)) == kCells * format.width(),
            "build_pair_histograms: hist must have shape (pairs, 256), or 512 with wide cells");
    require_below(column, static_cast<int64_t>(codes.shape(0)), "build_pair_histograms: column out of range");
    require(rows.shape(0) <= codes.shape(1), "build_pair_histograms: more rows than codes");
    const int64_t pairs = static_cast<int64_t>(column.shape(0));
    with_format(format, [&](auto of_cells) {
        using Cell = typename decltype(of_cells)::Cell;
        pool.run(pairs, total_rows(begin, end) * 2, [&](int64_t pair, int) {
            Cell* out = cells_in<decltype(of_cells)>(hist.data()) + pair * kCells;
            std::memset(out, 0, kCells * sizeof(Cell));
            const uint8_t* code = codes.data() + column.data()[pair] * static_cast<int64_t>(codes.shape(1));
            for (int64_t i = begin.data()[pair]; i < end.data()[pair]; ++i) {
                const int32_t row = rows.data()[i];
                out[code[row]] += of_cells.of_row(cells.data()[row]);
            }
        });
    });
}

void scan_pair_histograms(Pool& pool, Array<const int64_t, 2> hist, Array<const int32_t, 1> n_bins,
                          Array<const uint8_t, 1> use, Array<const int64_t, 2> total,
                          const CellFormat& format, int64_t min_leaf, double l2, Array<double, 1> gain,
                          Array<int32_t, 1> bin, Array<int32_t, 1> missing_side) {
    const size_t pairs = hist.shape(0);
    require(static_cast<int64_t>(hist.shape(1)) == kCells * format.width() && n_bins.shape(0) == pairs &&
                use.shape(0) == pairs && total.shape(0) == pairs && total.shape(1) == 2 &&
                gain.shape(0) == pairs && bin.shape(0) == pairs && missing_side.shape(0) == pairs,
            "scan_pair_histograms: one entry per pair");
    for (size_t pair = 0; pair < pairs; ++pair)
        require(n_bins.data()[pair] <= kMissingCell, "scan_pair_histograms: at most 255 bins");
    with_format(format, [&](auto of_cells) {
        using Cell = typename decltype(of_cells)::Cell;
        pool.run(static_cast<int64_t>(pairs), static_cast<int64_t>(pairs) * kCells, [&](int64_t pair, int) {
            const AllCells<Cell> cells{cells_in<decltype(of_cells)>(hist.data()) + pair * kCells};
            const Split<Cell> split =
                best_split(cells, n_bins.data()[pair], of_cells.at(total.data() + 2 * pair), of_cells,
                           {min_leaf, l2}, direction_of(use.data()[pair]));
            gain.data()[pair] = split.gain;
            bin.data()[pair] = split.bin;
            missing_side.data()[pair] = split.missing_side;
        });
    });
}

}  // namespace gtgbm
