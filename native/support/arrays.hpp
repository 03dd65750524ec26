// Access to numpy arrays: typed views, shape checks, and tables of any dtype and memory order.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "support/compiler.hpp"

namespace gtgbm {

namespace nb = nanobind;

template <class T, int N>
using Array = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

using AnyTable = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

inline void require(bool condition, const char* message) {
    if (!condition) throw std::invalid_argument(message);
}

// A view of a user's dense table, in either memory order. Strides are in elements.
template <class T>
struct Table {
    const T* data;
    int64_t n_rows, n_columns, row_stride, column_stride;

    // Whether the table is stored column by column.
    bool by_columns() const { return std::abs(row_stride) < std::abs(column_stride); }

    double at(int64_t row, int64_t column) const {
        return static_cast<double>(data[row * row_stride + column * column_stride]);
    }

    void prefetch(int64_t row, int64_t column) const {
        gtgbm::prefetch(data + row * row_stride + column * column_stride);
    }
};

template <class T>
Table<T> view(const AnyTable& table) {
    return {static_cast<const T*>(table.data()), static_cast<int64_t>(table.shape(0)),
            static_cast<int64_t>(table.shape(1)), table.stride(0), table.stride(1)};
}

// Calls body(Table<T>) with the element type T of the array.
template <class F>
void with_table(const AnyTable& table, F&& body) {
    const auto dtype = table.dtype();
    if (dtype == nb::dtype<float>()) return body(view<float>(table));
    if (dtype == nb::dtype<double>()) return body(view<double>(table));
    if (dtype == nb::dtype<int8_t>()) return body(view<int8_t>(table));
    if (dtype == nb::dtype<int16_t>()) return body(view<int16_t>(table));
    if (dtype == nb::dtype<int32_t>()) return body(view<int32_t>(table));
    if (dtype == nb::dtype<int64_t>()) return body(view<int64_t>(table));
    if (dtype == nb::dtype<uint8_t>()) return body(view<uint8_t>(table));
    if (dtype == nb::dtype<uint16_t>()) return body(view<uint16_t>(table));
    if (dtype == nb::dtype<uint32_t>()) return body(view<uint32_t>(table));
    if (dtype == nb::dtype<uint64_t>()) return body(view<uint64_t>(table));
    throw std::invalid_argument("table: dtype must be a native float32, float64 or an integer");
}

inline void require_below(const Array<const int64_t, 1>& indices, int64_t bound, const char* message) {
    for (size_t i = 0; i < indices.shape(0); ++i)
        require(indices.data()[i] >= 0 && indices.data()[i] < bound, message);
}

}  // namespace gtgbm
