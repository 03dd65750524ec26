"""A table to learn from, split into training and test rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Kind: TypeAlias = Literal["binary", "regression"]
Matrix: TypeAlias = Any
"""ndarray of float32 in C order, or scipy CSR of float32; scipy ships no types."""


@dataclass(frozen=True)
class Data:
    """A task with a test set.

    Attributes
    ----------
    X_train, X_test : ndarray of float32, shape (n, d), C order, or scipy CSR of float32
    y_train, y_test : ndarray, shape (n,)
        int64, 0 or 1, for ``kind="binary"``; float64 for ``kind="regression"``.
    categorical : tuple of int
        Columns whose values are codes of categories: 0, 1, ... or NaN. Only in dense tables.
    kind : {'binary', 'regression'}
    """

    X_train: Matrix
    y_train: NDArray[Any]
    X_test: Matrix
    y_test: NDArray[Any]
    categorical: tuple[int, ...] = ()
    kind: Kind = "binary"

    @property
    def n_rows(self) -> int:
        """Training rows."""
        return int(self.X_train.shape[0])

    @property
    def n_columns(self) -> int:
        """Columns."""
        return int(self.X_train.shape[1])

    def only(self, columns: Sequence[int] | None) -> Data:
        """Return the task with only some columns; all of them for None."""
        if columns is None:
            return self
        train, test = (_columns(X, columns) for X in (self.X_train, self.X_test))
        place = {column: k for k, column in enumerate(columns)}
        categorical = tuple(sorted(place[c] for c in self.categorical if c in place))
        return replace(self, X_train=train, X_test=test, categorical=categorical)

    def first_rows(self, most: int) -> Data:
        """Return the task with at most so many training and test rows."""
        return replace(
            self,
            X_train=self.X_train[:most],
            y_train=self.y_train[:most],
            X_test=self.X_test[:most],
            y_test=self.y_test[:most],
        )

    def one_hot(self) -> Data:
        """Return the task as CSR with one column of 0 and 1 per category, the other columns first.

        A category that no training row has gets no column, a missing one leaves all columns 0.
        """
        others = [j for j in range(self.X_train.shape[1]) if j not in self.categorical]
        n_codes = {c: int(np.nanmax(self.X_train[:, c])) + 1 for c in self.categorical}

        def encode(X: NDArray[np.float32]) -> Matrix:
            parts = [sparse.csr_matrix(X[:, others])] if others else []
            parts += [_indicators(X[:, c], width) for c, width in n_codes.items()]
            return sparse.hstack(parts, format="csr", dtype=np.float32)

        return replace(self, X_train=encode(self.X_train), X_test=encode(self.X_test), categorical=())


def _columns(X: Matrix, columns: Sequence[int]) -> Matrix:
    chosen = np.asarray(columns, dtype=np.int64)
    return X[:, chosen] if sparse.issparse(X) else np.ascontiguousarray(X[:, chosen])


def _indicators(codes: NDArray[np.float32], width: int) -> Matrix:
    known = np.flatnonzero(codes < width)  # false for NaN as well
    ones = np.ones(known.shape[0], dtype=np.float32)
    return sparse.csr_matrix(
        (ones, (known, codes[known].astype(np.int64))), shape=(codes.shape[0], width), dtype=np.float32
    )


def split(X: Matrix, y: NDArray[Any], is_train: NDArray[np.bool_], categorical: tuple[int, ...] = ()) -> Data:
    """Divide a table of a binary task; labels above 0 are the second class."""
    y01 = (y > 0).astype(np.int64)
    return Data(X[is_train], y01[is_train], X[~is_train], y01[~is_train], categorical)


def random_split(n_rows: int, seed: int, train_share: float = 0.8) -> NDArray[np.bool_]:
    """Draw training rows; the rest are test rows.

    Returns
    -------
    ndarray of bool, shape (n_rows,)
    """
    is_train = np.zeros(n_rows, dtype=np.bool_)
    is_train[np.random.default_rng(seed).permutation(n_rows)[: round(train_share * n_rows)]] = True
    return is_train
