"""Chooses how many features to select (``n_features_to_select="auto"``)."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from gtgbm.boosting import announce
from gtgbm.data import EncodedFrame
from gtgbm.estimators.cross_validation import FOLDS, cross_validated
from gtgbm.estimators.path_rows import PathRows, folds_of
from gtgbm.estimators.rows import checked_weight
from gtgbm.selection import SelectionPath


def path_for(
    estimator: Any, table: Any, y: Any, sample_weight: Any, qid: Any = None, task: Any = None
) -> SelectionPath:
    """Cross-validate models of several sizes; the fit then has the smallest within one standard error.

    Parameters
    ----------
    estimator : estimator of this package
        It has read the table already.
    table : ndarray or scipy sparse matrix, shape (n, d)
    y : array-like, shape (n,) or (n, T)
        As the user gave it.
    """
    _check_estimator(estimator)
    X = table if estimator._schema is None else EncodedFrame(table, estimator._schema)
    weight = checked_weight(sample_weight, table.shape[0])
    rows = PathRows.of(estimator, X, y, weight, qid, task)
    if weight is not None and not weight.all():
        rows = rows.at(np.flatnonzero(weight))
    sizes = estimator._size_bounds(table.shape[1]).sizes()
    rng = check_random_state(estimator._checked("random_state"))
    shown = estimator._checked("verbose") > 0
    path = cross_validated(estimator, rows, sizes, folds_of(FOLDS, estimator, rows, None, rng), shown=shown)
    announce(f"n_features_to_select='auto' is {path.one_se_size}: {path.verdict()}", shown=shown)
    return path


def _check_estimator(estimator: Any) -> None:
    """Refuse parameters that leave no number of features to choose."""
    auto = "n_features_to_select='auto'"
    if estimator._checked("selection") == "forward":
        name = type(estimator).__name__
        has_parameter = "selection" in estimator.get_params()
        found = "selection is 'forward'" if has_parameter else f"{name} selects forward"
        remedy = "selection='auto'" if has_parameter else "use GTGBMClassifier or GTGBMRegressor"
        raise ValueError(f"{auto} is for forward-backward selection, but {found}: give a number, or {remedy}")
    if estimator.cost_budget is not None:
        raise ValueError(
            f"{auto} and cost_budget={estimator.cost_budget!r} exclude each other: give a number or None "
            "beside a budget, or cost_budget=None"
        )
    if getattr(estimator, "method", None) == "independent":
        raise ValueError(
            f"{auto} is the number of features of all tasks, which method='independent' does not limit: give "
            "n_features_per_task, or another method"
        )
