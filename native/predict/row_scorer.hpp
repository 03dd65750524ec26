// Predicts single rows; everything that does not depend on the row is done beforehand.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

#include "predict/forest.hpp"
#include "support/arrays.hpp"

namespace gtgbm {

// Holds the GIL during a call: giving it away and taking it back takes as long as a few trees.
class RowScorer {
  public:
    // What is returned for a score: itself, 1 / (1 + exp(-score)), or exp(score).
    enum class Link { kIdentity, kLogistic, kExponential };

    RowScorer(const Forest& forest, int64_t width,  // in; must outlive the scorer
              Array<const int64_t, 1> columns,      // in  positions of the forest's columns in a row
              Array<const double, 1> start,         // in  (outputs,)
              Link link);                           // in  for a forest of one output

    // The prediction of a row of shape (width,), float64 or float32, any stride.
    double predict(nb::handle row) const;

    // Writes the scores of a row to out (outputs,), without the link.
    void scores(nb::handle row, Array<double, 1> out) const;

  private:
    void add(nb::handle row, double* sums) const;

    const Forest& forest_;
    int64_t width_;
    std::vector<int64_t> columns_;
    std::vector<double> start_;
    Link link_;
};

}  // namespace gtgbm
