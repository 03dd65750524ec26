"""The forests of a fitted model, and the rows of a table that each of them predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
    """

    forest: Forest
    table: Any
    places: I64
    pool: _core.Pool


@dataclass(frozen=True)
class Parts:
    """All forests of a model, and the conversion of their scores to predictions.

    Attributes
    ----------
    parts : list of Part
    shape : tuple of int
        (n,), or (n, T) for one target column per task.
    loss : Loss
        Of the scores of all tasks.
    estimator : fitted estimator
    reads : list of TableRead
        Which task and rows each part is of.
    """

    parts: list[Part]
    shape: tuple[int, ...]
    loss: Loss
    estimator: Any
    reads: list[Any]

    def scores_of_all(self, k: int, scores: F64) -> F64:
        """Return the scores (k, m) of a part in the layout of all tasks, which `loss` takes."""
        of_all: F64 = self.estimator._scores_of_all(self.reads[k].task, scores)
        return of_all

    def prediction(self, scores: Sequence[F64]) -> F64:
        """Combine the scores (k, m) of all parts and convert them to predictions.

        Returns
        -------
        ndarray of float64
            Shape (n,), or (n, T) for one target column per task, with the classes as an additional last axis
            if there are more than two. Classifiers: probabilities of the second class, or of all classes.
            Regressors: predicted means. Rankers: scores.
        """
        combined: F64 = self.estimator._combined(self.shape, self.reads, scores)
        n_scores = combined.shape[0]
        found = self.loss.predict(combined.reshape(n_scores, -1))
        return found.reshape(self.shape if n_scores == 1 else (*self.shape, n_scores))

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
        parts.append(Part(forest, read.table, read.columns, pool))
    return Parts(parts, shape, estimator._fitted_loss, estimator, tables)
