"""Partial dependence: the mean prediction if a column had one value in all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.data import as_table
from gtgbm.estimators import Part, parts_of
from gtgbm.exact import F64

_MOST_POINTS = 20
_MOST_CATEGORIES = 12


@dataclass(frozen=True)
class Dependence:
    """Mean predictions over the values of a column.

    Attributes
    ----------
    column : int
    is_category : bool
    values : ndarray of float64, shape (g,)
        Rising; of categories, their codes, the most frequent first (NaN: missing).
    means : ndarray of float64, shape (g,) or (g, classes)
    """

    column: int
    is_category: bool
    values: F64
    means: F64


def partial_dependence(
    estimator: Any, X: Any, columns: Sequence[int], categorical: Sequence[int] = (), *, task: Any = None
) -> list[Dependence]:
    """Set a column to each of some of its values in all rows, and average the predictions.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    X : array-like, shape (n, d)
    columns : sequence of int
        Columns that some tree reads.
    categorical : sequence of int
        Those that hold categories.
    task : array-like, shape (n,), optional
    """
    parts = parts_of(estimator, X, task)
    tables = [_read_columns(part) for part in parts.parts]
    forests = [part.forest.over(part.forest.columns) for part in parts.parts]
    plain = [f.scores(t, p.pool) for f, t, p in zip(forests, tables, parts.parts, strict=True)]
    found = []
    for column in columns:
        places = [np.flatnonzero(part.forest.columns == column) for part in parts.parts]
        readers = [(k, int(at[0])) for k, at in enumerate(places) if at.shape[0]]
        every = np.concatenate([np.asarray(tables[k][:, at], dtype=np.float64) for k, at in readers])
        values = _categories(every) if column in categorical else _points(every)
        kept = {k: tables[k][:, at].copy() for k, at in readers}
        means = []
        for value in values.tolist():
            scores = list(plain)
            for k, at in readers:
                tables[k][:, at] = value
                scores[k] = forests[k].scores(tables[k], parts.parts[k].pool)
            prediction = parts.prediction(scores)
            n_scores = parts.loss.n_scores
            means.append(prediction.reshape(-1, n_scores).mean(axis=0) if n_scores > 1 else prediction.mean())
        for k, at in readers:
            tables[k][:, at] = kept[k]
        found.append(Dependence(column, column in categorical, values, np.array(means)))
    return found


def _points(values: F64) -> F64:
    """Values of a column, or quantiles of it if there are many; without the outermost 2%."""
    values = values[np.isfinite(values)]
    different = np.unique(values)
    if different.shape[0] <= _MOST_POINTS:
        return different
    return np.unique(np.quantile(values, np.linspace(0.02, 0.98, _MOST_POINTS), method="closest_observation"))


def _categories(values: F64) -> F64:
    known, counts = np.unique(values, return_counts=True)
    return known[np.argsort(-counts, kind="stable")][:_MOST_CATEGORIES]


def _read_columns(part: Part) -> Any:
    """Return a copy of the columns that a forest reads, as a dense table."""
    columns = part.table[:, part.places]
    return as_table(columns.toarray() if issparse(columns) else np.array(columns))
