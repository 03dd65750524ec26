"""Which rows of a table a worker has."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm.exact.arrays import I64, Bool
from gtgbm.exact.communicator import Communicator

_WORD = 64
"""Bits of a word of a bitmap of rows."""


@dataclass(frozen=True)
class Shard:
    """The rows of a worker among those of all workers.

    Attributes
    ----------
    given_ids : ndarray of int64, shape (n,), or None
        Numbers of the worker's rows in the whole table, ascending; None: the worker has all rows.
    n_total : int
        Rows of all workers.
    """

    given_ids: I64 | None
    n_total: int

    @classmethod
    def whole(cls, n_rows: int) -> Shard:
        """Return the shard of a worker that has all rows."""
        return cls(None, n_rows)

    @property
    def is_whole(self) -> bool:
        """Whether the worker has all rows."""
        return self.given_ids is None

    @property
    def n_rows(self) -> int:
        """Rows of this worker."""
        return self.n_total if self.given_ids is None else int(self.given_ids.shape[0])

    @property
    def ids(self) -> I64:
        """Numbers of this worker's rows in the whole table, ascending, shape (n,)."""
        return np.arange(self.n_total) if self.given_ids is None else self.given_ids

    def find(self, rows: I64) -> tuple[I64, I64]:
        """Find those of some rows that this worker has.

        Parameters
        ----------
        rows : ndarray of int64, shape (m,)
            Numbers in the whole table.

        Returns
        -------
        places : ndarray of int64, shape (k,)
            Which of `rows` this worker has.
        local : ndarray of int64, shape (k,)
            The positions of these rows on this worker.
        """
        if self.given_ids is None:
            return np.arange(rows.shape[0]), rows
        local = np.searchsorted(self.given_ids, rows)
        is_own = np.zeros(rows.shape[0], dtype=np.bool_)
        inside = local < self.given_ids.shape[0]
        is_own[inside] = self.given_ids[local[inside]] == rows[inside]
        return np.flatnonzero(is_own), local[is_own].astype(np.int64)

    def only(self, kept: Bool, communicator: Communicator) -> Shard:
        """Return the shard after all workers dropped some rows; the remaining ones are numbered from 0.

        Parameters
        ----------
        kept : ndarray of bool, shape (n,)
            Which rows of this worker remain.
        """
        if self.given_ids is None:
            return Shard.whole(int(np.count_nonzero(kept)))
        ids = self.given_ids[kept]
        word, bit = ids // _WORD, (ids % _WORD).astype(np.uint64)
        bitmap = np.zeros(-(-self.n_total // _WORD), dtype=np.uint64)
        np.bitwise_or.at(bitmap, word, np.uint64(1) << bit)
        # No two workers have the same bit, so that a sum of words is their union.
        communicator.sum(bitmap.view(np.int64))
        counts = _bit_counts(bitmap)
        before = np.cumsum(counts) - counts
        below = bitmap[word] & ((np.uint64(1) << bit) - np.uint64(1))
        return Shard(before[word] + _bit_counts(below), int(counts.sum()))


def _bit_counts(words: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> I64:
    """Return the number of bits that are set in each word."""
    counts: I64 = np.unpackbits(words.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=1, dtype=np.int64)
    return counts
