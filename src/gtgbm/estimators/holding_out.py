"""Draws the rows held out for early stopping if there is no eval set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.exact import I64, Communicator, FitContext, Shard, row_hashes, select, union


def held_out_rows(
    shard: Shard, fraction: float, seed: int, classes: NDArray[Any] | None, context: FitContext
) -> tuple[I64, I64]:
    """Split rows at random into training rows and held-out rows, both given by their place on this worker.

    Parameters
    ----------
    shard : Shard
        The rows.
    classes : ndarray, shape (n,), or None
        Class of each row. The split is stratified, and at least one row of each class is trained on.
    """
    n_rows = shard.n_total
    group: I64 = np.zeros(shard.n_rows, dtype=np.int64)
    if classes is not None:
        group = np.searchsorted(union(classes, context.communicator), classes).astype(np.int64)
    n_groups = int(context.largest(float(group.max(initial=0)))) + 1
    counts = context.communicator.sum(np.bincount(group, minlength=n_groups).astype(np.int64))
    n_held_out = np.array([min(round(fraction * count), count - 1) for count in counts.tolist()])
    # The rows of each class with the lowest random numbers.
    key = row_hashes(shard.ids, seed)
    highest, _ = select(key, group, np.ones_like(group), n_held_out.astype(np.float64), context)
    is_held_out = (key <= highest[group]) & (n_held_out[group] > 0)
    if round(fraction * n_rows) == n_rows or not n_held_out.any():
        raise ValueError(
            f"validation_fraction={fraction} of {n_rows} rows leaves no training rows or no held-out rows: "
            "give another fraction, more rows or an eval_set"
        )
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def held_out_queries(
    qid: NDArray[Any], fraction: float, seed: int, communicator: Communicator
) -> tuple[I64, I64]:
    """Split rows at random into training rows and held-out rows; queries stay whole."""
    queries = union(qid, communicator)
    count = round(fraction * queries.shape[0])
    if not 0 < count < queries.shape[0]:
        raise ValueError(
            f"validation_fraction={fraction} of {queries.shape[0]} queries leaves no training queries or no "
            "held-out queries: give another fraction, more queries or an eval_set"
        )
    drawn = np.random.default_rng(seed).choice(queries, count, replace=False)
    is_held_out = np.isin(qid, drawn)
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)
