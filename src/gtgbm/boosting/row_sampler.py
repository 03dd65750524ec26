"""Draws the samples of rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm.data import AnyTable, ParquetNumbers, sample_rows
from gtgbm.exact import I64
from gtgbm.search import SearchChoice


@dataclass(frozen=True)
class RowSampler:
    """Draws rows of a table at random, ascending.

    Attributes
    ----------
    n_rows : int
    rng : Generator
    among : ndarray of int64 or None
        The rows to draw from; None: all. Files of many row groups are sampled from some of them.
    """

    n_rows: int
    rng: np.random.Generator
    among: I64 | None = None

    @classmethod
    def of(cls, table: AnyTable, n_total: int, rng: np.random.Generator) -> RowSampler:
        """Return a sampler of the rows of a table, of which all workers together have `n_total`."""
        among = table.rows_to_sample(rng) if isinstance(table, ParquetNumbers) else None
        return cls(n_total, rng, among)

    def draw(self, n_sampled: int) -> I64:
        """Draw rows; all, if there are few enough."""
        if self.among is None:
            return sample_rows(self.n_rows, n_sampled, self.rng)
        return self.among[sample_rows(self.among.shape[0], n_sampled, self.rng)]

    def draw_others(self, n_sampled: int, drawn: I64) -> I64:
        """Draw rows that were not drawn before; from all, if these are too few."""
        is_other = np.ones(self.n_rows, dtype=np.bool_)
        if self.among is not None:
            is_other[:] = False
            is_other[self.among] = True
        rows = np.flatnonzero(is_other)
        is_other[drawn] = False
        others = np.flatnonzero(is_other)
        rows = others if others.shape[0] >= n_sampled else rows
        return rows[sample_rows(rows.shape[0], n_sampled, self.rng)]

    def described(self, choice: SearchChoice) -> SearchChoice:
        """Return the choice of a search, whose reason says if samples are not drawn from all rows."""
        if self.among is None:
            return choice
        n_rows = f"{self.among.shape[0]:,} of {self.n_rows:,} rows"
        return SearchChoice(str(choice), f"{choice.reason}; rows are sampled from some row groups, {n_rows}")
