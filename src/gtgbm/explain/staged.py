"""What a fitted model predicts with its first rounds only, or with one column shuffled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.data import as_table
from gtgbm.exact import F64, I64
from gtgbm.explain.parts import Part, is_multitask, parts_of
from gtgbm.tree import Forest


def n_rounds_of(estimator: Any) -> int:
    """Count the rounds of a fitted model, or of the task it trained longest."""
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
        Numbers of rounds, rising, from 0 (no tree at all); None: after each round. A task that stopped
        earlier has all of its trees.
    task : array-like, shape (n,), optional
        The task of each row, for multitask models with one target per row.

    Yields
    ------
    ndarray of float64, shape (n,), (n, classes) for more than two classes, (n, T) for targets by task
        As ``Parts.prediction`` has it. After all rounds these are the predictions of the model, bit for bit.
    """
    parts = parts_of(estimator, X, task)
    n_rounds = n_rounds_of(estimator)
    wanted = list(range(1, n_rounds + 1)) if rounds is None else list(rounds)
    if any(b < a for a, b in pairwise([0, *wanted])) or (wanted and wanted[-1] > n_rounds):
        raise ValueError(
            f"rounds={wanted[:10]} must rise from 0 at least to {n_rounds}, the rounds of the model, at most"
        )
    stages = [_staged_scores(part, wanted) for part in parts.parts]
    return (parts.prediction(scores) for scores in zip(*stages, strict=True))


def _staged_scores(part: Part, rounds: Sequence[int]) -> Iterator[F64]:
    """Scores (k, m) after each of some rounds, each an array of its own."""
    start = part.forest.start
    n_scores, n_trees = start.shape[0], len(part.trees)
    scores = np.empty((n_scores, part.table.shape[0]))
    scores[:] = start[:, None]
    ends: I64 = np.minimum(np.array([0, *rounds], dtype=np.int64) * n_scores, n_trees)
    for begin, end in pairwise(ends.tolist()):
        if end > begin:
            grown = Forest.of(part.trees[begin:end], part.outputs[begin:end], start)
            grown.add_to(scores, part.table, part.pool, part.places_of(grown.columns))
        yield scores.copy()


def shuffled_predictions(
    estimator: Any, X: Any, columns: Sequence[int], seed: int, *, task: Any = None
) -> Iterator[F64]:
    """Predict with one column at a time shuffled among the rows (those of a task, where there are tasks).

    Parameters
    ----------
    columns : sequence of int
    seed : int
        Of the shuffling, which is the same for all columns.

    Yields
    ------
    ndarray of float64
        As ``staged_predictions``.
    """
    parts = parts_of(estimator, X, task)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(part.table.shape[0]) for part in parts.parts]
    # Only the columns that trees read are copied, and put back after each turn.
    tables = [read_columns(part) for part in parts.parts]
    forests = [part.forest.over(part.forest.columns) for part in parts.parts]
    plain = [f.scores(t, p.pool) for f, t, p in zip(forests, tables, parts.parts, strict=True)]
    for column in columns:
        scores = list(plain)
        for k, part in enumerate(parts.parts):
            at = int(np.searchsorted(part.forest.columns, column))
            if at < part.forest.columns.shape[0] and part.forest.columns[at] == column:
                kept = tables[k][:, at].copy()
                tables[k][:, at] = kept[orders[k]]
                scores[k] = forests[k].scores(tables[k], part.pool)
                tables[k][:, at] = kept
        yield parts.prediction(scores)


def read_columns(part: Part) -> Any:
    """Copy the columns that a forest reads, as a dense table."""
    found = part.table[:, part.places]
    return as_table(found.toarray() if issparse(found) else np.array(found))
