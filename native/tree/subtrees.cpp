#include "tree/subtrees.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "tree/cells.hpp"
#include "tree/histogram_kernel.hpp"
#include "tree/histograms.hpp"
#include "tree/partition_kernel.hpp"
#include "tree/scan.hpp"

namespace gtgbm {
namespace {

// Subtracting a tile's histogram costs about as much as adding this many rows to it.
constexpr int64_t kRowsOfSubtraction = 200;
constexpr int64_t kHistogramPart = 8192;  // fewest rows that justify a separate histogram
// A node with fewer rows than a column has cells on average, divided by this, is scanned by the cells that
// its rows touch. Measured: with more rows, clearing, subtracting and scanning whole histograms is faster.
constexpr int64_t kCellsPerFewRows = 2;
constexpr size_t kNoHistogram = static_cast<size_t>(-1);  // of a node that is scanned by its rows

// Data that all subtrees share.
struct Forest {
    const uint8_t* codes;
    int64_t n_codes_rows, n_tiles, n_columns, n_cells;
    std::vector<int64_t> offset;  // offset of each tile in a histogram
    const int64_t* widths;
    ScannedColumns columns;
    SideTerms terms;
    int64_t fewest_rows, max_depth;
    int64_t n_rows;
    int32_t *rows, *row_scratch;
    const int64_t* cells;
    int64_t* ordered;
};

// Grows one subtree, depth first. Each worker has one object and reuses its buffers.
template <class Format>
class Grower {
  public:
    using Cell = typename Format::Cell;

    // With a pool, the rows of every node are divided among its threads, else the calling thread does all
    // work.
    Grower(const Forest& forest, Format format, Pool* pool)
        : forest_(forest),
          format_(format),
          pool_(pool),
          few_rows_(forest.n_cells / std::max<int64_t>(forest.n_tiles * kLanes, 1) / kCellsPerFewRows) {}

