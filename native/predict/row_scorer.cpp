#include "predict/row_scorer.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "support/exponential.hpp"

namespace gtgbm {

namespace {

// A view of an object's memory by Python's buffer protocol, which is faster to get than a nanobind array.
class RowBuffer {
  public:
    explicit RowBuffer(nb::handle object) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_STRIDES | PyBUF_FORMAT) != 0)
            throw nb::python_error();
    }
    ~RowBuffer() { PyBuffer_Release(&view_); }
    RowBuffer(const RowBuffer&) = delete;
    RowBuffer& operator=(const RowBuffer&) = delete;

    void require_width(int64_t width) const {
        if (view_.ndim == 1 && view_.shape[0] == width) return;
        PyErr_Format(PyExc_ValueError, "the row has %d dimensions%s%zd values: give an array of shape (%zd,)",
                     view_.ndim, view_.ndim == 1 ? " and " : ", in the first one ",
                     view_.ndim > 0 ? view_.shape[0] : Py_ssize_t{0}, static_cast<Py_ssize_t>(width));
        throw nb::python_error();
    }

    bool has_format(const char* format) const {
        return view_.format != nullptr && std::strcmp(view_.format, format) == 0;
    }

    [[noreturn]] void refuse_format() const {
        PyErr_Format(PyExc_TypeError,
                     "the row has values of format '%s': give an array of float64 or float32",
                     view_.format == nullptr ? "B" : view_.format);
        throw nb::python_error();
    }

    // Copies the columns; returns whether any value is missing.
    template <class T>
    bool gather(const std::vector<int64_t>& columns, double* x) const {
        const char* data = static_cast<const char*>(view_.buf);
        const int64_t stride = view_.strides[0];
        bool missing = false;
        for (size_t c = 0; c < columns.size(); ++c) {
            T value;
            std::memcpy(&value, data + columns[c] * stride, sizeof(T));
            x[c] = static_cast<double>(value);
            missing |= std::isnan(x[c]);
        }
        return missing;
    }

  private:
    Py_buffer view_;
};

// Columns that need no memory from the heap.
constexpr size_t kFewColumns = 128;

}  // namespace

RowScorer::RowScorer(const Forest& forest, int64_t width, Array<const int64_t, 1> columns,
                     Array<const double, 1> start, Link link)
    : forest_(forest),
      width_(width),
      columns_(columns.data(), columns.data() + columns.shape(0)),
      start_(start.data(), start.data() + start.shape(0)),
      link_(link) {
    require(static_cast<int64_t>(columns_.size()) == forest.n_columns(),
            "RowScorer: columns of another number");
    require(static_cast<int64_t>(start_.size()) == forest.n_outputs(),
            "RowScorer: one start for each output");
    require_below(columns, width, "RowScorer: column out of range");
}

void RowScorer::add(nb::handle object, double* sums) const {
    const RowBuffer row(object);
    row.require_width(width_);
    double few[kFewColumns] = {};
    std::vector<double> many(columns_.size() > kFewColumns ? columns_.size() : 0);
    double* x = many.empty() ? few : many.data();
    bool missing;
    if (row.has_format("d"))
        missing = row.gather<double>(columns_, x);
    else if (row.has_format("f"))
        missing = row.gather<float>(columns_, x);
    else
        row.refuse_format();
    std::copy(start_.begin(), start_.end(), sums);
    forest_.add_row(x, missing, sums);
}

double RowScorer::predict(nb::handle row) const {
    require(start_.size() == 1, "RowScorer: predict is for one output");
    double score;
    add(row, &score);
    if (link_ == Link::kLogistic) return 1.0 / (1.0 + exponential(-score));
    return link_ == Link::kExponential ? exponential(score) : score;
}

void RowScorer::scores(nb::handle row, Array<double, 1> out) const {
    require(out.shape(0) == start_.size(), "RowScorer: out must have one place for each output");
    add(row, out.data());
}

}  // namespace gtgbm
