"""Plain numpy twins of the native kernels: slow, short, written from what the headers promise.

A twin returns what its kernel writes. Where a kernel leaves part of its output alone, the twin takes that
output and returns a changed copy.
"""

from tests.kernels.reference.binning import encode, gather, minmax_values
from tests.kernels.reference.histograms import (
    Columns,
    Found,
    Offer,
    Split,
    best_split,
    build_histograms,
    build_pair_histograms,
    direction_of,
    first_best,
    gain_of,
    histogram,
    larger_side,
    offered,
    scan_columns,
    subtract_histograms,
)
from tests.kernels.reference.layout import LEFT, MISSING, RIGHT, UNSEEN
from tests.kernels.reference.objective import (
    add_to_leaves,
    each_weight,
    exponentials,
    fixed_point,
    fixed_point_sum,
    leaf_quantiles,
    leaf_sums,
    logistic_residuals,
    pack_cells,
    rank_residuals,
    signed_sums,
)
from tests.kernels.reference.partition import goes_left, node_sums, partition_rows, sampled_rows
from tests.kernels.reference.predict import (
    background_contributions,
    contributions,
    predict,
    score_changes,
)
from tests.kernels.reference.search import (
    build_group_codes,
    codes_by_order,
    codes_by_width,
    correlate,
    search_groups,
    trend_sums,
)

__all__ = [
    "LEFT",
    "MISSING",
    "RIGHT",
    "UNSEEN",
    "Columns",
    "Found",
    "Offer",
    "Split",
    "add_to_leaves",
    "background_contributions",
    "best_split",
    "build_group_codes",
    "build_histograms",
    "build_pair_histograms",
    "codes_by_order",
    "codes_by_width",
    "contributions",
    "correlate",
    "direction_of",
    "each_weight",
    "encode",
    "exponentials",
    "first_best",
    "fixed_point",
    "fixed_point_sum",
    "gain_of",
    "gather",
    "goes_left",
    "histogram",
    "larger_side",
    "leaf_quantiles",
    "leaf_sums",
    "logistic_residuals",
    "minmax_values",
    "node_sums",
    "offered",
    "pack_cells",
    "partition_rows",
    "predict",
    "rank_residuals",
    "sampled_rows",
    "scan_columns",
    "score_changes",
    "search_groups",
    "signed_sums",
    "subtract_histograms",
    "trend_sums",
]