    // Returns the number of nodes written, or -1 if there was not enough room.
    int64_t grow(int64_t begin, int64_t end, Cell total, int64_t depth, int64_t stop_rows, int64_t room,
                 int64_t* nodes, double* gain) {
        nodes_ = nodes;
        gain_ = gain;
        count_ = 0;
        fewest_rows_ = std::max(forest_.fewest_rows, stop_rows + 1);
        if (room < 1) return -1;
        add_leaf(begin, end, total, depth);
        if (!may_split(total, depth)) return count_;
        size_t hist = kNoHistogram;
        if (end - begin > few_rows_) {
            hist = take_buffer();
            build(begin, end, hist);
        }
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

    bool may_split(const Cell& total, int64_t depth) const {
        return format_.count(total) >= fewest_rows_ && depth < forest_.max_depth;
    }

    int64_t* entry(int64_t node) { return nodes_ + node * kSubtreeFields; }

    Cell total_of(int64_t node) { return format_.at(entry(node) + kNodeGradient); }

    void add_leaf(int64_t begin, int64_t end, const Cell& total, int64_t depth) {
        const int64_t gradient = format_.gradient(total), count = format_.count(total);
        const int64_t leaf[kSubtreeFields] = {-1, -1, kMissingUnseen, -1, begin, end, gradient, count, depth};
        std::copy_n(leaf, static_cast<int>(kSubtreeFields), entry(count_));
        gain_[count_++] = 0.0;
    }

    bool split(const Pending& at, int64_t room) {
        const int64_t begin = entry(at.node)[kNodeBegin], end = entry(at.node)[kNodeEnd];
        const Cell total = total_of(at.node);
        const BestSplit<Cell> found = at.hist == kNoHistogram
                                          ? best_split_of_rows(begin, end, total)
                                          : best_split_of(buffers_[at.hist].data(), total);
        if (!(found.gain > 0.0)) {
            give_back(at.hist);
            return true;
        }
        if (count_ + 2 > room) return false;
        const bool is_category = (forest_.columns.use[found.column] & kUseMask) == kCategorical;
        const uint8_t* code = forest_.codes + found.column / kLanes * forest_.n_codes_rows * int64_t{kLanes} +
                              found.column % kLanes;
        const SideRule rule(found.bin, is_category, found.missing_side == kMissingLeft);
        const int64_t left = partition(code, rule, begin, end - begin);
        if (left == 0 || left == end - begin) throw std::logic_error("grow_subtrees: rows went astray");
        int64_t* node = entry(at.node);
        node[kNodeColumn] = found.column;
        node[kNodeBin] = found.bin;
        node[kNodeSide] = found.missing_side;
        node[kNodeLeft] = count_;
        gain_[at.node] = found.gain;
        add_leaf(begin, begin + left, found.left, at.depth + 1);
        add_leaf(begin + left, end, total - found.left, at.depth + 1);
        descend(node[kNodeLeft], at);
        return true;
    }

    // Builds the histograms of the children that may split; `at` is their parent.
    void descend(int64_t left, const Pending& at) {
        const auto size = [&](int64_t node) { return entry(node)[kNodeEnd] - entry(node)[kNodeBegin]; };
        const int64_t large = size(left) >= size(left + 1) ? left : left + 1, small = 2 * left + 1 - large;
        const bool large_splits = may_split(total_of(large), at.depth + 1);
        const bool small_splits = may_split(total_of(small), at.depth + 1);
        if (size(large) <= few_rows_ || (!large_splits && !small_splits)) {
            give_back(at.hist);
            if (large_splits) pending_.push_back({large, at.depth + 1, kNoHistogram});
            if (small_splits) pending_.push_back({small, at.depth + 1, kNoHistogram});
            return;
        }
        if (!large_splits) {
            // Limits apply to weights, so the child with fewer rows may split where the other may not.
            build(entry(small)[kNodeBegin], entry(small)[kNodeEnd], at.hist);
            pending_.push_back({small, at.depth + 1, at.hist});
            return;
        }
        const bool subtracts = small_splits || size(large) > size(small) + kRowsOfSubtraction;
        if (!subtracts) {
            build(entry(large)[kNodeBegin], entry(large)[kNodeEnd], at.hist);
            pending_.push_back({large, at.depth + 1, at.hist});
            return;
        }
        const size_t other = take_buffer();
        build(entry(small)[kNodeBegin], entry(small)[kNodeEnd], other);
        Cell* whole = buffers_[at.hist].data();
        const Cell* part = buffers_[other].data();
        for (int64_t i = 0; i < forest_.n_cells; ++i) whole[i] -= part[i];
        pending_.push_back({large, at.depth + 1, at.hist});
        // The smaller child is grown next, so the number of waiting histograms is at most the binary
        // logarithm of the size.
        if (small_splits)
            pending_.push_back({small, at.depth + 1, other});
        else
            free_.push_back(other);
    }

    BestSplit<Cell> best_split_of(const Cell* hist, const Cell& total) {
        const auto scan = [&](int64_t tile, NodeSplits<Cell>& best) {
            scan_columns(hist + forest_.offset[static_cast<size_t>(tile)], forest_.widths[tile],
                         forest_.columns, tile * kLanes, std::min((tile + 1) * kLanes, forest_.n_columns),
                         total, format_, forest_.terms, best);
        };
        NodeSplits<Cell> best;
        if (pool_ == nullptr) {
            // One after the other: most columns need not be scanned once a good split is known.
            for (int64_t tile = 0; tile < forest_.n_tiles; ++tile) scan(tile, best);
            return best.owned;
        }
        found_.assign(static_cast<size_t>(forest_.n_tiles), {});
        run(forest_.n_tiles, forest_.n_cells,
            [&](int64_t tile) { scan(tile, found_[static_cast<size_t>(tile)]); });
        for (const NodeSplits<Cell>& one : found_) best.offer(one);
        return best.owned;
    }

    // Looks only at cells that rows of the node touch, one tile after the other.
    BestSplit<Cell> best_split_of_rows(int64_t begin, int64_t end, const Cell& total) {
        touched_.resize(kLanes * kCells);
        NodeSplits<Cell> best;
        for (int64_t tile = 0; tile < forest_.n_tiles; ++tile) {
            const uint8_t* codes = forest_.codes + tile * forest_.n_codes_rows * kLanes;
            uint64_t marks[kLanes * kMarkWords] = {};
            for (int64_t i = begin; i < end; ++i) {
                const uint8_t* code = codes + int64_t{forest_.rows[i]} * kLanes;
                const Cell cell = format_.of_row(forest_.cells[forest_.rows[i]]);
                for (int lane = 0; lane < kLanes; ++lane) {
                    touched_[static_cast<size_t>(lane * kCells + code[lane])] += cell;
                    marks[lane * kMarkWords + code[lane] / 64] |= uint64_t{1} << code[lane] % 64;
                }
            }
            const auto cells_of = [&](int64_t lane) {
                return MarkedCells<Cell>{touched_.data() + lane * kCells, marks + lane * kMarkWords};
            };
            scan_columns(cells_of, forest_.columns, tile * kLanes,
                         std::min((tile + 1) * kLanes, forest_.n_columns), total, format_, forest_.terms,
                         best);
            for (int64_t i = begin; i < end; ++i) {
                const uint8_t* code = codes + int64_t{forest_.rows[i]} * kLanes;
                for (int lane = 0; lane < kLanes; ++lane)
                    touched_[static_cast<size_t>(lane * kCells + code[lane])] = Cell{};
            }
        }
        return best.owned;
    }

    int64_t partition(const uint8_t* code, const SideRule& rule, int64_t begin, int64_t count) {
        int32_t *rows = forest_.rows + begin, *scratch = forest_.row_scratch + begin;
        return pool_ != nullptr && count > kPartitionChunk
                   ? split_shared(*pool_, code, rule, rows, count, scratch, scratch + forest_.n_rows)
                   : split_in_place(code, rule, rows, count, scratch);
    }

    // Long ranges are divided into as many parts as there are threads, each with its own histogram.
    void build(int64_t begin, int64_t end, size_t hist) {
        const int64_t parts =
            pool_ == nullptr ? 1 : std::clamp<int64_t>((end - begin) / kHistogramPart, 1, pool_->size());
        const auto edge = [&](int64_t part) { return begin + (end - begin) * part / parts; };
        std::vector<size_t> used = {hist};
        while (static_cast<int64_t>(used.size()) < parts) used.push_back(take_buffer());
        run(parts, end - begin, [&](int64_t part) {
            order_cells(forest_.rows, forest_.cells, edge(part), edge(part + 1), forest_.ordered);
        });
        for (const size_t one : used) std::fill(buffers_[one].begin(), buffers_[one].end(), Cell{});
        run(forest_.n_tiles * parts, (end - begin) * forest_.n_tiles * 4, [&](int64_t task) {
            const int64_t tile = task / parts, part = task % parts;
            add_rows<kLanes>(
                forest_.codes + tile * forest_.n_codes_rows * kLanes, forest_.rows, forest_.ordered,
                edge(part), edge(part + 1), static_cast<int>(forest_.widths[tile]), format_,
                buffers_[used[static_cast<size_t>(part)]].data() + forest_.offset[static_cast<size_t>(tile)]);
        });
        Cell* whole = buffers_[hist].data();
        for (size_t part = 1; part < used.size(); ++part) {
            const Cell* other = buffers_[used[part]].data();
            for (int64_t i = 0; i < forest_.n_cells; ++i) whole[i] += other[i];
            free_.push_back(used[part]);
        }
    }

    template <class F>
    void run(int64_t n_tasks, int64_t work, F&& task) {
        if (pool_ != nullptr) return pool_->run(n_tasks, work, [&](int64_t k, int) { task(k); });
        for (int64_t k = 0; k < n_tasks; ++k) task(k);
    }

    size_t take_buffer() {
        if (free_.empty()) {
            buffers_.emplace_back(static_cast<size_t>(forest_.n_cells));
            return buffers_.size() - 1;
        }
        const size_t hist = free_.back();
        free_.pop_back();
        return hist;
    }

    void give_back(size_t hist) {
        if (hist != kNoHistogram) free_.push_back(hist);
    }

    const Forest& forest_;
    Format format_;
    Pool* pool_;
    int64_t few_rows_;
    std::vector<Cell> touched_;  // cells of one tile, all 0 between nodes
    std::vector<NodeSplits<Cell>> found_;
    std::vector<std::vector<Cell>> buffers_;
    std::vector<size_t> free_;
    std::vector<Pending> pending_;
    int64_t* nodes_ = nullptr;
    double* gain_ = nullptr;
    int64_t count_ = 0, fewest_rows_ = 0;
};

// Grows all subtrees, as grow_subtrees says, with cells of one format; grow(grower, s) grows one of them.
template <class Format, class Grow>
void grow_all(Pool& pool, const Forest& forest, Format format, const Array<const int64_t, 1>& begin,
              const Array<const int64_t, 1>& end, int64_t work, bool shared, Grow&& grow) {
    const int64_t trees = static_cast<int64_t>(begin.shape(0));
    if (shared) {
        Grower<Format> grower(forest, format, &pool);
        for (int64_t s = 0; s < trees; ++s) grow(grower, s);
        return;
    }
    // Largest first: small subtrees remain for the end, so no thread waits long for another.
    std::vector<int64_t> order(static_cast<size_t>(trees));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return end.data()[a] - begin.data()[a] > end.data()[b] - begin.data()[b];
    });
    std::vector<Grower<Format>> growers(static_cast<size_t>(pool.size()),
                                        Grower<Format>(forest, format, nullptr));
    pool.run(trees, work, [&](int64_t task, int worker) {
        grow(growers[static_cast<size_t>(worker)], order[static_cast<size_t>(task)]);
    });
}

}  // namespace

