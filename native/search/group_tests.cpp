#include "search/group_tests.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "tree/cells.hpp"
#include "tree/histogram_kernel.hpp"

namespace gtgbm {
namespace {

void require_shape(const GroupShape& shape, int64_t size) {
    const size_t groups = shape.begin.shape(0);
    require(groups >= 1 && shape.end.shape(0) == groups && shape.first_child.shape(0) == groups &&
                shape.n_children.shape(0) == groups && shape.tile.shape(0) == groups,
            "group shape: all arrays must have one entry per group");
    for (size_t g = 0; g < groups; ++g) {
        const int64_t children = shape.n_children.data()[g], first = shape.first_child.data()[g];
        require(0 <= shape.begin.data()[g] && shape.begin.data()[g] < shape.end.data()[g] &&
                    shape.end.data()[g] <= size,
                "group shape: positions outside the subset");
        require(children >= 0 && children <= kLanes, "group shape: at most 8 children");
        require(children <= shape.end.data()[g] - shape.begin.data()[g],
                "group shape: more children than features");
        // Children have higher numbers than their parent, so that every descent ends.
        require(children == 0 ||
                    (first > static_cast<int64_t>(g) && first + children <= static_cast<int64_t>(groups)),
                "group shape: children out of range");
    }
}

void require_members(const Array<const int64_t, 2>& members, int64_t d) {
    for (size_t i = 0; i < members.shape(0) * members.shape(1); ++i)
        require(members.data()[i] >= 0 && members.data()[i] < d, "members: feature out of range");
}

// Converts sums to codes.
template <class Sum>
class SumCoder {
  public:
    SumCoder(int64_t n_rows, int n_codes, bool exact) : n_codes_(n_codes), exact_(exact) {
        if (exact) sorted_.resize(static_cast<size_t>(n_rows));
    }

    void operator()(const Sum* sums, int64_t n, int64_t stride, uint8_t* out) {
        exact_ ? by_order(sums, n, stride, out) : by_width(sums, n, stride, out);
    }

  private:
    // One code per distinct sum if there are enough codes, else quantiles.
    void by_order(const Sum* sums, int64_t n, int64_t stride, uint8_t* out) {
        std::copy_n(sums, n, sorted_.begin());
        std::sort(sorted_.begin(), sorted_.end());
        std::vector<Sum> last;  // largest sum of each code
        int64_t distinct = 0;
        for (int64_t i = 0; i < n; ++i) distinct += i == 0 || sorted_[i] != sorted_[i - 1];
        if (distinct <= n_codes_) {
            last.assign(sorted_.begin(), sorted_.end());
            last.erase(std::unique(last.begin(), last.end()), last.end());
        } else {
            for (int64_t code = 1; code <= n_codes_; ++code) last.push_back(sorted_[code * n / n_codes_ - 1]);
            last.erase(std::unique(last.begin(), last.end()), last.end());
        }
        for (int64_t i = 0; i < n; ++i)
            out[i * stride] =
                static_cast<uint8_t>(std::lower_bound(last.begin(), last.end(), sums[i]) - last.begin());
    }

    // Bins of equal width. Sums of rank codes have no outliers, so these are as good as quantiles and need no
    // sorting.
    void by_width(const Sum* sums, int64_t n, int64_t stride, uint8_t* out) {
        Sum low = sums[0], high = sums[0];
        for (int64_t i = 1; i < n; ++i) {
            low = std::min(low, sums[i]);
            high = std::max(high, sums[i]);
        }
        const float scale = static_cast<float>(n_codes_) / (static_cast<float>(high - low) + 1.0F);
        const float top = static_cast<float>(n_codes_ - 1);
        constexpr int64_t kBlock = 256;
        int32_t code[kBlock];
        for (int64_t from = 0; from < n; from += kBlock) {
            const int64_t count = std::min(kBlock, n - from);
            for (int64_t i = 0; i < count; ++i)
                code[i] =
                    static_cast<int32_t>(std::min(static_cast<float>(sums[from + i] - low) * scale, top));
            for (int64_t i = 0; i < count; ++i) out[(from + i) * stride] = static_cast<uint8_t>(code[i]);
        }
    }

