"""Hashes of rows that depend on their numbers and values alone, not on who has them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gtgbm.exact.arrays import I64, Bool, Table
from gtgbm.exact.communicator import Communicator
from gtgbm.exact.shard import Shard

_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
_BLOCK = 1 << 20
"""Values that are hashed at a time."""


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
    return _mixed((ids.astype(np.uint64) + start) * _STEP)


def _mixed(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix bits as splitmix64 does: a bijection of 64-bit integers, of which neighbours become unrelated."""
    value = (value ^ (value >> _SHIFTS[0])) * _MIX[0]
    value = (value ^ (value >> _SHIFTS[1])) * _MIX[1]
    return np.asarray(value ^ (value >> _SHIFTS[2]))


def drawn_rows(ids: I64, share: float, *seed: int) -> Bool:
    """Draw rows independently, each with probability `share` below 1; return a mask of shape (n,)."""
    drawn: Bool = row_hashes(ids, *seed) < np.uint64(int(share * 2.0**64))
    return drawn


def digest_of_rows(values: Table | I64, shard: Shard, communicator: Communicator) -> int:
    """Return a digest of rows that are divided among workers in any way.

    Parameters
    ----------
    values : ndarray, shape (n,) or (n, d)
        Rows of this worker; numbers, which are compared as float64.

    Returns
    -------
    int
        The same on all workers: a sum over rows of hashes of their number and values.
    """
    table, ids = values if values.ndim == 2 else values[:, None], shard.ids
    factors = row_hashes(np.arange(table.shape[1]), 0) | np.uint64(1)
    length = max(1, _BLOCK // max(1, table.shape[1]))
    total = np.zeros(1, dtype=np.uint64)
    for first in range(0, shard.n_rows, length):
        bits = np.array(table[first : first + length], dtype=np.float64, order="C").view(np.uint64)
        bits ^= bits >> np.uint64(32)  # low bits of floats are often 0, which products would keep
        hashed = bits @ factors
        total += _mixed(hashed + row_hashes(ids[first : first + length], 1)).sum(dtype=np.uint64)
    return int(communicator.sum(total.view(np.int64))[0])
