#include "subtrees.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "cells.hpp"
#include "histogram_kernel.hpp"
#include "histograms.hpp"
#include "partition_kernel.hpp"
#include "scan.hpp"

namespace gtgbm {
namespace {

constexpr int64_t kTile = int64_t{kLanes} * kCells;
enum Entry { kColumn, kBin, kSide, kLeft, kBegin, kEnd, kTotal, kDepth, kEntries };
// Subtracting a tile's histogram costs about as much as adding this many rows to it.
constexpr int64_t kRowsOfSubtraction = 200;

// What all subtrees share.
struct Forest {
    const uint8_t* codes;
    int64_t n_codes_rows, n_tiles, n_columns;
    ScannedColumns columns;
    CellFormat format;
    int64_t fewest_rows, min_leaf, max_depth;
    int32_t *rows, *row_scratch;
    int64_t *cells, *cell_scratch;
};

// Grows one subtree, depth first; lives as long as a worker, for its buffers.
class Grower {
  public:
    explicit Grower(const Forest& forest) : forest_(forest) {}

    // Returns the number of nodes written, or -1 where there was no room for them.
    int64_t grow(int64_t begin, int64_t end, int64_t total, int64_t depth, int64_t stop_rows, int64_t room,
                 int64_t* nodes, double* gain) {
        nodes_ = nodes;
        gain_ = gain;
        count_ = 0;
        fewest_rows_ = std::max(forest_.fewest_rows, stop_rows + 1);
        if (room < 1) return -1;
        add_leaf(begin, end, total, depth);
        if (!may_split(end - begin, depth)) return count_;
        const size_t hist = take_buffer();
        build(begin, end, hist);
        pending_ = {{0, depth, hist}};
        while (!pending_.empty()) {
            const Pending next = pending_.back();
            pending_.pop_back();
            if (!split(next, room)) return -1;
        }
        return count_;
    }

  private:
    struct Pending {
        int64_t node, depth;
        size_t hist;
    };

    bool may_split(int64_t n_rows, int64_t depth) const {
        return n_rows >= fewest_rows_ && depth < forest_.max_depth;
    }

    int64_t* entry(int64_t node) { return nodes_ + node * kEntries; }

    void add_leaf(int64_t begin, int64_t end, int64_t total, int64_t depth) {
        const int64_t leaf[kEntries] = {-1, -1, kMissingUnseen, -1, begin, end, total, depth};
        std::copy_n(leaf, static_cast<int>(kEntries), entry(count_));
        gain_[count_++] = 0.0;
    }

    bool split(const Pending& at, int64_t room) {
        const int64_t begin = entry(at.node)[kBegin], end = entry(at.node)[kEnd],
                      total = entry(at.node)[kTotal];
        NodeSplits best;
        scan_columns(buffers_[at.hist].data(), forest_.columns, 0, forest_.n_columns, total, forest_.format,
                     forest_.min_leaf, best);
        const Found& found = best.owned;
        if (!(found.gain > 0.0)) {
            free_.push_back(at.hist);
            return true;
        }
        if (count_ + 2 > room) return false;
        const bool is_category = forest_.columns.use[found.column] == kCategorical;
        const uint8_t* code = forest_.codes + found.column / kLanes * forest_.n_codes_rows * int64_t{kLanes} +
                              found.column % kLanes;
        const SideRule rule(found.bin, is_category, found.missing_side == kMissingLeft);
        const LeftSide left =
            split_in_place<false>(code, rule, forest_.format, forest_.rows + begin, forest_.cells + begin,
                                  end - begin, forest_.row_scratch + begin, forest_.cell_scratch + begin);
        int64_t* node = entry(at.node);
        node[kColumn] = found.column;
        node[kBin] = found.bin;
        node[kSide] = found.missing_side;
        node[kLeft] = count_;
        gain_[at.node] = found.gain;
        add_leaf(begin, begin + left.rows, left.cells, at.depth + 1);
        add_leaf(begin + left.rows, end, total - left.cells, at.depth + 1);
        descend(node[kLeft], at);
        return true;
    }

    // Gives the children that may split their histograms. `at` is their parent.
    void descend(int64_t left, const Pending& at) {
        const auto size = [&](int64_t node) { return entry(node)[kEnd] - entry(node)[kBegin]; };
        const int64_t large = size(left) >= size(left + 1) ? left : left + 1, small = 2 * left + 1 - large;
        if (!may_split(size(large), at.depth + 1)) {
            free_.push_back(at.hist);
            return;
        }
        const bool small_splits = may_split(size(small), at.depth + 1);
        const bool subtracts = small_splits || size(large) > size(small) + kRowsOfSubtraction;
        if (!subtracts) {
            build(entry(large)[kBegin], entry(large)[kEnd], at.hist);
            pending_.push_back({large, at.depth + 1, at.hist});
            return;
        }
        const size_t other = take_buffer();
        build(entry(small)[kBegin], entry(small)[kEnd], other);
        int64_t* whole = buffers_[at.hist].data();
        const int64_t* part = buffers_[other].data();
        for (int64_t i = 0; i < forest_.n_tiles * kTile; ++i) whole[i] -= part[i];
        pending_.push_back({large, at.depth + 1, at.hist});
        // The smaller one is next: so no more histograms wait than its size can be halved.
        if (small_splits)
            pending_.push_back({small, at.depth + 1, other});
        else
            free_.push_back(other);
    }