    int n_codes_;
    bool exact_;
    std::vector<Sum> sorted_;
};

// Sums the groups of one subset bottom-up, writing the codes of every group that has a tile.
template <class Value, class Sum>
class GroupSummer {
  public:
    GroupSummer(const Array<const Value, 2>& values, int top, const Array<const int8_t, 1>& sign,
                const GroupShape& shape, int n_codes, bool exact, int64_t width)
        : values_(values.data()),
          m_(static_cast<int64_t>(values.shape(1))),
          top_(top),
          sign_(sign.data()),
          shape_(shape),
          width_(width),
          coder_(m_, n_codes, exact) {}

    void start(const int64_t* members, uint8_t* tiles) {
        members_ = members;
        tiles_ = tiles;
    }

    // Codes of child `child` of group g; afterwards sums(depth) holds the child's sums.
    void child_codes(int64_t g, int64_t child, size_t depth) {
        sum(shape_.first_child.data()[g] + child, depth);
        coder_(buffer(depth), m_, width_, tiles_ + shape_.tile.data()[g] * m_ * width_ + child);
    }

  private:
    Sum* buffer(size_t depth) {
        while (buffers_.size() <= depth) buffers_.emplace_back(static_cast<size_t>(m_));
        return buffers_[depth].data();
    }

    void sum(int64_t g, size_t depth) {
        Sum* out = buffer(depth);
        std::fill_n(out, m_, Sum{0});
        if (shape_.tile.data()[g] < 0) {
            for (int64_t at = shape_.begin.data()[g]; at < shape_.end.data()[g]; ++at)
                add_feature(members_[at], out);
            return;
        }
        for (int64_t child = 0; child < shape_.n_children.data()[g]; ++child) {
            child_codes(g, child, depth + 1);
            out = buffer(depth);
            const Sum* part = buffer(depth + 1);
            for (int64_t i = 0; i < m_; ++i) out[i] += part[i];
        }
    }

    void add_feature(int64_t feature, Sum* out) const {
        const Value* value = values_ + feature * m_;
        if (sign_[feature] < 0) {
            for (int64_t i = 0; i < m_; ++i) out[i] += static_cast<Sum>(top_ - value[i]);
        } else {
            for (int64_t i = 0; i < m_; ++i) out[i] += static_cast<Sum>(value[i]);
        }
    }

    const Value* values_;
    int64_t m_;
    int top_;
    const int8_t* sign_;
    const GroupShape& shape_;
    int64_t width_;
    SumCoder<Sum> coder_;
    const int64_t* members_ = nullptr;
    uint8_t* tiles_ = nullptr;
    std::vector<std::vector<Sum>> buffers_;
};

template <class Value>
void build_group_codes(Pool& pool, const Array<const Value, 2>& values, int top,
                       const Array<const int64_t, 2>& members, const Array<const int8_t, 1>& sign,
                       const GroupShape& shape, int n_codes, bool exact, const Array<uint8_t, 4>& tiles) {
    // A sum of half a million 16-bit values does not fit into 32 bits.
    using Sum = std::conditional_t<sizeof(Value) == 1, int32_t, int64_t>;
    const int64_t p = static_cast<int64_t>(members.shape(0)), size = static_cast<int64_t>(members.shape(1));
    const int64_t m = static_cast<int64_t>(values.shape(1)), width = static_cast<int64_t>(tiles.shape(3));
    require_shape(shape, size);
    require_members(members, static_cast<int64_t>(values.shape(0)));
    require(sign.shape(0) == values.shape(0), "build_group_codes: one sign per feature");
    require(n_codes >= 2 && n_codes <= kCells, "build_group_codes: n_codes must be in 2 .. 256");
    require(m >= 1 && static_cast<int64_t>(tiles.shape(0)) == p && static_cast<int64_t>(tiles.shape(2)) == m,
            "build_group_codes: tiles must have shape (subsets, tiles, rows, width)");
    for (size_t g = 0; g < shape.tile.shape(0); ++g)
        require(shape.tile.data()[g] < static_cast<int64_t>(tiles.shape(1)) &&
                    (shape.tile.data()[g] < 0 || shape.n_children.data()[g] <= width),
                "build_group_codes: tile out of range");
    if (shape.tile.data()[0] < 0) return;

    std::vector<GroupSummer<Value, Sum>> summers(
        static_cast<size_t>(pool.size()),
        GroupSummer<Value, Sum>(values, top, sign, shape, n_codes, exact, width));
    const int64_t roots = shape.n_children.data()[0];
    const int64_t subset_tiles = static_cast<int64_t>(tiles.shape(1)) * m * width;
    pool.run(p * roots, p * size * m, [&](int64_t task, int worker) {
        auto& summer = summers[static_cast<size_t>(worker)];
        const int64_t subset = task / roots;
        summer.start(members.data() + subset * size, tiles.data() + subset * subset_tiles);
        summer.child_codes(0, task % roots, 0);
    });
}

// State of the search of one subset at one node.
template <class Format>
struct Search {
    using Cell = typename Format::Cell;

