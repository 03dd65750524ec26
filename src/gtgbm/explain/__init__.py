"""Explanations of fitted models.

Staged predictions, metrics on held-out rows, the selection path, permutation of columns, correlations.
"""

from gtgbm.explain.correlations import absolute_correlations
from gtgbm.explain.held_out import HeldOut, kind_of
from gtgbm.explain.parts import is_multitask
from gtgbm.explain.selection_curve import (
    Purchase,
    SelectionPath,
    columns_as_bought,
    path_of,
    purchases,
    selection_path,
)
from gtgbm.explain.staged import n_rounds_of, shuffled_predictions, staged_predictions

__all__ = [
    "HeldOut",
    "Purchase",
    "SelectionPath",
    "absolute_correlations",
    "columns_as_bought",
    "is_multitask",
    "kind_of",
    "n_rounds_of",
    "path_of",
    "purchases",
    "selection_path",
    "shuffled_predictions",
    "staged_predictions",
]
