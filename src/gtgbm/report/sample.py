"""The rows that a report is based on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.estimators import HeldOut, checked_qid, kind_of
from gtgbm.exact import F64, Bool
from gtgbm.explain import (
    at_rows,
    drawn_rows,
    held_out_again,
    is_training_table,
    n_rounds_of,
    staged_predictions,
)
from gtgbm.metrics import Metric
from gtgbm.plots import as_numbers, table_of
from gtgbm.report.source import RowSource


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
    source : RowSource
        Where the rows come from.
    n_total : int
        Rows that the sample was drawn from.
    numbers : ndarray or sparse matrix, shape (n, d)
        The same table; categories are codes.
    is_category : ndarray of bool, shape (d,)
        Columns that hold categories.
    """

    X: Any
    y: Any
    qid: Any
    task: Any
    rows: HeldOut
    prediction: F64
    metric: Metric
    source: RowSource
    n_total: int
    numbers: Any
    is_category: Bool

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


def held_out_part(
    model: Any, X: Any, y: Any, qid: Any, task: Any, source: RowSource
) -> tuple[Any, Any, Any, Any, RowSource]:
    """Keep of the training table only the rows that ``validation_fraction`` held out, if they can be told."""
    if source.use == "held-out" or model.early_stopping_rounds is None:
        return X, y, qid, task, source
    X = table_of(model, X)
    rows = held_out_again(model, X, y, qid=qid, task=task) if X.shape[0] == len(y) else None
    if rows is None:
        return X, y, qid, task, source
    note = (
        f"The {rows.shape[0]:,} of {X.shape[0]:,} rows that validation_fraction="
        f"{model.validation_fraction} held out for early stopping, which chose the number of rounds on them."
    )
    X, y, qid, task = (None if one is None else at_rows(one, rows) for one in (X, y, qid, task))
    return X, y, qid, task, RowSource(source.name, "held-out", note)


def draw_sample(
    model: Any,
    X: Any,
    y: Any,
    *,
    metric: str | None,
    qid: Any,
    task: Any,
    max_rows: int,
    seed: int,
    source: RowSource | None = None,
) -> Sample:
    """Return all rows, or at most `max_rows` drawn at random; for rankings, whole queries are drawn."""
    X = table_of(model, X)
    if len(y) != X.shape[0]:
        raise ValueError(f"y has {len(y)} targets, X {X.shape[0]} rows: give one target per row")
    n_total = X.shape[0]
    if n_total == 0:
        raise ValueError("X has no rows: a report needs at least one")
    source = RowSource() if source is None else source
    if n_total > max_rows:
        ids = checked_qid(qid, n_total) if kind_of(model) == "relevance" else np.arange(n_total)
        kept = drawn_rows(ids, max_rows, np.random.default_rng(seed))
        X, y, qid, task = (None if one is None else at_rows(one, kept) for one in (X, y, qid, task))
    rows = HeldOut.of(model, y, qid=qid, task=task)
    (prediction,) = staged_predictions(model, X, [n_rounds_of(model)], task=task)
    X = X.tocsc() if issparse(X) else X
    n_total = n_total if source.n_rows is None else max(source.n_rows, X.shape[0])
    found = rows.metric(metric)
    return Sample(X, y, qid, task, rows, prediction, found, source, n_total, *as_numbers(model, X))


def checked_use(model: Any, sample: Sample, X: Any, y: Any, qid: Any, task: Any) -> Sample:
    """Say that rows were trained on where nothing is said about them and their loss gives them away.

    Parameters
    ----------
    X, y, qid, task
        All rows that the sample was drawn from.
    """
    if sample.source.use != "unknown":
        return sample
    rows = HeldOut.of(model, y, qid=qid, task=task)
    if not is_training_table(model, table_of(model, X), rows, task):
        return sample
    return replace(sample, source=replace(sample.source, use="training"))


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
        source=sample.source,
    )
