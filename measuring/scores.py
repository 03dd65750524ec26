"""Scores of predictions on test rows, by scikit-learn, which takes no side."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import r2_score, roc_auc_score, root_mean_squared_error


def auc(y: Any, scores: Any) -> float:
    """Return the area under the ROC curve."""
    return float(roc_auc_score(y, scores))


def rmse(y: Any, predictions: Any) -> float:
    """Return the root of the mean squared error."""
    return float(root_mean_squared_error(y, predictions))


def r2(y: Any, predictions: Any) -> float:
    """Return the share of the variance that predictions explain."""
    return float(r2_score(y, predictions))
