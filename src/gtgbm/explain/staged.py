"""Predictions of the first rounds of a fitted model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from gtgbm.estimators import Part, is_multitask, parts_of
from gtgbm.exact import F64


def n_rounds_of(estimator: Any) -> int:
    """Return the number of rounds of a fitted model, for several tasks the largest."""
    return max(estimator.n_iter_.values()) if is_multitask(estimator) else int(estimator.n_iter_)


def staged_predictions(
    estimator: Any, X: Any, rounds: Sequence[int] | None = None, *, task: Any = None
) -> Iterator[F64]:
    """Predict with the trees of the first rounds, reading the table once.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    X : array-like or sparse matrix, shape (n, d)
    rounds : sequence of int, optional
        Numbers of rounds, ascending; 0 means no trees. None: after each round. A task that stopped earlier
        uses all its trees.
    task : array-like, shape (n,), optional
        Task of each row, for multitask models with one target per row.

    Yields
    ------
    ndarray of float64
        Shape (n,), (n, classes) for more than two classes, or (n, T) for one target column per task, as in
        ``Parts.prediction``. After all rounds they are identical to the predictions of the model.
    """
    parts = parts_of(estimator, X, task)
    n_rounds = n_rounds_of(estimator)
    stops = list(range(1, n_rounds + 1)) if rounds is None else list(rounds)
    if any(b < a for a, b in pairwise([0, *stops])) or (stops and stops[-1] > n_rounds):
        raise ValueError(
            f"rounds={stops[:10]} must be ascending numbers from 0 to {n_rounds}, the rounds of the model"
        )
    stages = [
        part.forest.staged_scores(part.table, part.pool, part.places, _trees_after(part, stops))
        for part in parts.parts
    ]
    return (parts.prediction(scores) for scores in zip(*stages, strict=True))


def _trees_after(part: Part, rounds: Sequence[int]) -> list[int]:
    """Return the number of trees of a part after each number of rounds."""
    n_scores = part.forest.start.shape[0]
    return [min(stop * n_scores, part.forest.n_trees) for stop in rounds]
