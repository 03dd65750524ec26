// How scores change if rows take the value of one column from another row.
#include <algorithm>
#include <limits>

#include "predict/forest.hpp"
#include "predict/walking.hpp"

namespace gtgbm {

namespace {

constexpr int kLanes = Forest::kLanes;
static_assert(Forest::kBlock % kLanes == 0, "a block can be filled up to whole lanes");

// Detours that are collected before they are walked, so that few lanes of the last walk are idle.
constexpr int64_t kQueue = 512;

// A walk that leaves the path of a row, because the donor's value of `column` goes the other way.
struct Detour {
    int32_t node, row;
    uint32_t column;
};

}  // namespace

// The rows of a task, its results, and its scratch space.
struct Forest::ChangeBlock {
    ChangeBlock(int64_t n_columns, int64_t max_depth, const std::vector<int64_t>& slot_of, int64_t n_sums)
        : width(std::max<int64_t>(n_columns, 1)),
          slot(slot_of),
          x(static_cast<size_t>(kBlock * width)),
          donated(x.size()),
          last_walk(static_cast<size_t>(kLanes * width), std::numeric_limits<int64_t>::max()),
          detours(static_cast<size_t>(kQueue + kLanes * max_depth + 1)),
          changes(static_cast<size_t>(n_sums * kBlock)) {
        for (int l = 0; l < kLanes; ++l)
            for (int64_t c = 0; c < n_columns; ++c)
                if (slot[c] >= 0) last_walk[l * width + c] = 0;
    }

    // Reads the rows [begin, begin + n) and the values of their donors; returns whether any is missing.
    template <class T>
    bool read(const Table<T>& table, const Table<T>& donors, const int64_t* donor, const int64_t* columns,
              int64_t n_columns, int64_t begin, int64_t n) {
        const auto own = [begin](int64_t i) { return begin + i; };
        const auto other = [begin, donor](int64_t i) { return donor[begin + i]; };
        const bool missing = gather_rows(table, columns, n_columns, n, own, x.data());
        const bool missing_donated = gather_rows(donors, columns, n_columns, n, other, donated.data());
        // Lanes without a row have the same values twice, so that they never leave their path.
        n_rows = (n + kLanes - 1) / kLanes * kLanes;
        for (auto* values : {&x, &donated})
            std::fill(values->begin() + n * width, values->begin() + n_rows * width, 0.0);
        std::fill(changes.begin(), changes.end(), 0.0);
        return missing | missing_donated;
    }

    // Keeps the detours of features from n_detours on, of each row the first by a column: from there on the
    // column has the donor's value.
    void keep_first(int64_t end) {
        ++n_walks;
        for (int64_t j = n_detours; j < end; ++j) {
            const Detour detour = detours[j];
            int64_t& last = last_walk[detour.row % kLanes * width + detour.column];
            detours[n_detours] = detour;
            n_detours += last < n_walks;
            last = std::max(last, n_walks);
        }
    }

