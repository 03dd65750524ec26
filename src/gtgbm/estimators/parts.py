"""The forests of a fitted model, and the rows of a table that each of them predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gtgbm import _core
from gtgbm.estimators.threads import pool_for_rows
from gtgbm.exact import F64, I64
from gtgbm.losses import Loss
from gtgbm.tree import Forest


@dataclass(frozen=True)
class Part:
    """One forest of a model: that of a task, or of a single-task model.

    Attributes
    ----------
    forest : Forest
    table : Table or sparse matrix, shape (m, c)
        The rows to predict.
    places : ndarray of int64
        Positions of the forest's columns in the table.
    pool : Pool
    place : index
        Position of its predictions among those of the model.
    """

    forest: Forest
    table: Any
    places: I64
    pool: _core.Pool
    place: Any


@dataclass(frozen=True)
class Parts:
    """All forests of a model, and the conversion of their scores to predictions.

    Attributes
    ----------
    parts : list of Part
    shape : tuple of int
        Shape of the scores: (n,), (n, T) for one target column per task, or (n, k) for k scores.
    loss : Loss
    """

    parts: list[Part]
    shape: tuple[int, ...]
    loss: Loss

    def prediction(self, scores: Sequence[F64]) -> F64:
        """Combine the scores (k, m) of all parts and convert them to predictions.

        Returns
        -------
        ndarray of float64
            Shape (n,), (n, classes) for more than two classes, or (n, T) for one target column per task.
            Classifiers: probabilities of the second class, or of all classes. Regressors: predicted means.
            Rankers: scores.
        """
        if self.loss.n_scores > 1:
            return self.loss.predict(scores[0])
        combined = np.empty(self.shape)
        for part, of_part in zip(self.parts, scores, strict=True):
            combined[part.place] = of_part[0]
        return self.loss.predict(combined.reshape(1, -1)).reshape(self.shape)

    def predicted(self) -> F64:
        """Return the predictions of all trees; see `prediction`."""
        scores = [part.forest.scores(part.table, part.pool, part.places) for part in self.parts]
        return self.prediction(scores)


def is_multitask(estimator: Any) -> bool:
    """Whether a fitted model is a multitask model."""
    return hasattr(estimator, "tasks_")


def parts_of(estimator: Any, X: Any, task: Any = None) -> Parts:
    """Return the forests of a fitted model, with the rows of a table that each of them predicts.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    X : array-like or sparse matrix, shape (n, d)
    task : array-like, shape (n,), optional
        Task of each row, for multitask models with one target per row.
    """
    shape, tables = estimator._read_tables(X, task)
    parts = []
    for read in tables:
        forest: Forest = estimator._forests[read.task]
        pool = pool_for_rows(estimator.n_jobs, read.table.shape[0])
        parts.append(Part(forest, read.table, read.columns, pool, read.place))
    return Parts(parts, shape, estimator._fitted_loss)
