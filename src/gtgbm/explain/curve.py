"""The selection path: which feature was selected when, and the metric of the model at that point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gtgbm.boosting import HistoryEntry
from gtgbm.estimators import HeldOut, is_multitask
from gtgbm.exact import F64, I64
from gtgbm.explain.staged import staged_predictions
from gtgbm.metrics import Metric

_MOST_ROUNDS = 200
"""Maximum number of evenly spaced rounds at which a model is measured: more are not visible in a plot."""


@dataclass(frozen=True)
class Purchase:
    """The selection of a feature, that is its first use by any task.

    Attributes
    ----------
    entry : HistoryEntry
    task : object
        The task that selected it first; None for single-task models.
    """

    entry: HistoryEntry
    task: Any = None

    @property
    def n_rounds(self) -> int:
        """Number of rounds up to the selection, inclusive."""
        return self.entry.tree + 1


def purchases(estimator: Any) -> list[Purchase]:
    """Return the selected features in order; for several tasks, the first selection of each feature."""
    check_is_fitted(estimator, "trees_")
    if not is_multitask(estimator):
        return [Purchase(entry) for entry in estimator.selection_history_]
    # Categories as text, since NaN is a category too and does not equal itself.
    first: dict[tuple[int, str], Purchase] = {}
    for task, history in estimator.selection_history_.items():
        for entry in history:
            feature = entry.feature, str(entry.category)
            earlier = first.get(feature)
            if earlier is None or entry.tree < earlier.entry.tree:
                first[feature] = Purchase(entry, task)
    owned = [(column, str(estimator._label(column, category))) for column, category in estimator._owned]
    return [first[feature] for feature in owned if feature in first]


def columns_as_bought(estimator: Any) -> I64:
    """Return the columns of ``selected_features_`` in the order of their first purchase."""
    bought = dict.fromkeys(one.entry.feature for one in purchases(estimator))
    return np.array(list(bought), dtype=np.int64)


@dataclass(frozen=True)
class SelectionCurve:
    """Number of features, training loss and metric of a model after some of its rounds.

    Attributes
    ----------
    rounds : ndarray of int64, shape (s,)
        Numbers of rounds, ascending from 0 to all rounds.
    n_features : ndarray of int64, shape (s,)
        Number of features selected in these rounds.
    loss : ndarray of float64, shape (s,)
        Mean loss of the training rows; NaN before the first round.
    metric : Metric or None
    values : ndarray of float64, shape (s,), or None
        The metric on held-out rows.
    """

    rounds: I64
    n_features: I64
    loss: F64
    metric: Metric | None = None
    values: F64 | None = None

    def after(self, n_rounds: int) -> int:
        """Return the index into the arrays for a number of rounds."""
        return int(np.searchsorted(self.rounds, n_rounds))


def selection_curve(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    metric: str | None = None,
    qid: Any = None,
    task: Any = None,
) -> SelectionCurve:
    """Measure a fitted model after its first rounds, from no trees to all of them.

    Parameters
    ----------
    estimator : fitted estimator
    X, y : array-like, shape (n, d) and (n,)
        Rows for the metric, preferably held-out rows; without them the path has training losses only.
    metric : str, optional
        A name from ``gtgbm.metrics``. By default AUC for two classes, accuracy for more classes, RMSE for
        numbers, NDCG@10 for rankings.
    qid, task : array-like, shape (n,), optional
        Queries or tasks of the rows.

    Returns
    -------
    SelectionCurve
        It includes every round in which a feature was selected.
    """
    if X is None and y is None:
        return path_of(estimator)
    if X is None or y is None:
        raise ValueError("X and y belong together: give both, or neither")
    rows = HeldOut.of(estimator, y, qid=qid, task=task)
    return path_of(estimator, X, rows, rows.metric(metric), task)


def path_of(
    estimator: Any,
    X: Any = None,
    rows: HeldOut | None = None,
    metric: Metric | None = None,
    task: Any = None,
) -> SelectionCurve:
    """Measure a fitted model like ``selection_curve``, on rows whose targets have been converted."""
    selected = np.array([purchase.n_rounds for purchase in purchases(estimator)], dtype=np.int64)
    losses = _training_losses(estimator)
    n_rounds = losses.shape[0]
    evenly = np.linspace(0, n_rounds, min(n_rounds, _MOST_ROUNDS) + 1).round().astype(np.int64)
    rounds = np.unique(np.concatenate([evenly, selected]))
    n_features = np.searchsorted(np.sort(selected), rounds, side="right")
    loss = np.concatenate([[np.nan], losses])[rounds]
    if rows is None or metric is None:
        return SelectionCurve(rounds, n_features, loss)
    stages = staged_predictions(estimator, X, rounds.tolist(), task=task)
    values = np.array([rows.measured(metric, prediction) for prediction in stages])
    return SelectionCurve(rounds, n_features, loss, metric, values)


def _training_losses(estimator: Any) -> F64:
    """Return the mean training loss after each round kept; for several tasks, the mean over tasks."""
    if not is_multitask(estimator):
        (losses,) = estimator.evals_result_["training"].values()
        return np.array(losses[: estimator.n_iter_], dtype=np.float64)
    of_tasks = []
    n_rounds = max(estimator.n_iter_.values())
    for task, kept in estimator.n_iter_.items():
        (losses,) = estimator.evals_result_[task]["training"].values()
        # A task that stopped earlier keeps its last loss.
        of_tasks.append([losses[min(r, max(kept, 1) - 1)] for r in range(n_rounds)])
    return np.asarray(np.mean(of_tasks, axis=0), dtype=np.float64)
