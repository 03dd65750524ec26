"""Rows held out for early stopping where there is no eval set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.exact import I64, Bool


def held_out_rows(n_rows: int, fraction: float, seed: int, classes: NDArray[Any] | None) -> tuple[I64, I64]:
    """Draw rows to train on and rows to validate with.

    Parameters
    ----------
    classes : ndarray, shape (n,), or None
        Class of each row: some of every class are left to train on.
    """
    rng = np.random.default_rng(seed)
    is_held_out: Bool = np.zeros(n_rows, dtype=np.bool_)
    for label in [None] if classes is None else np.unique(classes):
        drawn = np.arange(n_rows) if classes is None else np.flatnonzero(classes == label)
        n_held_out = min(round(fraction * drawn.shape[0]), drawn.shape[0] - 1)
        is_held_out[rng.choice(drawn, n_held_out, replace=False)] = True
    if round(fraction * n_rows) == n_rows or not is_held_out.any():
        raise ValueError(
            f"validation_fraction={fraction} of {n_rows} rows leaves no rows to train on or none to "
            "validate with: give another fraction, more rows or an eval_set"
        )
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def held_out_queries(qid: NDArray[Any], fraction: float, seed: int) -> tuple[I64, I64]:
    """Draw rows to train on and rows to validate with, whole queries each."""
    known = np.unique(qid)
    count = round(fraction * known.shape[0])
    if not 0 < count < known.shape[0]:
        raise ValueError(
            f"validation_fraction={fraction} of {known.shape[0]} queries leaves none to train on or none "
            "to validate with: give another fraction, more queries or an eval_set"
        )
    drawn = np.random.default_rng(seed).choice(known, count, replace=False)
    is_held_out = np.isin(qid, drawn)
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)
