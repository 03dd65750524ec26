"""Rows that belong together: the documents of a query."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm import _core
from gtgbm.exact import F64, I64, Bool


@dataclass(frozen=True)
class Queries:
    """Rows by query.

    Attributes
    ----------
    rows : ndarray of int64, shape (n,)
        Query q has ``rows[begin[q]:begin[q + 1]]``, in the order of the table.
    begin : ndarray of int64, shape (queries + 1,)
    """

    rows: I64
    begin: I64
    ideals: dict[int | None, tuple[F64, F64]] = field(default_factory=dict, compare=False, repr=False)
    """DCG of the best orders for relevances met before, by the number of places: they never change."""

    @classmethod
    def of(cls, qid: NDArray[Any]) -> Queries:
        """Group rows by equal ids, wherever they stand."""
        _, number, counts = np.unique(qid, return_inverse=True, return_counts=True)
        return cls(np.argsort(number, kind="stable"), np.concatenate([[0], np.cumsum(counts)]))

    def __len__(self) -> int:
        """Return the number of queries."""
        return int(self.begin.shape[0]) - 1

    @cached_property
    def sizes(self) -> I64:
        """Rows of each query."""
        return np.diff(self.begin)

    @cached_property
    def number(self) -> I64:
        """Query of each entry of `rows`."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def of_rows(self, kept: Bool) -> Queries:
        """Keep some rows, which are numbered anew; queries without any are dropped."""
        number = np.empty(self.rows.shape[0], dtype=np.int64)
        number[self.rows] = self.number
        return Queries.of(number[kept])

    def ranked(self, score: F64) -> tuple[I64, I64]:
        """Rows by query and falling score, ties in the order of the table; and each one's place from 0."""
        ranked = np.empty_like(self.rows)
        _core.rank_rows(_core.Pool(1), self.rows, self.begin, np.ascontiguousarray(score), ranked)
        return ranked, self.place

    @cached_property
    def place(self) -> I64:
        """Position of each entry of `rows` within its query."""
        place: I64 = np.arange(self.rows.shape[0]) - self.begin[self.number]
        return place
