"""Generated tables: large or wide ones with correlated columns, and the package's demo data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measuring.data.sources import Loader, Source
from measuring.data.task import Data, random_split, split
from measuring.files import replacing

_BLOCK_ROWS = 10_000
"""Rows generated at a time. Each block has its own seed, so a longer table begins like a shorter one."""
_N_FACTORS = 60
"""Hidden variables that columns share; they make columns correlated."""
_FACTOR_SHARE = 0.5
"""Share of a column's variance that comes from hidden variables."""
_HALF_WEIGHT_AT = 20.0
"""The relevant column of this rank weighs half as much as the first: a few tell much, many tell a little."""
_SPREAD = 3.5
"""Length of the vector of weights: about the spread of the log odds, however many columns matter."""
_RECIPE = 2
"""Part of the names of cached tables: to be counted up with every change of what is generated."""


def make_table(
    n_rows: int, n_columns: int, n_relevant: int, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Generate a dense table of correlated columns and a binary target.

    Every column is a mixture of four hidden variables and noise of its own. The log odds are a sum over the
    relevant columns: two thirds enter straight, one third bent.

    Returns
    -------
    X : ndarray of float32, shape (n_rows, n_columns), C order
    y : ndarray of int64, shape (n_rows,)
    """
    layout = np.random.default_rng(seed)
    loadings = np.zeros((_N_FACTORS, n_columns), dtype=np.float32)
    factors = layout.integers(0, _N_FACTORS, (4, n_columns))
    loadings[factors, np.arange(n_columns)] = layout.standard_normal((4, n_columns), dtype=np.float32)
    loadings *= np.sqrt(_FACTOR_SHARE) / np.linalg.norm(loadings, axis=0)
    relevant = layout.permutation(n_columns)[:n_relevant]
    weights = layout.choice([-1.0, 1.0], n_relevant) / (1.0 + np.arange(n_relevant) / _HALF_WEIGHT_AT)
    weights = (weights * (_SPREAD / np.linalg.norm(weights))).astype(np.float32)
    is_bent = np.arange(n_relevant) % 3 == 2
    X = np.empty((n_rows, n_columns), dtype=np.float32)
    y = np.empty(n_rows, dtype=np.int64)
    for block, begin in enumerate(range(0, n_rows, _BLOCK_ROWS)):
        rng = np.random.default_rng([seed, block])
        rows = X[begin : begin + _BLOCK_ROWS]
        rng.standard_normal(out=rows, dtype=np.float32)
        rows *= np.float32(np.sqrt(1.0 - _FACTOR_SHARE))
        rows += rng.standard_normal((rows.shape[0], _N_FACTORS), dtype=np.float32) @ loadings
        signal = rows[:, relevant]
        signal[:, is_bent] = np.abs(signal[:, is_bent]) - np.float32(np.sqrt(2 / np.pi))
        chance = 1.0 / (1.0 + np.exp(-(signal @ weights)))
        y[begin : begin + _BLOCK_ROWS] = rng.random(rows.shape[0]) < chance
    return X, y


def _correlated(shape: tuple[int, int], n_test: int, n_relevant: int) -> Loader:
    def load(source: Source) -> Data:
        n_train, n_columns = source.shape or shape
        if source.max_rows is not None:
            n_train = min(n_train, source.max_rows)
        n_rows = n_train + min(n_test, n_train)
        X, y = _cached(source, n_rows, n_columns, n_relevant)
        return Data(X[:n_train], y[:n_train], X[n_train:], y[n_train:])

    return load


def _cached(
    source: Source, n_rows: int, n_columns: int, n_relevant: int
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    if source.cache_dir is None:
        return make_table(n_rows, n_columns, n_relevant, source.seed)
    folder = Path(source.cache_dir)
    name = f"recipe{_RECIPE}-{n_rows}x{n_columns}-{n_relevant}-seed{source.seed}"
    paths = [folder / f"{name}-{part}.npy" for part in ("X", "y")]
    if not all(path.is_file() for path in paths):
        arrays: tuple[NDArray[Any], ...] = make_table(n_rows, n_columns, n_relevant, source.seed)
        for path, array in zip(paths, arrays, strict=True):
            with replacing(path) as aside:
                np.save(aside, array)
    # Read even if just generated, so that every process holds the same memory when a fit begins.
    X, y = (np.load(path, allow_pickle=False) for path in paths)
    return X, y


def _demo(source: Source) -> Data:
    n_rows, n_columns = source.shape or (20_000, 2_000)
    n_rows = min(n_rows, source.max_rows or n_rows)
    return demo_data(n_rows, max(1, n_rows // 2), n_columns, source.seed)


def demo_data(n_train: int, n_test: int, n_columns: int, seed: int = 0) -> Data:
    """Generate the package's demo data: few relevant columns, and others correlated with them."""
    # Only here: processes that fit other libraries need not import the package they are compared with.
    from gtgbm.demo_data import make_demo_data

    train = make_demo_data(n_train, n_columns, seed=seed)
    test = make_demo_data(n_test, n_columns, seed=seed, part=1)
    return Data(train.X, train.y, test.X, test.y)


def generated_flights(n: int, seed: int) -> Data:
    """Generate a table of categories and numbers of which some raise or lower the chance of a delay."""
    rng = np.random.default_rng(seed)
    widths = (12, 31, 7, 20, 150, 150)
    codes = np.column_stack([rng.integers(0, width, n) for width in widths])
    time, distance = rng.random(n), rng.exponential(size=n)
    odds = -1.8 + 2.0 * time + 0.1 * distance
    for column, width in enumerate(widths):
        effect = rng.normal(size=width) * (rng.random(width) < 0.3)
        odds = odds + 0.6 * effect[codes[:, column]]
    y = rng.random(n) < 1 / (1 + np.exp(-odds))
    X = np.column_stack([codes, time, distance]).astype(np.float32)
    return split(np.ascontiguousarray(X), y, random_split(n, seed), tuple(range(len(widths))))


def three_relevant(n: int, d: int, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Generate the paper's Figure 1: y = 2 x1 − 3·2^x2 + log2(1 + x3) + N(0, 1), features uniform in [0, 1].

    Returns
    -------
    X : ndarray of float32, shape (n, d)
    y : ndarray of float64, shape (n,)
    """
    rng = np.random.default_rng([seed, n, d])
    X = rng.random((n, d), dtype=np.float32)
    y = 2.0 * X[:, 0] - 3.0 * np.exp2(X[:, 1]) + np.log2(1.0 + X[:, 2]) + rng.normal(size=n)
    return X, y


def many_leaves(n_train: int, n_test: int) -> Data:
    """Generate 70 columns that all matter, for trees of many leaves."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(n_train, 70)), rng.normal(size=70)
    log_odds = X @ weight / 4 + np.sin(3 * X[:, 0]) * X[:, 1] + np.abs(X[:, 2:30]).sum(axis=1) - 22
    y = rng.random(X.shape[0]) < 1 / (1 + np.exp(-log_odds))
    return Data(X, y, rng.normal(size=(n_test, 70)), np.empty(0))


GENERATED: dict[str, Loader] = {
    "epsilon": _correlated((80_000, 2_000), n_test=20_000, n_relevant=300),
    "wide": _correlated((500, 200_000), n_test=500, n_relevant=5),
    "growth": _correlated((5_000, 2_000), n_test=2_000, n_relevant=100),
    "demo": _demo,
}
