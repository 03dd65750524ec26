"""Random draws of rows that depend on the number of a row alone, not on who has it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gtgbm.exact.arrays import I64, Bool

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))


def row_hashes(ids: I64, *seed: int) -> NDArray[np.uint64]:
    """Return pseudo-random numbers of rows, shape (n,); different rows have different numbers.

    Parameters
    ----------
    ids : ndarray of int64, shape (n,)
        Numbers of the rows in the whole table.
    *seed : int
        Every seed gives other numbers.
    """
    start = np.random.SeedSequence(seed).generate_state(1, np.uint64)
    # Splitmix64: a bijection of 64-bit integers, of which neighbours become unrelated.
    value = (ids.astype(np.uint64) + start) * _STEP
    value = (value ^ (value >> _SHIFTS[0])) * _MIX[0]
    value = (value ^ (value >> _SHIFTS[1])) * _MIX[1]
    return np.asarray(value ^ (value >> _SHIFTS[2]))


def drawn_rows(ids: I64, share: float, *seed: int) -> Bool:
    """Draw rows independently, each with probability `share` below 1; return a mask of shape (n,)."""
    drawn: Bool = row_hashes(ids, *seed) < np.uint64(int(share * 2.0**64))
    return drawn
