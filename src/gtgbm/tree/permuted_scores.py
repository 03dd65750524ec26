"""Scores of a forest if the values of one column are permuted among the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gtgbm import _core
from gtgbm.exact import F64, I64
from gtgbm.tree.forest import Forest


class PermutedScores:
    """Scores of the rows of a table, as they are and with one column permuted.

    Parameters
    ----------
    forest : Forest
    table : Table, or CSR or CSC matrix or array of scipy, shape (n, d)
    pool : Pool
    places : ndarray of int64, shape (c,), or None
        Positions of ``forest.columns`` in the table; None: the same as in training.

    Attributes
    ----------
    plain : ndarray of float64, shape (k, n)
        Scores of the table as it is, equal to those of the forest up to rounding.
    """

    def __init__(self, forest: Forest, table: Any, pool: _core.Pool, places: I64 | None = None) -> None:
        # Rounded sums would tell rows apart that are in the same leaves, which changes metrics of ranks.
        self._forest = forest.without_rounding()
        self._table, self._pool, self._places = table, pool, places
        self._position = {column: k for k, column in enumerate(forest.columns.tolist())}
        self.plain = self._forest.scores(table, pool, places)

    def of_columns(self, columns: Sequence[int], donor: I64) -> Iterator[F64]:
        """Yield the scores with each of some columns permuted, the others as they are.

        Parameters
        ----------
        columns : sequence of int
            Different columns of the training table; those that no tree uses change nothing.
        donor : ndarray of int64, shape (n,)
            The row whose value each row takes.

        Yields
        ------
        ndarray of float64, shape (k, n)
            A new array for each column.
        """
        used = [self._position[column] for column in columns if column in self._position]
        positions = np.array(used, dtype=np.int64)
        changes = self._forest.each_score_change(self._table, donor, self._pool, positions, self._places)
        for column in columns:
            yield self.plain + (next(changes) if column in self._position else 0.0)
