"""Codes of a growing list of columns, eight interleaved in each tile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gtgbm import _core
from gtgbm.exact import CATEGORICAL, CELLS, I32, I64, LANES, NEW, OTHER_TASKS, SKIPPED, U8, Bool

T = TypeVar("T", bound=np.generic)


class Tiles:
    """Code columns and what a scan shall make of them.

    One read of eight bytes gives a row's codes in eight columns, which is what makes histograms of
    scattered rows fast.

    Attributes
    ----------
    n_columns : int
        Number of columns held.
    category_use : ndarray of uint8, shape (categorical columns, 256)
        What each code of a categorical column is to a scan.
    """

    @classmethod
    def of(cls, features: I64, n_rows: int, encode: Callable[[I64, U8], I32], use: U8) -> Tiles:
        """Encode many columns of numbers at once.

        Parameters
        ----------
        features : ndarray of int64, shape (c,)
        encode : callable
            ``encode(features, out)`` writes codes (tiles, n, 8) and returns numbers of bins.
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
        # Bins, base feature, use and row of category_use of each column.
        self._n_bins: I32 = np.zeros(n_tiles * LANES, dtype=np.int32)
        self._feature: I64 = np.zeros(n_tiles * LANES, dtype=np.int64)
        # 1 where codes are features of their own.
        self._step: I64 = np.zeros(n_tiles * LANES, dtype=np.int64)
        self._use: U8 = np.zeros(n_tiles * LANES, dtype=np.uint8)
        self._category_row: I32 = np.full(n_tiles * LANES, -1, dtype=np.int32)
        self._n_codes: I64 = np.full(n_tiles * LANES, 1, dtype=np.int64)
        self.category_use: U8 = np.zeros((0, CELLS), dtype=np.uint8)
        self.n_columns = 0
        self._is_skipped: Bool | None = None

    @property
    def n_tiles(self) -> int:
        """Number of tiles in use, the last one perhaps not full."""
        return -(-self.n_columns // LANES)

    @property
    def codes(self) -> U8:
        """Codes, shape (n_tiles, n, 8)."""
        return self._codes[: self.n_tiles]

    @property
    def n_bins(self) -> I32:
        """Bins of each column, shape (n_columns,)."""
        return self._n_bins[: self.n_columns]

    @property
    def use(self) -> U8:
        """What each column is, shape (n_columns,)."""
        return self._use[: self.n_columns]

    @property
    def first_feature(self) -> I64:
        """Feature of each column, the first one of a categorical column, shape (n_columns,)."""
        return self._feature[: self.n_columns]

    @property
    def scanned_use(self) -> U8:
        """What each column is to a scan of this tree, shape (n_columns,)."""
        if self._is_skipped is None:
            return self.use
        use = self.use.copy()
        # Columns that were added since the tree began are not skipped.
        use[: self._is_skipped.shape[0]][self._is_skipped] = SKIPPED
        return use

    def skip(self, skipped: Bool | None) -> None:
        """Let scans pass over some of the columns; None: over none."""
        self._is_skipped = skipped

    @property
    def category_row(self) -> I32:
        """Row of `category_use` of each categorical column, shape (n_columns,)."""
        return self._category_row[: self.n_columns]

    @property
    def _widths(self) -> I64:
        """Cells that a histogram of each tile needs per column: as many as its widest column has codes."""
        widths = self._n_codes[: self.n_tiles * LANES].reshape(-1, LANES).max(axis=1)
        return np.asarray(widths, dtype=np.int64)

    def scanned(self, columns: slice | None = None, use: U8 | None = None) -> _core.TileColumns:
        """Return what columns are to a scan, as kernels take it.

        Parameters
        ----------
        columns : slice or None
            Some of the columns; None: all.
        use : ndarray of uint8, shape (n_columns,), or None
            What each column is; None: what it is in this tree.
        """
        chosen = slice(0, self.n_columns) if columns is None else columns
        return _core.TileColumns(
            n_bins=self.n_bins[chosen],
            use=(self.scanned_use if use is None else use)[chosen],
            category_row=self.category_row[chosen],
            category_use=self.category_use,
        )

    def other_tasks(self, columns: slice) -> _core.TileColumns | None:
        """Return the same with the categories of other tasks alone, as new ones; None: there are none."""
        is_theirs = self.category_use == OTHER_TASKS
        if not is_theirs.any():
            return None
        is_categorical = self.scanned_use == CATEGORICAL
        return _core.TileColumns(
            n_bins=self.n_bins[columns],
            use=np.where(is_categorical, CATEGORICAL, SKIPPED).astype(np.uint8)[columns],
            category_row=self.category_row[columns],
            category_use=np.where(is_theirs, NEW, SKIPPED).astype(np.uint8),
        )

    def native(self) -> _core.TileSet:
        """Return codes and columns, as kernels take them."""
        return _core.TileSet(codes=self.codes, widths=self._widths, columns=self.scanned())

    def column(self, position: int) -> U8:
        """Codes of the column at a position, a strided view of shape (n,)."""
        return self._codes[position // LANES, :, position % LANES]

    def append(self, feature: int, codes: U8, n_bins: int, use: int) -> int:
        """Add a column of numbers and return its position."""
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

    def append_categories(self, first_feature: int, codes: U8, use: U8, is_whole: bool = False) -> int:
        """Add a categorical column.

        Parameters
        ----------
        first_feature : int
            The feature of code c is ``first_feature + c``; of every code, if the column is one feature.
        use : ndarray of uint8, shape (codes,)
            What each code is to a scan.
        """
        position = self.append(first_feature, codes, use.shape[0], CATEGORICAL)
        self._category_row[position] = self.category_use.shape[0]
        self._step[position] = not is_whole
        self.category_use = np.concatenate([self.category_use, np.zeros((1, CELLS), dtype=np.uint8)])
        self.category_use[-1, : use.shape[0]] = use
        return position

    def feature_of(self, position: I32, bins: I32) -> I64:
        """Feature of each of some splits; -1 for position -1."""
        return np.where(position < 0, -1, self._feature[position] + self._step[position] * bins)


def _doubled(array: NDArray[T]) -> NDArray[T]:
    grown = np.zeros((2 * array.shape[0], *array.shape[1:]), dtype=array.dtype)
    grown[: array.shape[0]] = array
    return grown