void grow_subtrees(Pool& pool, const TileSet& tiles, Array<const int64_t, 1> begin,
                   Array<const int64_t, 1> end, Array<const int64_t, 2> total, Array<const int64_t, 1> depth,
                   Array<const int64_t, 1> stop_rows, const CellFormat& format, int64_t fewest_rows,
                   int64_t min_leaf, double l2, int64_t max_depth, Array<int32_t, 1> rows,
                   Array<const int64_t, 1> cells, Array<int32_t, 2> row_scratch, Array<int64_t, 1> ordered,
                   Array<const int64_t, 1> first, Array<int64_t, 2> nodes, Array<double, 1> gain,
                   Array<int64_t, 1> n_nodes, bool shared) {
    const auto& codes = tiles.codes;
    const int64_t trees = static_cast<int64_t>(begin.shape(0)), n_rows = static_cast<int64_t>(rows.shape(0));
    const int64_t n_tiles = static_cast<int64_t>(codes.shape(0)), columns = tiles.columns.size();
    require(rows.shape(0) <= codes.shape(1), "grow_subtrees: more rows than codes");
    require(cells.shape(0) == codes.shape(1) && ordered.shape(0) == rows.shape(0) &&
                row_scratch.shape(0) == 2 && row_scratch.shape(1) == rows.shape(0),
            "grow_subtrees: a cell per row of the table, scratch as long as rows");
    require(end.shape(0) == begin.shape(0) && total.shape(0) == begin.shape(0) && total.shape(1) == 2 &&
                depth.shape(0) == begin.shape(0) && stop_rows.shape(0) == begin.shape(0) &&
                n_nodes.shape(0) == begin.shape(0) && first.shape(0) == begin.shape(0) + 1,
            "grow_subtrees: one entry per subtree");
    require(nodes.shape(1) == kSubtreeFields && gain.shape(0) == nodes.shape(0),
            "grow_subtrees: nodes must have shape (places, 9)");
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
    std::vector<int64_t> offset;
    int64_t n_cells = 0;
    for (int64_t tile = 0; tile < n_tiles; ++tile) {
        offset.push_back(n_cells);
        n_cells += tiles.widths.data()[tile] * kLanes;
    }
    const Forest forest{codes.data(),
                        static_cast<int64_t>(codes.shape(1)),
                        n_tiles,
                        columns,
                        n_cells,
                        offset,
                        tiles.widths.data(),
                        tiles.columns.scanned(),
                        {min_leaf, l2},
                        fewest_rows,
                        max_depth,
                        n_rows,
                        rows.data(),
                        row_scratch.data(),
                        cells.data(),
                        ordered.data()};
    with_format(format, [&](auto of_cells) {
        grow_all(pool, forest, of_cells, begin, end, work, shared, [&](auto& grower, int64_t s) {
            const int64_t at = first.data()[s];
            n_nodes.data()[s] = grower.grow(begin.data()[s], end.data()[s], of_cells.at(total.data() + 2 * s),
                                            depth.data()[s], stop_rows.data()[s], first.data()[s + 1] - at,
                                            nodes.data() + at * kSubtreeFields, gain.data() + at);
        });
    });
    for (int64_t s = 0; s < trees; ++s)
        require(n_nodes.data()[s] >= 0, "grow_subtrees: too few places for the nodes");
}

}  // namespace gtgbm
