"""A synthetic table with known relevant columns, for the demo and the benchmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm.exact import F64, I64, Table

N_RELEVANT = 15
_DECOYS_PER_FEATURE = 20


@dataclass(frozen=True)
class DemoData:
    """A table, binary targets, and the columns that the targets depend on.

    Attributes
    ----------
    X : ndarray of float32, shape (n, d)
    y : ndarray of int64, shape (n,)
    relevant : ndarray of int64, shape (15,)
        The columns that y depends on.
    decoy_of : ndarray of int64, shape (d,)
        The relevant column a decoy is correlated with, -1 for all other columns.
    """

    X: Table
    y: I64
    relevant: I64
    decoy_of: I64


def make_demo_data(n_rows: int, n_columns: int = 2000, seed: int = 0, part: int = 0) -> DemoData:
    """Generate a classification table with 15 relevant columns, correlated decoys and interactions.

    Nine relevant columns have additive effects (linear, curved or stepped); the other six interact in three
    pairs. Each relevant column has 20 decoys that are correlated with it but add no information. All other
    columns are noise: normal, heavy-tailed, or counts. The roles of the columns depend on `seed` only, so
    tables with different numbers of rows have the same relevant columns. Different values of `part` give
    different rows from the same distribution.
    """
    n_special = N_RELEVANT * (1 + _DECOYS_PER_FEATURE)
    if n_columns < n_special:
        raise ValueError(f"n_columns={n_columns} is too small: give at least {n_special}")
    layout = np.random.default_rng(seed)
    rng = np.random.default_rng(np.random.SeedSequence([seed, n_rows], spawn_key=(part,) if part else ()))
    place = layout.permutation(n_columns)
    relevant, decoys = place[:N_RELEVANT], place[N_RELEVANT:n_special]
    closeness: F64 = np.asarray(layout.uniform(0.4, 0.9, decoys.shape[0]))
    kind = layout.integers(0, 4, n_columns)
    X = np.empty((n_rows, n_columns), dtype=np.float32)
    for j in range(n_columns):
        X[:, j] = _noise(rng, n_rows, int(kind[j]))
    Z = rng.standard_normal((n_rows, N_RELEVANT))
    X[:, relevant] = Z
    source = np.repeat(np.arange(N_RELEVANT), _DECOYS_PER_FEATURE)
    for j, k, r in zip(decoys.tolist(), source.tolist(), closeness.tolist(), strict=True):
        X[:, j] = r * Z[:, k] + np.sqrt(1 - r * r) * rng.standard_normal(n_rows)
    y = (rng.random(n_rows) < 1.0 / (1.0 + np.exp(-_log_odds(X[:, relevant].astype(np.float64))))).astype(
        np.int64
    )
    decoy_of = np.full(n_columns, -1, dtype=np.int64)
    decoy_of[decoys] = relevant[source]
    return DemoData(X, y, relevant.astype(np.int64), decoy_of)


def _noise(rng: np.random.Generator, n: int, kind: int) -> F64:
    if kind == 0:
        return np.asarray(rng.standard_t(3, n))
    if kind == 1:
        return rng.poisson(1.0, n).astype(np.float64)
    return rng.standard_normal(n)


def _log_odds(z: F64) -> F64:
    alone = (
        0.9 * z[:, 0]
        - 0.8 * z[:, 1]
        + 0.7 * z[:, 2]
        - 0.6 * np.abs(z[:, 3])
        + 0.8 * (z[:, 4] > 0.5)
        - 0.5 * z[:, 5]
        + 0.6 * np.tanh(2 * z[:, 6])
        + 0.4 * np.minimum(z[:, 7] ** 2, 4.0)
        - 0.9 * (z[:, 8] < -0.8)
    )
    together = (
        1.2 * (z[:, 9] > 0) * (z[:, 10] > 0)
        + 0.8 * np.maximum(z[:, 11], 0) * (z[:, 12] < 0.3)
        - 1.1 * (z[:, 13] < 0.2) * np.maximum(z[:, 14], -1)
    )
    return np.asarray(1.4 * (alone + together - 0.2))
