"""A fitted model taken apart: its forests, and the rows of a table that each of them predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gtgbm import _core
from gtgbm.boosting import Model
from gtgbm.estimators import pool_for_rows
from gtgbm.exact import F64, I64
from gtgbm.losses import Loss
from gtgbm.tree import Forest, Tree


@dataclass(frozen=True)
class Part:
    """One forest of a model: that of a task, or the only one.

    Attributes
    ----------
    trees : sequence of Tree
    outputs : sequence of int
        The score each tree adds to.
    forest : Forest
        The same trees, packed.
    table : Table or sparse matrix, shape (m, c)
        The rows it predicts.
    places : ndarray of int64
        Where the columns of the forest are in it.
    pool : Pool
    place : index
        Where its predictions stand among those of the model.
    """

    trees: Sequence[Tree]
    outputs: Sequence[int]
    forest: Forest
    table: Any
    places: I64
    pool: _core.Pool
    place: Any

    def places_of(self, columns: I64) -> I64:
        """Return where some of the forest's columns are in the table."""
        places: I64 = self.places[np.searchsorted(self.forest.columns, columns)]
        return places


@dataclass(frozen=True)
class Parts:
    """All forests of a model, and how their scores become predictions.

    Attributes
    ----------
    parts : list of Part
    shape : tuple of int
        Of the scores: (n,), (n, T) for targets by task, or (n, k) for k scores.
    loss : Loss
    """

    parts: list[Part]
    shape: tuple[int, ...]
    loss: Loss

    def prediction(self, scores: Sequence[F64]) -> F64:
        """Put the scores (k, m) of all parts together and turn them into predictions.

        Returns
        -------
        ndarray of float64, shape (n,), (n, classes) for more than two classes, (n, T) for targets by task
            Probabilities of the second class, or of all classes; means; scores to rank by.
        """
        if self.loss.n_scores > 1:
            return self.loss.predict(scores[0])
        together = np.empty(self.shape)
        for part, one in zip(self.parts, scores, strict=True):
            together[part.place] = one[0]
        return self.loss.predict(together.reshape(1, -1)).reshape(self.shape)


def is_multitask(estimator: Any) -> bool:
    """Whether a fitted model is one of several tasks."""
    return hasattr(estimator, "tasks_")


def parts_of(estimator: Any, X: Any, task: Any = None) -> Parts:
    """Take a fitted model apart, over the rows of a table.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    X : array-like or sparse matrix, shape (n, d)
    task : array-like, shape (n,), optional
        The task of each row, for multitask models with one target per row.
    """
    shape, tables = estimator._read_tables(X, task)
    parts = []
    for read in tables:
        model: Model = estimator._models[read.task]
        forest: Forest = estimator._forests[read.task]
        pool = pool_for_rows(estimator.n_jobs, read.table.shape[0])
        parts.append(Part(model.trees, model.outputs, forest, read.table, read.columns, pool, read.place))
    return Parts(parts, shape, estimator._fitted_loss)
