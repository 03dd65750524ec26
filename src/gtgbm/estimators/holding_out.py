"""Draws the rows held out for early stopping if there is no eval set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.exact import I64, Bool


def held_out_rows(n_rows: int, fraction: float, seed: int, classes: NDArray[Any] | None) -> tuple[I64, I64]:
    """Split rows at random into training rows and held-out rows.

    Parameters
    ----------
    classes : ndarray, shape (n,), or None
        Class of each row. The split is stratified, and at least one row of each class is trained on.
    """
    rng = np.random.default_rng(seed)
    is_held_out: Bool = np.zeros(n_rows, dtype=np.bool_)
    for label in [None] if classes is None else np.unique(classes):
        drawn = np.arange(n_rows) if classes is None else np.flatnonzero(classes == label)
        n_held_out = min(round(fraction * drawn.shape[0]), drawn.shape[0] - 1)
        is_held_out[rng.choice(drawn, n_held_out, replace=False)] = True
    if round(fraction * n_rows) == n_rows or not is_held_out.any():
        raise ValueError(
            f"validation_fraction={fraction} of {n_rows} rows leaves no training rows or no held-out rows: "
            "give another fraction, more rows or an eval_set"
        )
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def held_out_queries(qid: NDArray[Any], fraction: float, seed: int) -> tuple[I64, I64]:
    """Split rows at random into training rows and held-out rows; queries stay whole."""
    queries = np.unique(qid)
    count = round(fraction * queries.shape[0])
    if not 0 < count < queries.shape[0]:
        raise ValueError(
            f"validation_fraction={fraction} of {queries.shape[0]} queries leaves no training queries or no "
            "held-out queries: give another fraction, more queries or an eval_set"
        )
    drawn = np.random.default_rng(seed).choice(queries, count, replace=False)
    is_held_out = np.isin(qid, drawn)
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)
