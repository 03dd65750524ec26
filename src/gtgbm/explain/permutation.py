"""Permutation importance: how much worse a model is if the values of a feature are permuted."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gtgbm.estimators import HeldOut, Parts, checked_weight, parts_of, weight_of_queries
from gtgbm.exact import F64, I64
from gtgbm.explain.error_measures import ErrorMeasure, error_measure
from gtgbm.explain.names import feature_names
from gtgbm.tree import PermutedScores


@dataclass(frozen=True)
class PermutationImportance:
    """How much worse a model is if the values of a feature are permuted among the rows.

    Attributes
    ----------
    features : ndarray of int64, shape (f,)
        Columns of the training table.
    feature_names : list of str, length f
    importances : ndarray of float64, shape (f, r)
        Of each feature and permutation: above 0 if the feature helps, that is if the loss is larger, or a
        metric whose greater values are better is smaller, with the permuted column.
    metric : str
        Name of the loss or metric.
    baseline : float
        Its value without permutation.
    task_importances : dict of ndarray of float64, shape (f, r)
        The same for the rows of each task; empty for models of a single task.
    """

    features: I64
    feature_names: list[str]
    importances: F64
    metric: str
    baseline: float
    task_importances: dict[Any, F64]

    @property
    def importances_mean(self) -> F64:
        """Mean over the permutations, shape (f,)."""
        return np.asarray(self.importances.mean(axis=1))

    @property
    def importances_std(self) -> F64:
        """Standard deviation over the permutations, shape (f,)."""
        return np.asarray(self.importances.std(axis=1))


def permutation_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    metric: Any = None,
    n_repeats: int = 5,
    sample_weight: Any = None,
    qid: Any = None,
    task: Any = None,
    features: Sequence[int] | None = None,
    random_state: Any = 0,
) -> PermutationImportance:
    """Measure how much worse a fitted model is if the values of one feature are permuted among the rows.

    All trees are walked once for all features, and again only where another row's value takes the other
    branch, which takes as long as a few predictions. Correlated features share their importance: if one of
    them is permuted, the others still tell the model most of it.

    Parameters
    ----------
    model : fitted estimator
    X : array-like or scipy sparse matrix, shape (n, d), or dataframe
        Preferably held-out rows: on training rows, features that only fit noise look important.
    y : array-like, shape (n,); or (n, T) for multitask models fitted to one target column per task
    metric : str or callable, optional
        A name from ``gtgbm.metrics``, a function or scorer of scikit-learn, or a callable
        ``f(y, prediction)``, as in the parameter `eval_metric`. By default the loss of the model.
    n_repeats : int, default 5
        Permutations of each feature.
    sample_weight : array-like, shape (n,), optional
        Weights of the rows in the loss or metric; for rankings the same for all rows of a query.
    qid : array-like, shape (n,), optional
        Query of each row, for rankers.
    task : array-like, shape (n,), optional
        Task of each row, for multitask models with one target per row. Values are permuted within tasks.
    features : sequence of int, optional
        Columns of the training table. By default ``selected_features_``. Columns that no tree uses have the
        importance 0; all categories of a column are permuted together.
    random_state : int, RandomState or None, default 0
        For models of a single task, permutations are those of ``sklearn.inspection.permutation_importance``.

    Returns
    -------
    PermutationImportance
    """
    _check_model(model)
    n_repeats = _checked_repeats(n_repeats)
    columns = _checked_features(model, features)
    rows = HeldOut.of(model, y, qid=qid, task=task)
    if qid is not None and rows.qid is None:
        raise ValueError("qid is for rankers, and this model is none: leave it out")
    parts = parts_of(model, X, task)
    _check_match(rows, parts)
    weight = checked_weight(sample_weight, rows.y.shape[0])
    if rows.qid is not None:
        weight = weight_of_queries(weight, rows.qid, "sample_weight")
    measure = error_measure(model, parts, rows, metric, weight)
    tables = [PermutedScores(part.forest, part.table, part.pool, part.places) for part in parts.parts]
    plain = measure.errors([table.plain for table in tables])
    rises = np.empty((len(columns), n_repeats, plain.shape[0]))
    for r, donors in enumerate(_donors(parts, n_repeats, random_state)):
        permuted = [table.of_columns(columns, donor) for table, donor in zip(tables, donors, strict=True)]
        for f, scores in enumerate(zip(*permuted, strict=True)):
            rises[f, r] = measure.errors(scores) - plain
    return _result(model, columns, rises, measure, float(plain[0]))


def _result(
    model: Any, columns: list[int], rises: F64, measure: ErrorMeasure, baseline: float
) -> PermutationImportance:
    names = feature_names(model)
    return PermutationImportance(
        np.array(columns, dtype=np.int64),
        [names[column] for column in columns],
        rises[:, :, 0].copy(),
        measure.name,
        measure.sign * baseline,
        {task: rises[:, :, k].copy() for k, task in enumerate(measure.tasks, 1)},
    )


def _donors(parts: Parts, n_repeats: int, random_state: Any) -> Iterator[list[I64]]:
    """Yield, for each permutation, the row of each part's table whose value a row takes.

    Where each part has rows of its own, values are permuted within it, else all parts have the same rows,
    which are permuted alike.
    """
    # Each permutation continues the one before, with a seed drawn like this, as in scikit-learn.
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max + 1)
    rng = np.random.RandomState(seed)
    is_shared = len(parts.shape) == 2
    sizes = [part.table.shape[0] for part in (parts.parts[:1] if is_shared else parts.parts)]
    orders: list[I64] = [np.arange(size) for size in sizes]
    donors: list[I64] = [np.arange(size) for size in sizes]
    for _ in range(n_repeats):
        for k, order in enumerate(orders):
            rng.shuffle(order)
            donors[k] = donors[k][order]
        yield donors * len(parts.parts) if is_shared else donors


def _check_model(model: Any) -> None:
    if not hasattr(model, "_read_tables"):
        raise TypeError(
            f"model={model!r} is no estimator of gtgbm: give a fitted one, such as GTGBMClassifier; for "
            "other models there is sklearn.inspection.permutation_importance"
        )
    check_is_fitted(model, "trees_")


def _check_match(rows: HeldOut, parts: Parts) -> None:
    """Raise an error if predictions and targets do not have the same rows and tasks."""
    n = rows.y.shape[0]
    if parts.shape[0] != n:
        raise ValueError(f"X has {parts.shape[0]} rows, y has {n}: give one target per row of X")
    if rows.y.ndim == 2 and rows.y.shape != parts.shape:
        raise ValueError(f"y has {rows.y.shape[1]} columns: give one for each of {parts.shape[1]} tasks")


def _checked_repeats(n_repeats: Any) -> int:
    is_whole = isinstance(n_repeats, numbers.Integral) and not isinstance(n_repeats, bool)
    if not is_whole or n_repeats < 1:
        raise ValueError(f"n_repeats={n_repeats!r} must be a whole number of at least 1")
    return int(n_repeats)


def _checked_features(model: Any, features: Any) -> list[int]:
    if features is None:
        columns: list[int] = model.selected_features_.tolist()
        return columns
    given = np.asarray(features)
    n_features = model.n_features_in_
    is_right = given.ndim == 1 and (given.dtype.kind in "iu" or not given.shape[0])
    if not is_right or (given < 0).any() or (given >= n_features).any():
        raise ValueError(f"features={features!r} must be column indices from 0 to {n_features - 1}")
    if np.unique(given).shape[0] < given.shape[0]:
        raise ValueError(f"features={features!r} has a column twice: give every column once")
    return [int(column) for column in given]
