"""The rows a report looks at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.estimators import checked_qid
from gtgbm.exact import F64, I64, Bool
from gtgbm.explain import (
    HeldOut,
    drawn_rows,
    is_training_table,
    kind_of,
    n_rounds_of,
    staged_predictions,
)
from gtgbm.metrics import Metric
from gtgbm.plots import as_numbers, table_of
from gtgbm.report.source import RowSource


@dataclass(frozen=True)
class Sample:
    """Rows of a table, with what a model predicts for them.

    Attributes
    ----------
    X : table, shape (n, d)
        As the user has it; sparse ones by columns.
    y : array-like, shape (n,) or (n, T)
        As the user has it.
    qid, task : array-like or None
    rows : HeldOut
        The same targets as numbers.
    prediction : ndarray of float64
        Of the finished model, as ``staged_predictions``.
    metric : Metric
    source : RowSource
        Where the rows come from.
    n_given : int
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
    n_given: int
    numbers: Any
    is_category: Bool

    @property
    def n_rows(self) -> int:
        """Rows of the sample."""
        return int(self.X.shape[0])

    @property
    def score(self) -> float:
        """The metric of the finished model."""
        return self.rows.measured(self.metric, self.prediction)

    def gain_over(self, prediction: F64) -> float:
        """How much better the finished model is than other predictions, by the metric."""
        difference = self.score - self.rows.measured(self.metric, prediction)
        return difference if self.metric.greater_is_better else -difference


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
    """Take all rows, or `max_rows` of them at random; of rankings, whole queries."""
    X = table_of(model, X)
    if len(y) != X.shape[0]:
        raise ValueError(f"y has {len(y)} targets, X {X.shape[0]} rows: give one target per row")
    n_given = X.shape[0]
    if n_given == 0:
        raise ValueError("X has no rows: a report needs some to look at")
    source = RowSource() if source is None else source
    if n_given > max_rows:
        ids = checked_qid(qid, n_given) if kind_of(model) == "relevance" else np.arange(n_given)
        kept = drawn_rows(ids, max_rows, np.random.default_rng(seed))
        X, y, qid, task = (None if one is None else _at(one, kept) for one in (X, y, qid, task))
    rows = HeldOut.of(model, y, qid=qid, task=task)
    (prediction,) = staged_predictions(model, X, [n_rounds_of(model)], task=task)
    X = X.tocsc() if issparse(X) else X
    n_given = n_given if source.n_rows is None else max(source.n_rows, X.shape[0])
    found = rows.metric(metric)
    return Sample(X, y, qid, task, rows, prediction, found, source, n_given, *as_numbers(model, X))


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
    """Draw fewer rows, for what takes long; the sample itself if it has no more."""
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


def _at(values: Any, rows: I64) -> Any:
    """Take rows of whatever holds them."""
    if hasattr(values, "iloc"):
        return values.iloc[rows]
    if issparse(values):
        return values.tocsr()[rows]
    # Not through numpy: ids of tasks may be tuples, which it would take for rows of a table.
    return values[rows] if hasattr(values, "shape") else [values[k] for k in rows.tolist()]
