"""What a fitted model would have predicted with its first rounds only."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gtgbm import _core
from gtgbm.arrays import F64, I64
from gtgbm.estimators.task_rows import task_rows
from gtgbm.forest import Forest


class _Reader:
    """Stands in for a forest to get the table it would read: tables then come in as for predictions."""

    def __init__(self, n_scores: int) -> None:
        self.n_scores = n_scores
        self.table: Any = None
        self.pool: _core.Pool | None = None

    def scores(self, table: Any, pool: _core.Pool) -> F64:
        """Keep what is to be read, and say nothing of it."""
        self.table, self.pool = table, pool
        return np.zeros((self.n_scores, table.shape[0]))


def staged_predictions(
    estimator: Any, X: Any, rounds: Sequence[int] | None = None, *, task: Any = None
) -> Iterator[F64]:
    """Predict with the trees of the first rounds, reading the table once.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    X : array-like or sparse matrix, shape (n, d)
    rounds : sequence of int, optional
        Numbers of rounds, rising, from 0 (no tree at all); None: after each round. A task that stopped
        earlier has all of its trees.
    task : array-like, shape (n,), optional
        The task of each row, for multitask models with one target per row.

    Yields
    ------
    ndarray of float64, shape (n,), (n, classes) for more than two classes, (n, T) for targets by task
        Probabilities of the second class, or of all classes; means; scores to rank by. After all rounds these
        are the predictions of the model, bit for bit.
    """
    check_is_fitted(estimator, "trees_")
    n_rounds = int(np.max(list(estimator.n_iter_.values()))) if is_multitask(estimator) else estimator.n_iter_
    wanted = list(range(1, n_rounds + 1)) if rounds is None else list(rounds)
    if any(b < a for a, b in pairwise([0, *wanted])) or (wanted and wanted[-1] > n_rounds):
        raise ValueError(
            f"rounds={wanted[:10]} must rise from 0 at least to {n_rounds}, the rounds of the model, at most"
        )
    stages = _of_tasks if is_multitask(estimator) else _of_one
    return stages(estimator, X, wanted, task)


def is_multitask(estimator: Any) -> bool:
    """Whether a fitted model is one of several tasks."""
    return hasattr(estimator, "tasks_")


def _of_one(estimator: Any, X: Any, rounds: list[int], task: Any) -> Iterator[F64]:
    if task is not None:
        raise ValueError("task is for multitask models; this one has no tasks: leave it out")
    start: F64 = estimator._start
    reader, looking = _Reader(start.shape[0]), copy.copy(estimator)
    looking._forest = reader
    looking._scores(X)
    for scores in _staged_scores(estimator.trees_, estimator._outputs, start, reader, rounds):
        yield estimator._fitted_loss.predict(scores)


def _of_tasks(estimator: Any, X: Any, rounds: list[int], task: Any) -> Iterator[F64]:
    readers, looking = {name: _Reader(1) for name in estimator.tasks_}, copy.copy(estimator)
    looking._forests = readers
    shape = looking._task_scores(X, task).shape
    places: dict[Any, Any] = {name: (slice(None), k) for k, name in enumerate(estimator.tasks_)}
    if task is not None:
        found = task_rows(np.zeros(shape[0]), task, shape[0], "X", "task")
        places = dict(zip(found.names, found.rows, strict=True))
    stages = {
        name: _staged_scores(
            estimator.trees_[name],
            [0] * len(estimator.trees_[name]),
            estimator._forests[name].start,
            readers[name],
            [min(n, estimator.n_iter_[name]) for n in rounds],
        )
        for name in places
    }
    for _ in rounds:
        scores = np.empty(shape)
        for name, place in places.items():
            scores[place] = next(stages[name])[0]
        yield estimator._fitted_loss.predict(scores.reshape(1, -1)).reshape(shape)


def _staged_scores(
    trees: Any, outputs: Sequence[int], start: F64, reader: _Reader, rounds: Sequence[int]
) -> Iterator[F64]:
    """Scores (k, n) after each of some rounds, each an array of its own."""
    assert reader.pool is not None
    n_scores = start.shape[0]
    scores = np.empty((n_scores, reader.table.shape[0]))
    scores[:] = start[:, None]
    ends: I64 = np.array([0, *rounds], dtype=np.int64) * n_scores
    for begin, end in pairwise(ends.tolist()):
        if end > begin:
            Forest.of(trees[begin:end], outputs[begin:end], start).add_to(scores, reader.table, reader.pool)
        yield scores.copy()
