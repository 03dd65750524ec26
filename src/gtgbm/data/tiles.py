"""Codes of a growing list of columns, with eight columns interleaved in each tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gtgbm import _core
from gtgbm.exact import CATEGORICAL, CELLS, F64, I32, I64, LANES, NEW, OTHER_TASKS, SKIPPED, U8, Bool

T = TypeVar("T", bound=np.generic)

_SAME_PRICE: F64 = np.empty(0)
"""Stands for one price of all columns, which does not matter for which of them is best."""


class Tiles:
    """Codes of columns, and how a histogram scan uses each column.

    One read of eight bytes gives the codes of a row in eight columns, which makes histograms of scattered
    rows fast.

    Attributes
    ----------
    n_columns : int
        Number of columns held.
    category_use : ndarray of uint8, shape (categorical columns, 256)
        How a scan uses each code of a categorical column: SKIPPED, NEW, OWNED or OTHER_TASKS.
    """

    @classmethod
    def of(cls, features: I64, n_rows: int, encode: Callable[[I64, U8], I32], use: U8) -> Tiles:
        """Encode many numeric columns at once.

        Parameters
        ----------
        features : ndarray of int64, shape (c,)
        encode : callable
            ``encode(features, out)`` writes codes (tiles, n, 8) and returns numbers of bins.
        use : ndarray of uint8, shape (c,)
            How a scan uses each column.
        """
        tiles, c = cls(n_rows, features.shape[0]), features.shape[0]
        tiles.n_columns = c
        tiles._feature[:c], tiles._use[:c] = features, use
        tiles._n_bins[:c] = encode(features, tiles._codes)
        tiles._n_codes[:c] = CELLS
        return tiles

    def __init__(self, n_rows: int, capacity: int = LANES) -> None:
        n_tiles = max(1, -(-capacity // LANES))
        self._codes: U8 = np.zeros((n_tiles, n_rows, LANES), dtype=np.uint8)
        # One entry per column from here on. `_feature` is the first feature of a categorical column.
        self._n_bins: I32 = np.zeros(n_tiles * LANES, dtype=np.int32)
        self._feature: I64 = np.zeros(n_tiles * LANES, dtype=np.int64)
        # 1 where each code is a feature of its own, else 0.
        self._step: I64 = np.zeros(n_tiles * LANES, dtype=np.int64)
        self._use: U8 = np.zeros(n_tiles * LANES, dtype=np.uint8)
        self._category_row: I32 = np.full(n_tiles * LANES, -1, dtype=np.int32)
        self._n_codes: I64 = np.full(n_tiles * LANES, 1, dtype=np.int64)
        self.category_use: U8 = np.zeros((0, CELLS), dtype=np.uint8)
        self.n_columns = 0
        self._is_skipped: Bool | None = None

    @property
    def n_tiles(self) -> int:
        """Number of tiles in use; the last one may not be full."""
        return -(-self.n_columns // LANES)

    @property
    def codes(self) -> U8:
        """Codes, shape (n_tiles, n, 8)."""
        return self._codes[: self.n_tiles]

    @property
    def n_bins(self) -> I32:
        """Number of bins of each column, shape (n_columns,)."""
        return self._n_bins[: self.n_columns]

    @property
    def use(self) -> U8:
        """How scans use each column, shape (n_columns,)."""
        return self._use[: self.n_columns]

    @property
    def first_feature(self) -> I64:
        """Feature of each column, or the first feature of a categorical one, shape (n_columns,)."""
        return self._feature[: self.n_columns]

    @property
    def scanned_use(self) -> U8:
        """How scans of the current tree use each column, shape (n_columns,)."""
        if self._is_skipped is None:
            return self.use
        use = self.use.copy()
        # Columns that were added since the tree began are not skipped.
        use[: self._is_skipped.shape[0]][self._is_skipped] = SKIPPED
        return use

    def skip(self, skipped: Bool | None) -> None:
        """Exclude some columns, shape (n_columns,), from scans; None: exclude none."""
        self._is_skipped = skipped

    def skip_last(self) -> None:
        """Exclude the column that was added last from the scans of the current tree."""
        assert self._is_skipped is not None
        skipped = np.zeros(self.n_columns, dtype=np.bool_)
        skipped[: self._is_skipped.shape[0]] = self._is_skipped
        skipped[-1] = True
        self._is_skipped = skipped

    @property
    def category_row(self) -> I32:
        """Row of `category_use` of each categorical column, shape (n_columns,)."""
        return self._category_row[: self.n_columns]

    @property
    def _widths(self) -> I64:
        """Histogram cells per column of each tile: as many as its widest column has codes."""
        widths = self._n_codes[: self.n_tiles * LANES].reshape(-1, LANES).max(axis=1)
        return np.asarray(widths, dtype=np.int64)

    def scanned(
        self, columns: slice | None = None, use: U8 | None = None, price: F64 | None = None
    ) -> _core.TileColumns:
        """Return the columns that a scan kernel reads.

        Parameters
        ----------
        columns : slice or None
            The columns to scan; None: all.
        use : ndarray of uint8, shape (n_columns,), or None
            How the scan uses each column; None: as in the current tree.
        price : ndarray of float64, shape (n_columns,), or None
            What the first use of each column costs, in units of gain; None: the same for all.
        """
        chosen = slice(0, self.n_columns) if columns is None else columns
        return _core.TileColumns(
            n_bins=self.n_bins[chosen],
            use=(self.scanned_use if use is None else use)[chosen],
            category_row=self.category_row[chosen],
            category_use=self.category_use,
            price=_SAME_PRICE if price is None else price[chosen],
        )

    def other_tasks(self, columns: slice, price: F64 | None = None) -> _core.TileColumns | None:
        """Return columns to scan for the categories of other tasks only, as NEW; None if there are none.

        `price` is what the first use of each column costs, shape (n_columns,); None: the same for all.
        """
        is_theirs = self.category_use == OTHER_TASKS
        if not is_theirs.any():
            return None
        is_categorical = self.scanned_use == CATEGORICAL
        return _core.TileColumns(
            n_bins=self.n_bins[columns],
            use=np.where(is_categorical, CATEGORICAL, SKIPPED).astype(np.uint8)[columns],
            category_row=self.category_row[columns],
            category_use=np.where(is_theirs, NEW, SKIPPED).astype(np.uint8),
            price=_SAME_PRICE if price is None else price[columns],
        )

    def native(self) -> _core.TileSet:
        """Return codes and columns as one native object."""
        return _core.TileSet(codes=self.codes, widths=self._widths, columns=self.scanned())

    def column(self, position: int) -> U8:
        """Return the codes of the column at a position: a strided view, shape (n,)."""
        return self._codes[position // LANES, :, position % LANES]

    def append(self, feature: int, codes: U8, n_bins: int, use: int) -> int:
        """Add a numeric column and return its position."""
        position = self.n_columns
        if position == self._n_bins.shape[0]:
            self._codes, self._n_bins = _doubled(self._codes), _doubled(self._n_bins)
            self._feature, self._use = _doubled(self._feature), _doubled(self._use)
            self._category_row, self._n_codes = _doubled(self._category_row), _doubled(self._n_codes)
            self._step = _doubled(self._step)
        self.n_columns += 1
        self._feature[position] = feature
        self._n_bins[position] = n_bins
        self._use[position] = use
        self._category_row[position] = -1
        self.column(position)[:] = codes
        # Bins may be those of more rows than these, as where tasks share a column: scans look at all of them.
        self._n_codes[position] = max(int(codes.max(initial=0)) + 1, n_bins)
        return position

    def remove(self, position: int) -> None:
        """Remove the numeric column at a position; the columns after it move up by one."""
        last = self.n_columns - 1
        for place in range(position, last):
            self.column(place)[:] = self.column(place + 1)
        entries = (self._feature, self._n_bins, self._step, self._use, self._category_row, self._n_codes)
        for of_columns in entries:
            of_columns[position:last] = of_columns[position + 1 : last + 1]
        # Histograms of a tile count all its lanes, also an unused one: its codes must fit into them.
        self.column(last)[:] = 0
        self._n_codes[last] = 1
        self.n_columns = last

    def append_categories(self, first_feature: int, codes: U8, use: U8, is_whole: bool = False) -> int:
        """Add a categorical column and return its position.

        Parameters
        ----------
        first_feature : int
            Code c is feature ``first_feature + c``, or `first_feature` if the column is one feature.
        codes : ndarray of uint8, shape (n,)
        use : ndarray of uint8, shape (codes,)
            How a scan uses each code.
        is_whole : bool
            Whether the column is one feature.
        """
        position = self.append(first_feature, codes, use.shape[0], CATEGORICAL)
        self._category_row[position] = self.category_use.shape[0]
        self._step[position] = not is_whole
        self.category_use = np.concatenate([self.category_use, np.zeros((1, CELLS), dtype=np.uint8)])
        self.category_use[-1, : use.shape[0]] = use
        return position

    def feature_of(self, position: I32, bins: I32) -> I64:
        """Return the feature of each split, given by position and bin; -1 for position -1."""
        return np.where(position < 0, -1, self._feature[position] + self._step[position] * bins)


def _doubled(array: NDArray[T]) -> NDArray[T]:
    grown = np.zeros((2 * array.shape[0], *array.shape[1:]), dtype=array.dtype)
    grown[: array.shape[0]] = array
    return grown
