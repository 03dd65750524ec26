"""The exponential function, with the same bits on every machine."""

from __future__ import annotations

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64


def exp(values: F64, pool: _core.Pool | None = None) -> F64:
    """Return the exponentials of an array of any shape; 0 below 1e-300, infinite above 1e300."""
    flat = np.ascontiguousarray(values, dtype=np.float64).ravel()
    out = np.empty_like(flat)
    _core.exponentials(_core.Pool(1) if pool is None else pool, flat, out)
    return out.reshape(values.shape)
