#include "search/sparse.hpp"

#include <algorithm>
#include <vector>

#include "binning/sparse.hpp"
#include "tree/cells.hpp"
#include "tree/scan.hpp"

namespace gtgbm {
namespace {

// What the histograms need of a row. A row outside of all nodes adds nothing to the first one: half of the
// entries may be of such rows, and a branch would be mispredicted for many of them.
template <class Cell>
struct SearchedRow {
    Cell cell{};
    int64_t node = 0;
};

// Histograms of up to so many cells are built in several copies: most entries of a column have the same code,
// and consecutive additions to one cell wait for each other. Few entries are not worth the copies.
constexpr int64_t kCopiedCells = 256, kCopies = 4;

// The entries of one column.
struct Entries {
    const int32_t* rows;
    const uint8_t* codes;
    int64_t size;
};

// hist[node][code] += cell for all entries; the code after the bins stands for missing values.
template <int64_t Copies, class Cell>
void add_entries(const Entries& entries, const std::vector<SearchedRow<Cell>>& searched, int64_t nodes,
                 int bins, Cell* hist) {
    const int64_t stride = bins + 1, cells = nodes * stride;
    std::fill_n(hist, Copies * cells, Cell{});
    const auto add = [&](int64_t e, Cell* copy) {
        const int32_t row = entries.rows[e];
        require(0 <= row && row < static_cast<int64_t>(searched.size()),
                "search_sparse: row of an entry out of range");
        const SearchedRow<Cell>& of_row = searched[static_cast<size_t>(row)];
        copy[of_row.node * stride + std::min<int>(entries.codes[e], bins)] += of_row.cell;
    };
    int64_t e = 0;
    for (; e + Copies <= entries.size; e += Copies)
        for (int64_t k = 0; k < Copies; ++k) add(e + k, hist + k * cells);
    for (; e < entries.size; ++e) add(e, hist);
    for (int64_t k = 1; k < Copies; ++k)
        for (int64_t i = 0; i < cells; ++i) hist[i] += hist[k * cells + i];
}

// search_sparse with cells of one format.
template <class Format>
void search(Pool& pool, const Array<const int64_t, 1>& start, const Array<const int32_t, 1>& rows,
            const Array<const uint8_t, 1>& codes, const Array<const int64_t, 1>& columns,
            const Array<const int32_t, 1>& n_bins, const Array<const uint8_t, 1>& zero_code,
            const Array<const uint8_t, 1>& use, const Array<const double, 1>& price,
            const Array<const int32_t, 1>& node_rows, const Array<const int64_t, 1>& begin,
            const Array<const int64_t, 1>& end, const Array<const int64_t, 2>& total,
            const Array<const int64_t, 1>& cells, Format format, SideTerms terms,
            const Array<double, 1>& gain, const Array<int32_t, 2>& where) {
    using Cell = typename Format::Cell;
    const int64_t m = static_cast<int64_t>(columns.shape(0)), n = static_cast<int64_t>(cells.shape(0)),
                  nodes = static_cast<int64_t>(begin.shape(0));
    std::vector<SearchedRow<Cell>> searched(static_cast<size_t>(n));
    for (int64_t k = 0; k < nodes; ++k) {
        require(0 <= begin.data()[k] && begin.data()[k] <= end.data()[k] &&
                    end.data()[k] <= static_cast<int64_t>(node_rows.shape(0)),
                "search_sparse: range outside the rows");
        for (int64_t i = begin.data()[k]; i < end.data()[k]; ++i) {
            const int32_t row = node_rows.data()[i];
            require(0 <= row && row < n, "search_sparse: row out of range");
            searched[static_cast<size_t>(row)] = {format.of_row(cells.data()[row]), k};
        }
    }
    const bool has_prices = price.shape(0) != 0;
    constexpr int64_t kBlock = 32;
    const int64_t blocks = (m + kBlock - 1) / kBlock;
    // Best split of each block of columns, so that the result does not depend on the threads.
    std::vector<BestSplit<Cell>> found(static_cast<size_t>(blocks * nodes));
    const int64_t most_cells = std::max(nodes * kCells, kCopies * kCopiedCells);
    std::vector<std::vector<Cell>> hists(static_cast<size_t>(pool.size()),
                                         std::vector<Cell>(static_cast<size_t>(most_cells)));
    pool.run(blocks, static_cast<int64_t>(codes.shape(0)) * 2, [&](int64_t block, int worker) {
        Cell* hist = hists[static_cast<size_t>(worker)].data();
        for (int64_t c = block * kBlock; c < std::min(m, (block + 1) * kBlock); ++c) {
            const int bins = n_bins.data()[c];
            const uint8_t as = use.data()[c];
            if ((as & kUseMask) == kSkipped || bins < 1) continue;
            const int64_t column = columns.data()[c], stride = bins + 1;
            const int64_t first = start.data()[column];
            const Entries entries{rows.data() + first, codes.data() + first,
                                  start.data()[column + 1] - first};
            const bool is_copied = nodes * stride <= kCopiedCells && entries.size > kCopies * nodes * stride;
            (is_copied ? add_entries<kCopies, Cell> : add_entries<1, Cell>)(entries, searched, nodes, bins,
                                                                            hist);
            for (int64_t k = 0; k < nodes; ++k) {
                Cell* cell = hist + k * stride;
                const Cell of_node = format.at(total.data() + 2 * k);
                Cell of_entries{};
                for (int64_t b = 0; b < stride; ++b) of_entries += cell[b];
                // One side of every split has only entries, no implicit zeros.
                if (format.count(of_entries) < terms.min_leaf) continue;
                cell[zero_code.data()[c]] += of_node - of_entries;
                found[static_cast<size_t>(block * nodes + k)].offer(
                    best_split(AllCells<Cell>{cell}, bins, of_node, format, terms, direction_of(as)),
                    static_cast<int32_t>(c), has_prices ? price.data()[c] : 0.0);
            }
        }
    });
    for (int64_t k = 0; k < nodes; ++k) {
        BestSplit<Cell> best;
        for (int64_t block = 0; block < blocks; ++block)
            best.offer(found[static_cast<size_t>(block * nodes + k)]);
        gain.data()[k] = best.gain;
        where.data()[3 * k] = best.column;
        where.data()[3 * k + 1] = best.bin;
        where.data()[3 * k + 2] = best.missing_side;
    }
}

}  // namespace

void search_sparse(Pool& pool, Array<const int64_t, 1> start, Array<const int32_t, 1> rows,
                   Array<const uint8_t, 1> codes, Array<const int64_t, 1> columns,
                   Array<const int32_t, 1> n_bins, Array<const uint8_t, 1> zero_code,
                   Array<const uint8_t, 1> use, Array<const double, 1> price,
                   Array<const int32_t, 1> node_rows, Array<const int64_t, 1> begin,
                   Array<const int64_t, 1> end, Array<const int64_t, 2> total, Array<const int64_t, 1> cells,
                   const CellFormat& format, int64_t min_leaf, double l2, Array<double, 1> gain,
                   Array<int32_t, 2> where) {
    require_sparse(start, codes.shape(0), columns);
    require(rows.shape(0) == codes.shape(0), "sparse: one row per entry");
    require(n_bins.shape(0) == columns.shape(0) && zero_code.shape(0) == columns.shape(0) &&
                use.shape(0) == columns.shape(0) &&
                (price.shape(0) == columns.shape(0) || price.shape(0) == 0),
            "search_sparse: one entry per column");
    require(end.shape(0) == begin.shape(0) && total.shape(0) == begin.shape(0) && total.shape(1) == 2 &&
                gain.shape(0) == begin.shape(0) && where.shape(0) == begin.shape(0) && where.shape(1) == 3,
            "search_sparse: one entry per node");
    // The cell after the bins is for missing values.
    for (int64_t c = 0; c < static_cast<int64_t>(columns.shape(0)); ++c)
        require(n_bins.data()[c] <= kMissingCell &&
                    (n_bins.data()[c] < 1 || zero_code.data()[c] < n_bins.data()[c]),
                "search_sparse: at most 255 bins, one of them for 0");
    with_format(format, [&](auto of_cells) {
        search(pool, start, rows, codes, columns, n_bins, zero_code, use, price, node_rows, begin, end, total,
               cells, of_cells, {min_leaf, l2}, gain, where);
    });
}

}  // namespace gtgbm