    const int64_t width;
    const std::vector<int64_t>& slot;  // (columns,) position among the features, -1 for none
    int64_t n_rows = 0;                // whole lanes
    std::vector<double> x, donated;    // (rows, columns)
    // Number of the last walk with a detour by a column; the largest number for columns that are no features.
    std::vector<int64_t> last_walk;  // (lanes, columns)
    int64_t n_walks = 0;
    std::vector<Detour> detours;
    int64_t n_detours = 0;
    double leaf[kBlock];          // value of the leaf of each row
    std::vector<double> changes;  // (features, outputs, rows)
};

template <bool kMissing, bool kCategories>
void Forest::add_changes(ChangeBlock& block) const {
    const Node* nodes = nodes_.data();
    const int64_t trees = static_cast<int64_t>(roots_.size()), width = block.width;
    for (int64_t t = 0; t < trees; ++t) {
        for (int64_t i = 0; i < block.n_rows; i += kLanes) {
            const double* x = block.x.data() + i * width;
            const double* donated = block.donated.data() + i * width;
            Detour* detour = block.detours.data() + block.n_detours;
            int32_t k[kLanes], moved;
            std::fill_n(k, kLanes, roots_[t]);
            do {
                moved = 0;
                for (int l = 0; l < kLanes; ++l) {
                    const Node& node = nodes[k[l]];
                    const uint32_t column = node.column & kColumn;
                    const bool is_left = goes_left<kMissing, kCategories>(node, x[l * width + column]);
                    const bool other = goes_left<kMissing, kCategories>(node, donated[l * width + column]);
                    // Without a branch, which could not be predicted.
                    *detour = {node.left + !other, static_cast<int32_t>(i + l), column};
                    detour += is_left != other;
                    const int32_t next = node.left + !is_left;
                    moved |= next ^ k[l];
                    k[l] = next;
                }
            } while (moved);
            for (int l = 0; l < kLanes; ++l) block.leaf[i + l] = values_[k[l]];
            block.keep_first(detour - block.detours.data());
            if (block.n_detours >= kQueue) walk_detours<kMissing, kCategories>(block, outputs_[t]);
        }
        walk_detours<kMissing, kCategories>(block, outputs_[t]);
    }
}

template <bool kMissing, bool kCategories>
void Forest::walk_detours(ChangeBlock& block, int64_t output) const {
    const Node* nodes = nodes_.data();
    for (int64_t j = 0; j < block.n_detours; j += kLanes) {
        const int n = static_cast<int>(std::min<int64_t>(kLanes, block.n_detours - j));
        const double* x[kLanes];
        double donated[kLanes];
        uint32_t replaced[kLanes];
        int32_t k[kLanes], moved;
        for (int l = 0; l < kLanes; ++l) {
            const Detour& detour = block.detours[j + std::min(l, n - 1)];
            x[l] = block.x.data() + detour.row * block.width;
            donated[l] = block.donated[detour.row * block.width + detour.column];
            replaced[l] = detour.column;
            k[l] = detour.node;
        }
        do {
            moved = 0;
            for (int l = 0; l < kLanes; ++l) {
                const Node& node = nodes[k[l]];
                const uint32_t column = node.column & kColumn;
                const double own = x[l][column];
                const double v = column == replaced[l] ? donated[l] : own;
                const int32_t next = node.left + !goes_left<kMissing, kCategories>(node, v);
                moved |= next ^ k[l];
                k[l] = next;
            }
        } while (moved);
        for (int l = 0; l < n; ++l) {
            const Detour& detour = block.detours[j + l];
            const int64_t sum = block.slot[detour.column] * n_outputs_ + output;
            block.changes[sum * kBlock + detour.row] += values_[k[l]] - block.leaf[detour.row];
        }
    }
    block.n_detours = 0;
}

void Forest::score_changes(Pool& pool, AnyTable any, AnyTable any_donors, Array<const int64_t, 1> donor,
                           Array<const int64_t, 1> columns, Array<const int64_t, 1> features,
                           Array<double, 3> out) const {
    const int64_t n = static_cast<int64_t>(any.shape(0)), trees = static_cast<int64_t>(roots_.size());
    const int64_t n_sums = static_cast<int64_t>(features.shape(0)) * n_outputs_;
    require(any_donors.dtype() == any.dtype() && any_donors.shape(1) == any.shape(1),
            "score_changes: donors of another dtype or number of columns");
    require(static_cast<int64_t>(donor.shape(0)) == n, "score_changes: one donor per row");
    require_below(donor, static_cast<int64_t>(any_donors.shape(0)), "score_changes: donor out of range");
    require(static_cast<int64_t>(columns.shape(0)) == n_columns_, "score_changes: columns of another number");
    require_below(columns, static_cast<int64_t>(any.shape(1)), "score_changes: column out of range");
    require_below(features, n_columns_, "score_changes: feature out of range");
    require(out.shape(0) == features.shape(0) && static_cast<int64_t>(out.shape(1)) == n_outputs_ &&
                static_cast<int64_t>(out.shape(2)) == n,
            "score_changes: out must have shape (features, outputs, rows)");
    std::vector<int64_t> slot(static_cast<size_t>(std::max<int64_t>(n_columns_, 1)), -1);
    for (size_t f = 0; f < features.shape(0); ++f) {
        require(slot[features.data()[f]] < 0, "score_changes: a feature twice");
        slot[features.data()[f]] = static_cast<int64_t>(f);
    }
    std::vector<ChangeBlock> blocks(static_cast<size_t>(pool.size()),
                                    ChangeBlock(n_columns_, max_depth_, slot, n_sums));
    with_table(any, [&](auto table) {
        using T = std::remove_const_t<std::remove_pointer_t<decltype(table.data)>>;
        const Table<T> donors = view<T>(any_donors);
        pool.run(
            (n + kBlock - 1) / kBlock, n * (trees * 24 + n_columns_ + n_sums),
            [&](int64_t index, int worker) {
                const int64_t begin = index * kBlock, rows = std::min(kBlock, n - begin);
                ChangeBlock& block = blocks[worker];
                const bool missing =
                    block.read(table, donors, donor.data(), columns.data(), n_columns_, begin, rows);
                const auto add =
                    has_categories_
                        ? (missing ? &Forest::add_changes<true, true> : &Forest::add_changes<false, true>)
                        : (missing ? &Forest::add_changes<true, false> : &Forest::add_changes<false, false>);
                (this->*add)(block);
                for (int64_t s = 0; s < n_sums; ++s)
                    std::copy_n(block.changes.data() + s * kBlock, rows, out.data() + s * n + begin);
            });
    });
}

}  // namespace gtgbm
