// The exact histogram cell: a gradient sum and a row count.
//
// A row of integer weight w contributes w q and w, where q is its fixed-point gradient: the same as w rows of
// weight 1. Integer sums do not depend on their order, so splits depend neither on the number of threads nor
// on how rows are divided among machines. Counts of rows are sums of weights.
#pragma once

#include <cstdint>

namespace gtgbm {

// Which of the two formats below cells have. `count_bits` low bits of a row's 64-bit integer are its weight,
// or what it adds to the count.
struct CellFormat {
    CellFormat(int bits, bool wide) : count_bits(bits), is_wide(wide) {}

    int count_bits;
    bool is_wide;

    // Numbers of a cell in arrays of 64-bit integers.
    int64_t width() const { return is_wide ? 2 : 1; }
};

// Gradient and count in one 64-bit integer, (gradient << count_bits) + count: rows are cells themselves, and
// one addition adds both. Fast, but the gradient has few bits where there are many rows.
struct PackedCells {
    using Cell = int64_t;
    int count_bits;

    Cell of_row(int64_t row) const { return row; }
    // The cell of a gradient sum and a count that stand one after the other.
    Cell at(const int64_t* sums) const { return sums[0] * one_gradient() + sums[1]; }
    int64_t row_of(int64_t q, int64_t weight) const { return (q * one_gradient() + 1) * weight; }

    int64_t count(Cell cell) const { return cell & ((int64_t{1} << count_bits) - 1); }
    // An arithmetic shift rounds towards minus infinity, which removes the count exactly.
    int64_t gradient(Cell cell) const { return cell >> count_bits; }

    // Adds w q^2 of a row to high * 2^32 + low.
    void add_squares(int64_t row, int64_t& high, int64_t& low) const {
        const int64_t weight = count(row), sum = gradient(row);
        const int64_t q = weight > 1 ? sum / weight : sum;
        high += ((q * q) >> 32) * weight;
        low += ((q * q) & 0xffffffff) * weight;
    }

  private:
    // To multiply by, since a left shift of a negative number is undefined in C++17.
    int64_t one_gradient() const { return int64_t{1} << count_bits; }
};

// Without default values, so that arrays of cells that are written before they are read cost nothing.
struct WideCell {
    int64_t gradient, count;

    WideCell& operator+=(const WideCell& other) {
        gradient += other.gradient;
        count += other.count;
        return *this;
    }
    WideCell& operator-=(const WideCell& other) {
        gradient -= other.gradient;
        count -= other.count;
        return *this;
    }
    friend WideCell operator+(WideCell a, const WideCell& b) { return a += b; }
    friend WideCell operator-(WideCell a, const WideCell& b) { return a -= b; }
    friend bool operator!=(const WideCell& a, const WideCell& b) {
        return a.gradient != b.gradient || a.count != b.count;
    }
};

// Gradient and count in an integer each, for tables whose counts would leave the gradient too few bits of
// one. A row is (q << count_bits) + w: 31 bits of q and a weight below 2^31 are exact in it, and in any sum.
struct WideCells {
    using Cell = WideCell;
    int count_bits;

    Cell of_row(int64_t row) const {
        const int64_t weight = weight_of(row);
        return {(row >> count_bits) * weight, weight};
    }
    Cell at(const int64_t* sums) const { return {sums[0], sums[1]}; }
    int64_t row_of(int64_t q, int64_t weight) const { return q * (int64_t{1} << count_bits) + weight; }

    int64_t count(const Cell& cell) const { return cell.count; }
    int64_t gradient(const Cell& cell) const { return cell.gradient; }

    void add_squares(int64_t row, int64_t& high, int64_t& low) const {
        const int64_t weight = weight_of(row), q = row >> count_bits;
        high += ((q * q) >> 32) * weight;
        low += ((q * q) & 0xffffffff) * weight;
    }

  private:
    int64_t weight_of(int64_t row) const { return row & ((int64_t{1} << count_bits) - 1); }
};

// Calls body(PackedCells) or body(WideCells).
template <class F>
auto with_format(const CellFormat& format, F&& body) {
    return format.is_wide ? body(WideCells{format.count_bits}) : body(PackedCells{format.count_bits});
}

// The cells of an array of 64-bit integers.
template <class Format>
typename Format::Cell* cells_in(int64_t* numbers) {
    return reinterpret_cast<typename Format::Cell*>(numbers);
}
template <class Format>
const typename Format::Cell* cells_in(const int64_t* numbers) {
    return reinterpret_cast<const typename Format::Cell*>(numbers);
}

}  // namespace gtgbm
