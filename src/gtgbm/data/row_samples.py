"""Samples of rows."""

from __future__ import annotations

import numpy as np

from gtgbm.exact import I64


def sample_rows(n_rows: int, n_sampled: int, rng: np.random.Generator) -> I64:
    """Draw rows without replacement, ascending; all rows, without using `rng`, if there are few enough."""
    if n_rows <= n_sampled:
        return np.arange(n_rows, dtype=np.int64)
    return np.sort(rng.choice(n_rows, n_sampled, replace=False)).astype(np.int64)
