// Registers the kernels. Their headers document them; _core.pyi has their types for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binning/dense.hpp"
#include "binning/sparse.hpp"
#include "objective/gradients.hpp"
#include "objective/ranking.hpp"
#include "predict/contributions.hpp"
#include "predict/forest.hpp"
#include "predict/interactions.hpp"
#include "predict/row_scorer.hpp"
#include "search/group_tests.hpp"
#include "search/sparse.hpp"
#include "search/trend_tests.hpp"
#include "support/codes.hpp"
#include "support/pool.hpp"
#include "support/vectors.hpp"
#include "tree/histograms.hpp"
#include "tree/partition.hpp"
#include "tree/subtrees.hpp"
#include "tree/tile_set.hpp"

namespace nb = nanobind;
using namespace gtgbm;

namespace {

// Kernels never convert arrays: a silent copy of an output array would lose the result. All arguments are
// named, so that callers can pass them by keyword.
template <class R, class... Args, class... Names>
void kernel(nb::module_& m, const char* name, R (*f)(Args...), Names... names) {
    static_assert(sizeof...(Args) == sizeof...(Names), "every argument of a kernel has a name");
    m.def(name, f, nb::call_guard<nb::gil_scoped_release>(), nb::arg(names).noconvert()...);
}

// Constants of the layout of codes, cells and nodes that Python uses.
void register_constants(nb::module_& m) {
    m.attr("LANES") = kLanes;
    m.attr("CELLS") = kCells;
    m.attr("SKIPPED") = static_cast<int>(kSkipped);
    m.attr("NEW") = static_cast<int>(kNew);
    m.attr("OWNED") = static_cast<int>(kOwned);
    m.attr("CATEGORICAL") = static_cast<int>(kCategorical);
    m.attr("RISING") = static_cast<int>(kRising);
    m.attr("FALLING") = static_cast<int>(kFalling);
    m.attr("MISSING_RIGHT") = static_cast<int>(kMissingRight);
    m.attr("MISSING_LEFT") = static_cast<int>(kMissingLeft);
    m.attr("MISSING_UNSEEN") = static_cast<int>(kMissingUnseen);
    m.attr("TREND_LEVELS") = kTrendLevels;
    m.attr("SUBTREE_FIELDS") =
        nb::make_tuple("column", "bin", "missing_side", "left", "begin", "end", "gradient", "count", "depth");
    static_assert(kSubtreeFields == 9 && kNodeColumn == 0 && kNodeLeft == 3 && kNodeDepth == 8,
                  "SUBTREE_FIELDS names the fields in their order");
}

void register_classes(nb::module_& m) {
    nb::class_<Pool>(m, "Pool").def(nb::init<int>(), nb::arg("n_threads")).def_prop_ro("size", &Pool::size);
    nb::class_<CellFormat>(m, "CellFormat")
        .def(nb::init<int, bool>(), nb::arg("count_bits"), nb::arg("is_wide") = false)
        .def_ro("count_bits", &CellFormat::count_bits)
        .def_ro("is_wide", &CellFormat::is_wide)
        .def_prop_ro("width", &CellFormat::width);
    using I64 = Array<const int64_t, 1>;
    nb::class_<GroupShape>(m, "GroupShape")
        .def(
            "__init__",
            [](GroupShape* self, I64 begin, I64 end, I64 first_child, I64 n_children, I64 tile) {
                new (self) GroupShape{begin, end, first_child, n_children, tile};
            },
            nb::arg("begin"), nb::arg("end"), nb::arg("first_child"), nb::arg("n_children"), nb::arg("tile"));
    using I32 = Array<const int32_t, 1>;
    using F64 = Array<const double, 1>;
    using U8 = Array<const uint8_t, 1>;
    nb::class_<TileColumns>(m, "TileColumns")
        .def(nb::init<I32, U8, I32, Array<const uint8_t, 2>, F64>(), nb::arg("n_bins").noconvert(),
             nb::arg("use").noconvert(), nb::arg("category_row").noconvert(),
             nb::arg("category_use").noconvert(), nb::arg("price").noconvert());
    nb::class_<TileSet>(m, "TileSet")
        .def(nb::init<Array<const uint8_t, 3>, I64, TileColumns>(), nb::arg("codes").noconvert(),
             nb::arg("widths").noconvert(), nb::arg("columns"));
    nb::class_<Forest> forest(m, "Forest");
    forest.attr("ROWS_PER_TASK") = Forest::kBlock;
    forest
        .def(nb::init<int64_t, int64_t, I64, I64, I32, F64, U8, U8, I32, F64>(), nb::arg("n_columns"),
             nb::arg("n_outputs"), nb::arg("first"), nb::arg("output"), nb::arg("feature"),
             nb::arg("threshold"), nb::arg("is_category"), nb::arg("missing_left"), nb::arg("left"),
             nb::arg("value"))
        .def("predict", &Forest::predict, nb::call_guard<nb::gil_scoped_release>(), nb::arg("pool"),
             nb::arg("table").noconvert(), nb::arg("columns").noconvert(), nb::arg("out").noconvert(),
             nb::arg("begin"), nb::arg("end"))
        .def("leaves", &Forest::leaves, nb::call_guard<nb::gil_scoped_release>(), nb::arg("pool"),
             nb::arg("table").noconvert(), nb::arg("columns").noconvert(), nb::arg("out").noconvert())
        .def("add_contributions", &Forest::add_contributions, nb::call_guard<nb::gil_scoped_release>(),
             nb::arg("pool"), nb::arg("table").noconvert(), nb::arg("columns").noconvert(),
             nb::arg("background").noconvert(), nb::arg("places").noconvert(), nb::arg("out").noconvert())
        .def("score_changes", &Forest::score_changes, nb::call_guard<nb::gil_scoped_release>(),
             nb::arg("pool"), nb::arg("table").noconvert(), nb::arg("donors").noconvert(),
             nb::arg("donor").noconvert(), nb::arg("columns").noconvert(), nb::arg("features").noconvert(),
             nb::arg("out").noconvert());
    nb::class_<RowScorer> scorer(m, "RowScorer");
    nb::enum_<RowScorer::Link>(scorer, "Link")
        .value("identity", RowScorer::Link::kIdentity)
        .value("logistic", RowScorer::Link::kLogistic)
        .value("exponential", RowScorer::Link::kExponential);
    scorer
        .def(nb::init<const Forest&, int64_t, I64, F64, RowScorer::Link>(), nb::keep_alive<1, 2>(),
             nb::arg("forest"), nb::arg("width"), nb::arg("columns").noconvert(),
             nb::arg("start").noconvert(), nb::arg("link"))
        .def("predict", &RowScorer::predict, nb::arg("row"))
        .def("scores", &RowScorer::scores, nb::arg("row"), nb::arg("out").noconvert());
    nb::class_<Contributions>(m, "Contributions")
        .def(nb::init<const Forest&, I64>(), nb::keep_alive<1, 2>(), nb::arg("forest"),
             nb::arg("cover").noconvert())
        .def("add_to", &Contributions::add_to, nb::call_guard<nb::gil_scoped_release>(), nb::arg("pool"),
             nb::arg("table").noconvert(), nb::arg("columns").noconvert(), nb::arg("places").noconvert(),
             nb::arg("out").noconvert());
    nb::class_<Interactions>(m, "Interactions")
        .def(nb::init<const Contributions&>(), nb::keep_alive<1, 2>(), nb::arg("contributions"))
        .def("write", &Interactions::write, nb::call_guard<nb::gil_scoped_release>(), nb::arg("pool"),
             nb::arg("table").noconvert(), nb::arg("columns").noconvert(), nb::arg("places").noconvert(),
             nb::arg("out").noconvert());
}

void register_binning(nb::module_& m) {
    kernel(m, "gather", &gather, "pool", "table", "rows", "columns", "out");
    kernel(m, "find_thresholds", &find_thresholds, "pool", "values", "max_bins", "thresholds",
           "n_thresholds");
    kernel(m, "encode", &encode, "pool", "table", "columns", "thresholds", "n_thresholds", "out");
    kernel(m, "rank_codes", &rank_codes, "pool", "table", "rows", "columns", "levels", "out");
    kernel(m, "minmax_values", &minmax_values, "pool", "table", "rows", "columns", "out");
    kernel(m, "find_sparse_thresholds", &find_sparse_thresholds, "pool", "start", "rows", "values", "columns",
           "in_sample", "max_bins", "thresholds", "n_thresholds");
    kernel(m, "encode_sparse", &encode_sparse, "pool", "start", "rows", "values", "columns", "thresholds",
           "n_thresholds", "out");
    kernel(m, "code_entries", &code_entries, "pool", "start", "values", "columns", "thresholds",
           "n_thresholds", "codes", "zero_code");
}

void register_objective(nb::module_& m) {
    kernel(m, "logistic_residuals", &logistic_residuals, "pool", "scores", "y", "residuals", "curvatures",
           "losses");
    kernel(m, "exponentials", &exponentials, "pool", "values", "out");
    kernel(m, "fixed_point_sum", &fixed_point_sum, "pool", "values", "weights", "scale");
    kernel(m, "leaf_sums", &leaf_sums, "pool", "rows", "begin", "end", "values", "weights", "scale", "out");
    kernel(m, "leaf_quantiles", &leaf_quantiles, "pool", "rows", "begin", "end", "values", "weights", "share",
           "out");
    kernel(m, "add_to_leaves", &add_to_leaves, "pool", "rows", "begin", "end", "step", "scores");
    kernel(m, "rank_rows", &rank_rows, "pool", "rows", "begin", "scores", "out");
    kernel(m, "rank_residuals", &rank_residuals, "pool", "rows", "begin", "relevance", "gain", "weight",
           "discount", "scores", "truncation", "by_ndcg", "residuals", "curvatures", "losses");
    // These two create Python objects, so they release the GIL themselves.
    m.def("min_max", &min_max, nb::arg("pool"), nb::arg("values").noconvert());
    m.def("signed_sums", &signed_sums, nb::arg("pool"), nb::arg("values").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("centre"), nb::arg("scale"));
    m.def("pack_cells", &pack_cells, nb::arg("pool"), nb::arg("residuals").noconvert(),
          nb::arg("weights").noconvert(), nb::arg("centre"), nb::arg("scale"), nb::arg("format"),
          nb::arg("cells").noconvert());
}

void register_tree(nb::module_& m) {
    kernel(m, "build_histograms", &build_histograms, "pool", "codes", "rows", "cells", "begin", "end", "slot",
           "first_tile", "last_tile", "format", "ordered", "hist");
    kernel(m, "subtract_histograms", &subtract_histograms, "pool", "parents", "parent", "sibling", "slot",
           "n_cells", "hist");
    kernel(m, "scan_histograms", &scan_histograms, "pool", "columns", "hist", "slot", "total", "format",
           "min_leaf", "l2", "gain", "where");
    kernel(m, "build_pair_histograms", &build_pair_histograms, "pool", "codes", "column", "rows", "cells",
           "begin", "end", "format", "hist");
    kernel(m, "scan_pair_histograms", &scan_pair_histograms, "pool", "hist", "n_bins", "use", "total",
           "format", "min_leaf", "l2", "gain", "bin", "missing_side");
    kernel(m, "partition_rows", &partition_rows, "pool", "codes", "column", "bin", "is_category",
           "missing_left", "begin", "end", "rows", "scratch", "n_left");
    kernel(m, "node_sums", &node_sums, "pool", "rows", "cells", "begin", "end", "format", "out");
    kernel(m, "sampled_rows", &sampled_rows, "rows", "cells", "begin", "end", "position", "format",
           "out_positions", "out_cells", "first", "total");
    kernel(m, "grow_subtrees", &grow_subtrees, "pool", "tiles", "begin", "end", "total", "depth", "stop_rows",
           "format", "fewest_rows", "min_leaf", "l2", "max_depth", "rows", "cells", "row_scratch", "ordered",
           "first", "nodes", "gain", "n_nodes", "shared");
}

void register_search(nb::module_& m) {
    kernel(m, "search_sparse", &search_sparse, "pool", "start", "rows", "codes", "columns", "n_bins",
           "zero_code", "use", "price", "node_rows", "begin", "end", "total", "cells", "format", "min_leaf",
           "l2", "gain", "where");
    kernel(m, "build_group_codes", &build_group_codes8, "pool", "values", "top", "members", "sign", "shape",
           "n_codes", "exact", "tiles");
    kernel(m, "build_group_codes", &build_group_codes16, "pool", "values", "top", "members", "sign", "shape",
           "n_codes", "exact", "tiles");
    kernel(m, "sorted_codes", &sorted_codes, "pool", "values", "n_codes", "out");
    kernel(m, "search_groups", &search_groups, "pool", "tiles", "codes", "members", "price", "shape",
           "n_codes", "positions", "cells", "begin", "end", "format", "min_leaf", "l2", "feature", "gain");
    kernel(m, "correlate", &correlate, "pool", "codes", "weight", "out");
    kernel(m, "pack_codes", &pack_codes, "pool", "codes", "packed", "counts");
    kernel(m, "trend_sums", &trend_sums, "pool", "packed", "weight", "out");
}

}  // namespace

NB_MODULE(_core, m) {
    // Do not warn about leaks: a cache or a traceback may keep a model until the interpreter ends.
    nb::set_leak_warnings(false);
    register_constants(m);
    m.def("available_instructions", &available_instructions);
    m.def("use_instructions", &use_instructions, nb::arg("name"));
    register_classes(m);
    register_binning(m);
    register_objective(m);
    register_tree(m);
    register_search(m);
}