    const int32_t* positions;
    const int64_t* cells;
    int64_t begin, end;
    Cell total;
    SideTerms terms;
    Format format;
    int n_codes;
};

template <int Width, class Format>
void fill(const uint8_t* tile, const Search<Format>& at, typename Format::Cell* hist) {
    std::memset(hist, 0, static_cast<size_t>(Width * at.n_codes) * sizeof(typename Format::Cell));
    add_rows<Width>(tile, at.positions, at.cells, at.begin, at.end, at.n_codes, at.format, hist);
}

// The same for single features, each with its codes in a row of `codes`. With fewer than eight features, the
// first one fills the remaining histograms, which are not read: one loop of fixed width is faster than eight
// short ones.
template <class Format, class Cell = typename Format::Cell>
void fill_single(const uint8_t* codes, int64_t m, const int64_t* features, int64_t count,
                 const Search<Format>& at, Cell* hist) {
    std::memset(hist, 0, static_cast<size_t>(kLanes * at.n_codes) * sizeof(Cell));
    const uint8_t* column[kLanes];
    for (int64_t lane = 0; lane < kLanes; ++lane)
        column[lane] = codes + features[lane < count ? lane : 0] * m;
    for (int64_t i = at.begin; i < at.end; ++i) {
        const int32_t position = at.positions[i];
        const Cell cell = at.format.of_row(at.cells[i]);
        for (int lane = 0; lane < kLanes; ++lane) hist[lane * at.n_codes + column[lane][position]] += cell;
    }
}

// Gain of the best split of a group, and what is left of it after the price of the group's cheapest feature.
struct Score {
    double gain = 0.0, net = 0.0;
};

// Returns the child with the best split after its price and writes its score to `best_score`; ties go to the
// first. `price_of(child)` is what a child costs.
template <class PriceOf, class Format>
int64_t best_child(const typename Format::Cell* hist, int64_t children, const Search<Format>& at,
                   const PriceOf& price_of, Score& best_score) {
    int64_t best = 0;
    for (int64_t child = 0; child < children; ++child) {
        const double found = best_gain(hist + child * at.n_codes, at.n_codes, at.total, at.format, at.terms);
        const double net = found - price_of(child);
        if (child == 0 || net > best_score.net) {
            best_score = {found, net};
            best = child;
        }
    }
    return best;
}

// search_groups with cells of one format; all nodes together have `rows` test rows.
template <class Format>
void search(Pool& pool, const Array<const uint8_t, 4>& tiles, const Array<const uint8_t, 2>& codes,
            const Array<const int64_t, 2>& members, const Array<const double, 2>& price,
            const GroupShape& shape, int n_codes, const Array<const int32_t, 1>& positions,
            const Array<const int64_t, 1>& cells, const Array<const int64_t, 1>& begin,
            const Array<const int64_t, 1>& end, int64_t rows, Format format, SideTerms terms,
            const Array<int64_t, 2>& feature, const Array<double, 2>& gain) {
    using Cell = typename Format::Cell;
    const int64_t p = static_cast<int64_t>(members.shape(0)), size = static_cast<int64_t>(members.shape(1));
    const int64_t m = static_cast<int64_t>(codes.shape(1)), width = static_cast<int64_t>(tiles.shape(3));
    const int64_t nodes = static_cast<int64_t>(begin.shape(0)), kept = static_cast<int64_t>(feature.shape(1));
    const bool has_prices = price.shape(0) != 0;
    std::vector<Cell> totals(static_cast<size_t>(nodes), Cell{});
    for (int64_t k = 0; k < nodes; ++k)
        for (int64_t i = begin.data()[k]; i < end.data()[k]; ++i)
            totals[static_cast<size_t>(k)] += format.of_row(cells.data()[i]);
    std::vector<Cell> scratch(static_cast<size_t>(pool.size()) * kLanes * kCells);
    const int64_t subset_tiles = static_cast<int64_t>(tiles.shape(1)) * m * width;
    const auto search_at = [&](int64_t node) {
        return Search<Format>{positions.data(),
                              cells.data(),
                              begin.data()[node],
                              end.data()[node],
                              totals[static_cast<size_t>(node)],
                              terms,
                              format,
                              n_codes};
    };
    // Moves from group g of a subset to its best child; a group of one feature is only scored.
    const auto step = [&](const Search<Format>& at, int64_t subset, int64_t g, int worker,
                          Score& best_score) {
        Cell* hist = scratch.data() + static_cast<size_t>(worker) * kLanes * kCells;
        const int64_t tile = shape.tile.data()[g], children = shape.n_children.data()[g];
        if (tile < 0) {
            const int64_t* features = members.data() + subset * size + shape.begin.data()[g];
            fill_single(codes.data(), m, features, std::max<int64_t>(children, 1), at, hist);
        } else {
            const uint8_t* base = tiles.data() + subset * subset_tiles + tile * m * width;
            width == 2 ? fill<2>(base, at, hist) : fill<kLanes>(base, at, hist);
        }
        const auto price_of = [&](int64_t child) {
            if (!has_prices) return 0.0;
            const int64_t part = children == 0 ? g : shape.first_child.data()[g] + child;
            const double* prices = price.data() + subset * size;
            return *std::min_element(prices + shape.begin.data()[part], prices + shape.end.data()[part]);
        };
        const int64_t best = best_child(hist, std::max<int64_t>(children, 1), at, price_of, best_score);
        return children == 0 ? g : shape.first_child.data()[g] + best;
    };

    // Take the first step of every subset, then descend only the best ones.
    std::vector<int64_t> group(static_cast<size_t>(nodes * p)), order(static_cast<size_t>(nodes * p));
    std::vector<Score> score(static_cast<size_t>(nodes * p));
    pool.run(nodes * p, rows * p * 8, [&](int64_t task, int worker) {
        group[static_cast<size_t>(task)] =
            step(search_at(task / p), task % p, 0, worker, score[static_cast<size_t>(task)]);
    });
    for (int64_t node = 0; node < nodes; ++node) {
        const auto first = order.begin() + node * p;
        std::iota(first, first + p, node * p);
        if (kept == p) continue;
        std::partial_sort(first, first + kept, first + p, [&](int64_t a, int64_t b) {
            const double x = score[static_cast<size_t>(a)].net, y = score[static_cast<size_t>(b)].net;
            return x > y || (x == y && a < b);
        });
    }
    pool.run(nodes * kept, rows * kept * 8, [&](int64_t task, int worker) {
        const int64_t node = task / kept;
        const auto chosen = static_cast<size_t>(order[static_cast<size_t>(node * p + task % kept)]);
        const int64_t subset = static_cast<int64_t>(chosen) % p;
        const Search<Format> at = search_at(node);
        int64_t g = group[chosen];
        Score best_score = score[chosen];
        while (shape.n_children.data()[g] > 0) g = step(at, subset, g, worker, best_score);
        feature.data()[task] = members.data()[subset * size + shape.begin.data()[g]];
        gain.data()[task] = best_score.gain;
    });
}

}  // namespace

void build_group_codes8(Pool& pool, Array<const uint8_t, 2> values, int top, Array<const int64_t, 2> members,
                        Array<const int8_t, 1> sign, GroupShape shape, int n_codes, bool exact,
                        Array<uint8_t, 4> tiles) {
    build_group_codes(pool, values, top, members, sign, shape, n_codes, exact, tiles);
}

void build_group_codes16(Pool& pool, Array<const uint16_t, 2> values, int top,
                         Array<const int64_t, 2> members, Array<const int8_t, 1> sign, GroupShape shape,
                         int n_codes, bool exact, Array<uint8_t, 4> tiles) {
    build_group_codes(pool, values, top, members, sign, shape, n_codes, exact, tiles);
}

void sorted_codes(Pool& pool, Array<const uint16_t, 2> values, int n_codes, Array<uint8_t, 2> out) {
    const int64_t d = static_cast<int64_t>(values.shape(0)), m = static_cast<int64_t>(values.shape(1));
    require(out.shape(0) == values.shape(0) && out.shape(1) == values.shape(1),
            "sorted_codes: out must have the shape of values");
    require(n_codes >= 2 && n_codes <= kCells, "sorted_codes: n_codes must be in 2 .. 256");
    std::vector<SumCoder<uint16_t>> coders(static_cast<size_t>(pool.size()),
                                           SumCoder<uint16_t>(m, n_codes, true));
    pool.run(d, d * m * 20, [&](int64_t j, int worker) {
        coders[static_cast<size_t>(worker)](values.data() + j * m, m, 1, out.data() + j * m);
    });
}

void search_groups(Pool& pool, Array<const uint8_t, 4> tiles, Array<const uint8_t, 2> codes,
                   Array<const int64_t, 2> members, Array<const double, 2> price, GroupShape shape,
                   int n_codes, Array<const int32_t, 1> positions, Array<const int64_t, 1> cells,
                   Array<const int64_t, 1> begin, Array<const int64_t, 1> end, const CellFormat& format,
                   int64_t min_leaf, double l2, Array<int64_t, 2> feature, Array<double, 2> gain) {
    const int64_t p = static_cast<int64_t>(members.shape(0)), size = static_cast<int64_t>(members.shape(1));
    const int64_t m = static_cast<int64_t>(codes.shape(1)), width = static_cast<int64_t>(tiles.shape(3));
    const int64_t nodes = static_cast<int64_t>(begin.shape(0));
    require_shape(shape, size);
    require_members(members, static_cast<int64_t>(codes.shape(0)));
    const bool has_prices = price.shape(0) != 0;
    require(!has_prices ||
                (static_cast<int64_t>(price.shape(0)) == p && static_cast<int64_t>(price.shape(1)) == size),
            "search_groups: one price per member, or none");
    require(width == 2 || width == kLanes, "search_groups: tiles must be 2 or 8 wide");
    require(n_codes >= 2 && n_codes <= kCells, "search_groups: n_codes must be in 2 .. 256");
    require(static_cast<int64_t>(tiles.shape(0)) == p && static_cast<int64_t>(tiles.shape(2)) == m,
            "search_groups: tiles must have shape (subsets, tiles, rows, width)");
    require(*std::max_element(shape.tile.data(), shape.tile.data() + shape.tile.shape(0)) <
                static_cast<int64_t>(tiles.shape(1)),
            "search_groups: tile out of range");
    require(cells.shape(0) == positions.shape(0) && end.shape(0) == begin.shape(0),
            "search_groups: positions and cells must have the same length");
    require(positions.shape(0) <= codes.shape(1), "search_groups: more positions than test rows");
    const int64_t kept = static_cast<int64_t>(feature.shape(1));
    require(static_cast<int64_t>(feature.shape(0)) == nodes && static_cast<int64_t>(gain.shape(0)) == nodes &&
                gain.shape(1) == feature.shape(1) && kept >= 1 && kept <= p,
            "search_groups: outputs must have shape (nodes, kept) with at most one entry per subset");
    int64_t rows = 0;
    for (int64_t k = 0; k < nodes; ++k) {
        require(0 <= begin.data()[k] && begin.data()[k] <= end.data()[k] &&
                    end.data()[k] <= static_cast<int64_t>(positions.shape(0)),
                "search_groups: range outside the test rows");
        rows += end.data()[k] - begin.data()[k];
    }
    with_format(format, [&](auto of_cells) {
        search(pool, tiles, codes, members, price, shape, n_codes, positions, cells, begin, end, rows,
               of_cells, {min_leaf, l2}, feature, gain);
    });
}

void correlate(Pool& pool, Array<const uint8_t, 2> codes, Array<const int16_t, 1> weight,
               Array<int64_t, 1> out) {
    const int64_t d = static_cast<int64_t>(codes.shape(0)), m = static_cast<int64_t>(codes.shape(1));
    require(weight.shape(0) == codes.shape(1) && out.shape(0) == codes.shape(0),
            "correlate: weight per row, out per feature");
    // 255 * 32767 * 256 is below 2^31, so blocks of 256 rows can be summed in 32 bits, which vectorises.
    constexpr int64_t kBlock = 256;
    constexpr int64_t kFeatures = 64;
    pool.run((d + kFeatures - 1) / kFeatures, d * m / 2, [&](int64_t task, int) {
        for (int64_t j = task * kFeatures; j < std::min(d, (task + 1) * kFeatures); ++j) {
            const uint8_t* code = codes.data() + j * m;
            int64_t sum = 0;
            for (int64_t from = 0; from < m; from += kBlock) {
                int32_t part = 0;
                const int64_t to = std::min(m, from + kBlock);
                for (int64_t i = from; i < to; ++i) part += int32_t{code[i]} * int32_t{weight.data()[i]};
                sum += part;
            }
            out.data()[j] = sum;
        }
    });
}

}  // namespace gtgbm
