"""Data with targets of several kinds, classes, counts and rankings, split into folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measuring.data import Source, load
from measuring.data.sources import stored_arrays
from measuring.data.stored import NYC_ROWS

SPLITS = 30
"""Random splits of data that come without folds."""


@dataclass(frozen=True)
class Fold:
    """Rows to train on and rows to test with."""

    X: NDArray[Any]
    y: NDArray[np.float64]
    X_test: NDArray[Any]
    y_test: NDArray[np.float64]
    qid: NDArray[np.int64] | None = None
    qid_test: NDArray[np.int64] | None = None


def gisette(data_dir: Path) -> Iterator[Fold]:
    """Two classes, the split that comes with the data."""
    data = load(Source("gisette", str(data_dir)))
    yield Fold(data.X_train, data.y_train * 1.0, data.X_test, data.y_test * 1.0)


def lightgbm_rank(data_dir: Path) -> Iterator[Fold]:
    """Relevance 0 to 4: all queries, split at random several times, a fifth to test with."""
    with stored_arrays(data_dir, "lightgbm_rank") as z:
        X, y = np.vstack([z["X_train"], z["X_test"]]), np.concatenate([z["y_train"], z["y_test"]]) * 1.0
        qid = np.concatenate([z["query_train"], z["query_test"] + 100_000]).astype(np.int64)
    for seed in range(SPLITS):
        yield by_query(X, y, qid, a_fifth(qid, seed))


def mq2008(data_dir: Path) -> Iterator[Fold]:
    """Relevance 0 to 2: LETOR's five parts, each one in turn to test with."""
    with stored_arrays(data_dir, "mq2008") as z:
        X, y, qid, part = z["X"], z["y"] * 1.0, z["query_id"].astype(np.int64), z["part_S"]
    for tested in range(1, 6):
        yield by_query(X, y, qid, np.unique(qid[part == tested]))


def generated_queries(seed: int, recipe: int) -> Fold:
    """Generate queries of 10 to 30 documents, 100 columns, relevance 0 to 2 by 12 of them."""
    rng = np.random.default_rng([seed, recipe])
    sizes = rng.integers(10, 31, 150)
    qid = np.repeat(np.arange(150), sizes)
    X = rng.normal(size=(qid.shape[0], 100)).astype(np.float32)
    signal = X[:, :12] @ np.linspace(1.0, 0.2, 12) + rng.normal(size=qid.shape[0])
    y = np.digitize(signal, np.quantile(signal, [0.7, 0.9])).astype(np.float64)
    return by_query(X, y, qid, np.arange(30))


def nycflights(target: str) -> Callable[[Path], Iterator[Fold]]:
    """Flights, drawn with seed 0: whether delayed, or another column as the target; codes as numbers."""

    def load_fold(data_dir: Path) -> Iterator[Fold]:
        with stored_arrays(data_dir, "nycflights13") as z:
            rows = np.random.default_rng(0).permutation(z["X"].shape[0])[:NYC_ROWS]
            X, y, names = z["X"][rows], z["y"][rows] * 1.0, z["feature_names"].tolist()
        if target != "delayed":
            column = names.index(target)
            X, y = np.delete(X, column, axis=1), X[:, column].astype(np.float64)
        X, y = X[~np.isnan(y)], y[~np.isnan(y)]
        cut = int(0.8 * y.shape[0])
        yield Fold(X[:cut], y[:cut], X[cut:], y[cut:])

    return load_fold


def by_query(X: Any, y: Any, qid: NDArray[np.int64], tested: NDArray[np.int64]) -> Fold:
    """Split off some queries to test with."""
    # Peers need rows of a query together.
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    test = np.isin(qid, tested)
    return Fold(X[~test], y[~test], X[test], y[test], qid[~test], qid[test])


def a_fifth(qid: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Draw a fifth of the queries."""
    queries = np.random.default_rng(seed).permutation(np.unique(qid))
    return queries[: len(queries) // 5]


FOLDS: dict[str, Callable[[Path], Iterator[Fold]]] = {
    "gisette-like": gisette,
    "lightgbm_rank": lightgbm_rank,
    "mq2008": mq2008,
    "nycflights13, delayed": nycflights("delayed"),
    "nycflights13, carrier": nycflights("carrier"),
    "nycflights13, origin": nycflights("origin"),
    "nycflights13, seats": nycflights("seats"),
}