    void build(int64_t begin, int64_t end, size_t hist) {
        int64_t* out = buffers_[hist].data();
        std::memset(out, 0, static_cast<size_t>(forest_.n_tiles * kTile) * sizeof(int64_t));
        for (int64_t tile = 0; tile < forest_.n_tiles; ++tile)
            add_rows<kLanes>(forest_.codes + tile * forest_.n_codes_rows * kLanes, forest_.rows,
                             forest_.cells, begin, end, kCells, out + tile * kTile);
    }

    size_t take_buffer() {
        if (free_.empty()) {
            buffers_.emplace_back(static_cast<size_t>(forest_.n_tiles * kTile));
            return buffers_.size() - 1;
        }
        const size_t hist = free_.back();
        free_.pop_back();
        return hist;
    }

    const Forest& forest_;
    std::vector<std::vector<int64_t>> buffers_;
    std::vector<size_t> free_;
    std::vector<Pending> pending_;
    int64_t* nodes_ = nullptr;
    double* gain_ = nullptr;
    int64_t count_ = 0, fewest_rows_ = 0;
};

}  // namespace

void grow_subtrees(Pool& pool, Array<const uint8_t, 3> codes, Array<const int32_t, 1> n_bins,
                   Array<const uint8_t, 1> use, Array<const int32_t, 1> category_row,
                   Array<const uint8_t, 2> category_use, Array<const int64_t, 1> begin,
                   Array<const int64_t, 1> end, Array<const int64_t, 1> total, Array<const int64_t, 1> depth,
                   Array<const int64_t, 1> stop_rows, int count_bits, int64_t fewest_rows, int64_t min_leaf,
                   int64_t max_depth, Array<int32_t, 1> rows, Array<int64_t, 1> cells,
                   Array<int32_t, 2> row_scratch, Array<int64_t, 2> cell_scratch,
                   Array<const int64_t, 1> first, Array<int64_t, 2> nodes, Array<double, 1> gain,
                   Array<int64_t, 1> n_nodes) {
    const int64_t trees = static_cast<int64_t>(begin.shape(0)), n_rows = static_cast<int64_t>(rows.shape(0));
    const int64_t n_tiles = static_cast<int64_t>(codes.shape(0)),
                  columns = static_cast<int64_t>(n_bins.shape(0));
    require(codes.shape(2) == kLanes && columns <= n_tiles * kLanes && rows.shape(0) <= codes.shape(1),
            "grow_subtrees: codes must have shape (tiles, rows, 8)");
    require(cells.shape(0) == rows.shape(0) && row_scratch.shape(0) >= 1 && cell_scratch.shape(0) >= 1 &&
                row_scratch.shape(1) == rows.shape(0) && cell_scratch.shape(1) == rows.shape(0),
            "grow_subtrees: cells and scratch must be as long as rows");
    require(end.shape(0) == begin.shape(0) && total.shape(0) == begin.shape(0) &&
                depth.shape(0) == begin.shape(0) && stop_rows.shape(0) == begin.shape(0) &&
                n_nodes.shape(0) == begin.shape(0) && first.shape(0) == begin.shape(0) + 1,
            "grow_subtrees: one entry per subtree");
    require(nodes.shape(1) == kEntries && gain.shape(0) == nodes.shape(0),
            "grow_subtrees: nodes must have shape (places, 8)");
    require(min_leaf >= 1 && fewest_rows >= 2, "grow_subtrees: a split needs two rows");
    int64_t work = 0;
    for (int64_t s = 0; s < trees; ++s) {
        require(0 <= begin.data()[s] && begin.data()[s] <= end.data()[s] && end.data()[s] <= n_rows,
                "grow_subtrees: range outside the rows");
        require(0 <= first.data()[s] && first.data()[s] <= first.data()[s + 1] &&
                    first.data()[s + 1] <= static_cast<int64_t>(nodes.shape(0)),
                "grow_subtrees: places outside the nodes");
        work += (end.data()[s] - begin.data()[s]) * columns;
    }
    const Forest forest{codes.data(),
                        static_cast<int64_t>(codes.shape(1)),
                        n_tiles,
                        columns,
                        scanned_columns(n_bins, use, category_row, category_use),
                        {count_bits},
                        fewest_rows,
                        min_leaf,
                        max_depth,
                        rows.data(),
                        row_scratch.data(),
                        cells.data(),
                        cell_scratch.data()};
    // Largest first: what is left for the end is small, and no thread waits long for another.
    std::vector<int64_t> order(static_cast<size_t>(trees));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return end.data()[a] - begin.data()[a] > end.data()[b] - begin.data()[b];
    });
    std::vector<Grower> growers(static_cast<size_t>(pool.size()), Grower(forest));
    pool.run(trees, work, [&](int64_t task, int worker) {
        const int64_t s = order[static_cast<size_t>(task)], at = first.data()[s];
        n_nodes.data()[s] = growers[static_cast<size_t>(worker)].grow(
            begin.data()[s], end.data()[s], total.data()[s], depth.data()[s], stop_rows.data()[s],
            first.data()[s + 1] - at, nodes.data() + at * kEntries, gain.data() + at);
    });
    for (int64_t s = 0; s < trees; ++s)
        require(n_nodes.data()[s] >= 0, "grow_subtrees: too few places for the nodes");
}

}  // namespace gtgbm
