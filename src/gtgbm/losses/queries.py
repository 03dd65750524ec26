"""Queries of a ranking: groups of rows, each row a document, that are ranked against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm import _core
from gtgbm.exact import F64, I64, Bool


@dataclass(frozen=True)
class Queries:
    """Rows grouped by query.

    Attributes
    ----------
    rows : ndarray of int64, shape (n,)
        The rows of query q are ``rows[begin[q]:begin[q + 1]]``, in table order.
    begin : ndarray of int64, shape (queries + 1,)
    ids : ndarray, shape (queries,)
        Ids of the queries, ascending.
    """

    rows: I64
    begin: I64
    ids: NDArray[Any]
    ideals: dict[int | None, tuple[F64, F64]] = field(default_factory=dict, compare=False, repr=False)
    """Cache of `ideal_dcg` by truncation k: the relevances, and the ideal DCG of each query."""

    @classmethod
    def of(cls, qid: NDArray[Any]) -> Queries:
        """Group rows by equal ids; the rows of a query need not be adjacent."""
        ids, number, counts = np.unique(qid, return_inverse=True, return_counts=True)
        begin = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(np.argsort(number, kind="stable"), begin, ids)

    @classmethod
    def joined(cls, parts: Sequence[Queries]) -> Queries:
        """Return the queries of tables that are put one below the other; none has rows of two tables."""
        first_rows = np.cumsum([0, *(part.rows.shape[0] for part in parts)])
        rows = [part.rows + first for part, first in zip(parts, first_rows[:-1], strict=True)]
        begins = [part.begin[:-1] + first for part, first in zip(parts, first_rows[:-1], strict=True)]
        begin = np.concatenate([*begins, first_rows[-1:]])
        return cls(np.concatenate(rows), begin, np.arange(begin.shape[0] - 1))

    def __len__(self) -> int:
        """Return the number of queries."""
        return int(self.begin.shape[0]) - 1

    @cached_property
    def sizes(self) -> I64:
        """Number of rows of each query."""
        return np.diff(self.begin)

    @cached_property
    def number(self) -> I64:
        """Index of the query of each entry of `rows`."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def id_of_rows(self) -> NDArray[Any]:
        """Return the id of the query of each row, shape (n,)."""
        of_rows = np.empty(self.rows.shape[0], dtype=self.ids.dtype)
        of_rows[self.rows] = self.ids[self.number]
        return of_rows

    def of_rows(self, kept: Bool) -> Queries:
        """Keep some rows and renumber them from 0; queries without kept rows are dropped."""
        number = np.empty(self.rows.shape[0], dtype=np.int64)
        number[self.rows] = self.number
        return Queries.of(number[kept])

    def ranked(self, score: F64) -> tuple[I64, I64]:
        """Return rows sorted by query and descending score, ties in table order, and their ranks from 0."""
        ranked = np.empty_like(self.rows)
        _core.rank_rows(_core.Pool(1), self.rows, self.begin, np.ascontiguousarray(score), ranked)
        return ranked, self.place

    @cached_property
    def place(self) -> I64:
        """Position of each entry of `rows` within its query."""
        place: I64 = np.arange(self.rows.shape[0]) - self.begin[self.number]
        return place
