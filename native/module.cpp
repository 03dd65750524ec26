// Registers the kernels. What they do stands in their headers; _core.pyi types them for Python.
#include <nanobind/nanobind.h>

#include "binning/dense.hpp"
#include "binning/sparse.hpp"
#include "objective/gradients.hpp"
#include "objective/ranking.hpp"
#include "predict/forest.hpp"
#include "search/group_tests.hpp"
#include "search/sparse.hpp"
#include "search/trend_tests.hpp"
#include "support/pool.hpp"
#include "tree/histograms.hpp"
#include "tree/partition.hpp"
#include "tree/subtrees.hpp"

namespace nb = nanobind;
using namespace gtgbm;

namespace {

// Kernels take arrays as they are: a silent copy of an output array would lose the result.
template <class R, class... Args>
void kernel(nb::module_& m, const char* name, R (*f)(Args...)) {
    m.def(name, f, nb::call_guard<nb::gil_scoped_release>(),
          (static_cast<void>(sizeof(Args)), nb::arg().noconvert())...);
}

}  // namespace

NB_MODULE(_core, m) {
    // A model that a cache or a traceback keeps until the interpreter ends is no leak to tell users about.
    nb::set_leak_warnings(false);
    nb::class_<Pool>(m, "Pool").def(nb::init<int>()).def_prop_ro("size", &Pool::size);
    using I64 = Array<const int64_t, 1>;
    nb::class_<GroupShape>(m, "GroupShape")
        .def("__init__", [](GroupShape* self, I64 begin, I64 end, I64 first_child, I64 n_children, I64 tile) {
            new (self) GroupShape{begin, end, first_child, n_children, tile};
        });
    using I32 = Array<const int32_t, 1>;
    using F64 = Array<const double, 1>;
    using U8 = Array<const uint8_t, 1>;
    nb::class_<Forest> forest(m, "Forest");
    forest.attr("ROWS_PER_TASK") = Forest::kBlock;
    forest.def(nb::init<int64_t, int64_t, I64, I64, I32, F64, U8, U8, I32, F64>())
        .def("predict", &Forest::predict, nb::call_guard<nb::gil_scoped_release>(), nb::arg(),
             nb::arg().noconvert(), nb::arg().noconvert(), nb::arg().noconvert());

    kernel(m, "gather", &gather);
    kernel(m, "find_thresholds", &find_thresholds);
    kernel(m, "encode", &encode);
    kernel(m, "rank_codes", &rank_codes);
    kernel(m, "minmax_values", &minmax_values);
    kernel(m, "logistic_residuals", &logistic_residuals);
    kernel(m, "fixed_point_sum", &fixed_point_sum);
    // These two make Python objects, and release the interpreter themselves.
    m.def("min_max", &min_max, nb::arg(), nb::arg().noconvert());
    m.def("pack_cells", &pack_cells, nb::arg(), nb::arg().noconvert(), nb::arg().noconvert(), nb::arg(),
          nb::arg(), nb::arg(), nb::arg().noconvert());
    kernel(m, "exponentials", &exponentials);
    kernel(m, "leaf_sums", &leaf_sums);
    kernel(m, "leaf_quantiles", &leaf_quantiles);
    kernel(m, "rank_rows", &rank_rows);
    kernel(m, "rank_residuals", &rank_residuals);
    kernel(m, "add_to_leaves", &add_to_leaves);
    kernel(m, "build_histograms", &build_histograms);
    kernel(m, "subtract_histograms", &subtract_histograms);
    kernel(m, "scan_histograms", &scan_histograms);
    kernel(m, "build_pair_histograms", &build_pair_histograms);
    kernel(m, "scan_pair_histograms", &scan_pair_histograms);
    kernel(m, "partition_rows", &partition_rows);
    kernel(m, "node_sums", &node_sums);
    kernel(m, "sampled_rows", &sampled_rows);
    kernel(m, "grow_subtrees", &grow_subtrees);
    kernel(m, "find_sparse_thresholds", &find_sparse_thresholds);
    kernel(m, "encode_sparse", &encode_sparse);
    kernel(m, "code_entries", &code_entries);
    kernel(m, "search_sparse", &search_sparse);
    kernel(m, "build_group_codes8", &build_group_codes8);
    kernel(m, "build_group_codes16", &build_group_codes16);
    kernel(m, "sorted_codes", &sorted_codes);
    kernel(m, "search_groups", &search_groups);
    kernel(m, "correlate", &correlate);
    kernel(m, "trend_sums", &trend_sums);
    kernel(m, "pack_codes", &pack_codes);
}
