"""Explanations of fitted models.

Staged predictions, metrics, selection over rounds and over sizes, importance, dependence, associations.
"""

from gtgbm.explain.column_pairs import associations
from gtgbm.explain.correlations import absolute_correlations
from gtgbm.explain.curve import (
    Purchase,
    SelectionCurve,
    columns_as_bought,
    path_of,
    purchases,
    selection_curve,
)
from gtgbm.explain.dependence import Dependence, partial_dependence
from gtgbm.explain.intervals import Interval, bootstrap_interval
from gtgbm.explain.names import feature_names
from gtgbm.explain.path import selection_path
from gtgbm.explain.permutation import PermutationImportance, permutation_importance
from gtgbm.explain.sampling import at_rows, drawn_rows
from gtgbm.explain.shap_values import shap_explanation
from gtgbm.explain.staged import n_rounds_of, staged_predictions
from gtgbm.explain.training_rows import held_out_again, is_training_table

__all__ = [
    "Dependence",
    "Interval",
    "PermutationImportance",
    "Purchase",
    "SelectionCurve",
    "absolute_correlations",
    "associations",
    "at_rows",
    "bootstrap_interval",
    "columns_as_bought",
    "drawn_rows",
    "feature_names",
    "held_out_again",
    "is_training_table",
    "n_rounds_of",
    "partial_dependence",
    "path_of",
    "permutation_importance",
    "purchases",
    "selection_curve",
    "selection_path",
    "shap_explanation",
    "staged_predictions",
]
