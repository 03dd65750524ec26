"""The rows that a report is based on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.estimators import checked_qid
from gtgbm.exact import F64, I64
from gtgbm.explain import HeldOut, kind_of, n_rounds_of, staged_predictions
from gtgbm.metrics import Metric
from gtgbm.plots import as_numbers, table_of


@dataclass(frozen=True)
class Sample:
    """Rows of a table, with the predictions of a model.

    Attributes
    ----------
    X : table, shape (n, d)
        In the user's format; a sparse matrix in CSC format.
    y : array-like, shape (n,) or (n, T)
        In the user's format.
    qid, task : array-like or None
    rows : HeldOut
        The same targets as numbers.
    prediction : ndarray of float64
        Predictions of the finished model, as in ``staged_predictions``.
    metric : Metric
    n_total : int
        Number of rows that the sample was drawn from.
    numbers : ndarray or sparse matrix, shape (n, d)
        The same table as numbers; a category is replaced by the mean target of its rows.
    """

    X: Any
    y: Any
    qid: Any
    task: Any
    rows: HeldOut
    prediction: F64
    metric: Metric
    n_total: int
    numbers: Any

    @property
    def n_rows(self) -> int:
        """Number of rows of the sample."""
        return int(self.X.shape[0])

    @property
    def score(self) -> float:
        """Metric of the finished model."""
        return self.rows.measured(self.metric, self.prediction)

    def gain_over(self, prediction: F64) -> float:
        """Return how much better the metric of the finished model is than that of other predictions."""
        difference = self.score - self.rows.measured(self.metric, prediction)
        return difference if self.metric.greater_is_better else -difference


def draw_sample(
    model: Any, X: Any, y: Any, *, metric: str | None, qid: Any, task: Any, max_rows: int, seed: int
) -> Sample:
    """Return all rows, or at most `max_rows` drawn at random; for rankings, whole queries are drawn."""
    X = table_of(model, X)
    if len(y) != X.shape[0]:
        raise ValueError(f"y has {len(y)} targets, X {X.shape[0]} rows: give one target per row")
    n_total = X.shape[0]
    if n_total == 0:
        raise ValueError("X has no rows: a report needs at least one")
    if n_total > max_rows:
        ids = checked_qid(qid, n_total) if kind_of(model) == "relevance" else np.arange(n_total)
        kept = _drawn(ids, max_rows, np.random.default_rng(seed))
        X, y, qid, task = (None if values is None else _at(values, kept) for values in (X, y, qid, task))
    rows = HeldOut.of(model, y, qid=qid, task=task)
    (prediction,) = staged_predictions(model, X, [n_rounds_of(model)], task=task)
    X = X.tocsc() if issparse(X) else X
    target = rows.y if rows.y.ndim == 1 else np.nanmean(rows.y, axis=1)
    return Sample(X, y, qid, task, rows, prediction, rows.metric(metric), n_total, as_numbers(X, target))


def part_of(model: Any, sample: Sample, max_rows: int, seed: int) -> Sample:
    """Return at most `max_rows` rows of a sample, for slow computations."""
    if sample.n_rows <= max_rows:
        return sample
    return draw_sample(
        model,
        sample.X,
        sample.y,
        metric=sample.metric.name,
        qid=sample.qid,
        task=sample.task,
        max_rows=max_rows,
        seed=seed,
    )


def _drawn(ids: Any, max_rows: int, rng: np.random.Generator) -> I64:
    """Return the rows of ids drawn at random: at most `max_rows` rows, but at least one id."""
    _, number, size = np.unique(ids, return_inverse=True, return_counts=True)
    order = rng.permutation(size.shape[0])
    n_ids = max(1, int(np.searchsorted(np.cumsum(size[order]), max_rows, side="right")))
    is_drawn = np.zeros(size.shape[0], dtype=np.bool_)
    is_drawn[order[:n_ids]] = True
    return np.flatnonzero(is_drawn[number])


def _at(values: Any, rows: I64) -> Any:
    """Return rows of an array, dataframe, sparse matrix or list."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if issparse(values):
        return values.tocsr()[rows]
    # Not converted to an array: numpy would make ids that are tuples into rows of a matrix.
    return values[rows] if hasattr(values, "shape") else [values[k] for k in rows.tolist()]
