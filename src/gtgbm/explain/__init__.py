"""Explanations of fitted models.

Staged predictions, metrics with intervals, selection path, permutation, partial dependence, associations.
"""

from gtgbm.explain.column_pairs import associations
from gtgbm.explain.correlations import absolute_correlations
from gtgbm.explain.dependence import Dependence, partial_dependence
from gtgbm.explain.held_out import HeldOut, kind_of
from gtgbm.explain.intervals import Interval, bootstrap_interval
from gtgbm.explain.parts import is_multitask
from gtgbm.explain.sampling import at_rows, drawn_rows
from gtgbm.explain.selection_curve import (
    Purchase,
    SelectionPath,
    columns_as_bought,
    path_of,
    purchases,
    selection_path,
)
from gtgbm.explain.staged import n_rounds_of, shuffled_predictions, staged_predictions
from gtgbm.explain.training_rows import held_out_again, is_training_table

__all__ = [
    "Dependence",
    "HeldOut",
    "Interval",
    "Purchase",
    "SelectionPath",
    "absolute_correlations",
    "associations",
    "at_rows",
    "bootstrap_interval",
    "columns_as_bought",
    "drawn_rows",
    "held_out_again",
    "is_multitask",
    "is_training_table",
    "kind_of",
    "n_rounds_of",
    "partial_dependence",
    "path_of",
    "purchases",
    "selection_path",
    "shuffled_predictions",
    "staged_predictions",
]
