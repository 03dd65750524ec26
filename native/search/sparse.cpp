#include "search/sparse.hpp"

#include <algorithm>
#include <vector>

#include "binning/sparse.hpp"
#include "tree/cells.hpp"
#include "tree/scan.hpp"

namespace gtgbm {

void search_sparse(Pool& pool, Array<const int64_t, 1> start, Array<const int32_t, 1> rows,
                   Array<const uint8_t, 1> codes, Array<const int64_t, 1> columns,
                   Array<const int32_t, 1> n_bins, Array<const uint8_t, 1> zero_code,
                   Array<const uint8_t, 1> use, Array<const double, 1> price,
                   Array<const int32_t, 1> node_rows, Array<const int64_t, 1> begin,
                   Array<const int64_t, 1> end, Array<const int64_t, 1> total, Array<const int64_t, 1> cells,
                   int count_bits, int64_t min_leaf, double l2, Array<double, 1> gain,
                   Array<int32_t, 2> where) {
    const int64_t m = static_cast<int64_t>(columns.shape(0)), n = static_cast<int64_t>(cells.shape(0)),
                  nodes = static_cast<int64_t>(begin.shape(0));
    require_sparse(start, codes.shape(0), columns);
    require(rows.shape(0) == codes.shape(0), "sparse: one row per entry");
    require(n_bins.shape(0) == columns.shape(0) && zero_code.shape(0) == columns.shape(0) &&
                use.shape(0) == columns.shape(0) &&
                (price.shape(0) == columns.shape(0) || price.shape(0) == 0),
            "search_sparse: one entry per column");
    require(end.shape(0) == begin.shape(0) && total.shape(0) == begin.shape(0) &&
                gain.shape(0) == begin.shape(0) && where.shape(0) == begin.shape(0) && where.shape(1) == 3,
            "search_sparse: one entry per node");
    // The cell after the bins is for missing values.
    for (int64_t c = 0; c < m; ++c)
        require(n_bins.data()[c] <= kMissingCell &&
                    (n_bins.data()[c] < 1 || zero_code.data()[c] < n_bins.data()[c]),
                "search_sparse: at most 255 bins, one of them for 0");
    std::vector<int32_t> node_of(static_cast<size_t>(n), -1);
    for (int64_t k = 0; k < nodes; ++k) {
        require(0 <= begin.data()[k] && begin.data()[k] <= end.data()[k] &&
                    end.data()[k] <= static_cast<int64_t>(node_rows.shape(0)),
                "search_sparse: range outside the rows");
        for (int64_t i = begin.data()[k]; i < end.data()[k]; ++i) {
            const int32_t row = node_rows.data()[i];
            require(0 <= row && row < n, "search_sparse: row out of range");
            node_of[static_cast<size_t>(row)] = static_cast<int32_t>(k);
        }
    }
    const bool has_prices = price.shape(0) != 0;
    const CellFormat format{count_bits};
    constexpr int64_t kBlock = 32;
    const int64_t blocks = (m + kBlock - 1) / kBlock;
    // Best split of each block of columns, so that the result does not depend on the threads.
    std::vector<BestSplit> found(static_cast<size_t>(blocks * nodes));
    std::vector<std::vector<int64_t>> hists(static_cast<size_t>(pool.size()),
                                            std::vector<int64_t>(static_cast<size_t>(nodes * kCells)));
    pool.run(blocks, static_cast<int64_t>(codes.shape(0)) * 2, [&](int64_t block, int worker) {
        int64_t* hist = hists[static_cast<size_t>(worker)].data();
        for (int64_t c = block * kBlock; c < std::min(m, (block + 1) * kBlock); ++c) {
            const int bins = n_bins.data()[c];
            const uint8_t as = use.data()[c];
            if ((as & kUseMask) == kSkipped || bins < 1) continue;
            const int64_t column = columns.data()[c], stride = bins + 1;
            std::fill_n(hist, nodes * stride, int64_t{0});
            for (int64_t e = start.data()[column]; e < start.data()[column + 1]; ++e) {
                const int32_t row = rows.data()[e];
                require(0 <= row && row < n, "search_sparse: row of an entry out of range");
                const int32_t node = node_of[static_cast<size_t>(row)];
                if (node < 0) continue;
                const int code = std::min<int>(codes.data()[e], bins);
                hist[node * stride + code] += cells.data()[row];
            }
            for (int64_t k = 0; k < nodes; ++k) {
                int64_t* cell = hist + k * stride;
                int64_t entries = 0;
                for (int64_t b = 0; b < stride; ++b) entries += cell[b];
                // One side of every split has only entries, no implicit zeros.
                if (format.count(entries) < min_leaf) continue;
                cell[zero_code.data()[c]] += total.data()[k] - entries;
                found[static_cast<size_t>(block * nodes + k)].offer(
                    best_split(AllCells{cell}, bins, total.data()[k], format, {min_leaf, l2},
                               direction_of(as)),
                    static_cast<int32_t>(c), has_prices ? price.data()[c] : 0.0);
            }
        }
    });
    for (int64_t k = 0; k < nodes; ++k) {
        BestSplit best;
        for (int64_t block = 0; block < blocks; ++block)
            best.offer(found[static_cast<size_t>(block * nodes + k)]);
        gain.data()[k] = best.gain;
        where.data()[3 * k] = best.column;
        where.data()[3 * k + 1] = best.bin;
        where.data()[3 * k + 2] = best.missing_side;
    }
}

}  // namespace gtgbm
