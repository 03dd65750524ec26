"""The paper's public data sets: downloaded once, checked, and read in the formats they are published in."""

from __future__ import annotations

import bz2
import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from measuring.data import Data
from measuring.data.downloads import RemoteFile
from measuring.data.stored import FLIGHT_CATEGORIES, FLIGHT_TARGET

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/gisette"
_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_BENCHM_ML = "https://s3.amazonaws.com/benchm-ml--main"


@dataclass(frozen=True)
class GisetteFiles:
    """Rows of numbers and labels of 1 and -1; the labels of UCI's own test rows are not public."""

    train: RemoteFile = field(default=RemoteFile("gisette_train.data", f"{_UCI}/GISETTE/gisette_train.data"))
    train_labels: RemoteFile = field(
        default=RemoteFile("gisette_train.labels", f"{_UCI}/GISETTE/gisette_train.labels")
    )
    test: RemoteFile = field(default=RemoteFile("gisette_valid.data", f"{_UCI}/GISETTE/gisette_valid.data"))
    test_labels: RemoteFile = field(
        default=RemoteFile("gisette_valid.labels", f"{_UCI}/gisette_valid.labels")
    )
    shapes: tuple[tuple[int, int], tuple[int, int]] = ((6000, 5000), (1000, 5000))


@dataclass(frozen=True)
class EpsilonFiles:
    """LIBSVM's text format, packed; the paper uses 80,000 and 20,000 rows, here the first ones."""

    train: RemoteFile = field(
        default=RemoteFile("epsilon_normalized.bz2", f"{_LIBSVM}/epsilon_normalized.bz2")
    )
    test: RemoteFile = field(
        default=RemoteFile("epsilon_normalized.t.bz2", f"{_LIBSVM}/epsilon_normalized.t.bz2")
    )
    shapes: tuple[tuple[int, int], tuple[int, int]] = ((80_000, 2000), (20_000, 2000))


@dataclass(frozen=True)
class FlightFiles:
    """Comma-separated, with a header."""

    train: RemoteFile = field(default=RemoteFile("train-0.1m.csv", f"{_BENCHM_ML}/train-0.1m.csv"))
    test: RemoteFile = field(default=RemoteFile("test.csv", f"{_BENCHM_ML}/test.csv"))
    n_rows: tuple[int, int] = (100_000, 100_000)


def read_gisette(folder: Path, files: GisetteFiles | None = None) -> Data:
    """Read Gisette: its training rows, and its validation rows as test rows."""
    files = files or GisetteFiles()
    parts: list[NDArray[np.generic]] = []
    pairs = ((files.train, files.train_labels), (files.test, files.test_labels))
    for (table, labels), shape in zip(pairs, files.shapes, strict=True):
        parts += [_numbers(table, folder, shape), _numbers(labels, folder, (shape[0], 1))[:, 0] > 0]
    X_train, y_train, X_test, y_test = parts
    return Data(X_train, y_train.astype(np.int64), X_test, y_test.astype(np.int64))


def _numbers(file: RemoteFile, folder: Path, shape: tuple[int, int]) -> NDArray[np.float32]:
    path = file.get(folder)
    n, d = shape
    rows = np.empty(shape, dtype=np.float32)
    count = 0
    with path.open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            values = line.split()
            if not values:
                continue
            if count == n or len(values) != d:
                raise file.broken(
                    path, f"line {count + 1} has {len(values)} numbers, expected are {n} lines of {d}"
                )
            rows[count] = _parsed(file, path, count, values)
            count += 1
    if count != n:
        raise file.broken(path, f"it has {count:,} lines, expected are {n:,}")
    return rows


def _parsed(file: RemoteFile, path: Path, line: int, values: Sequence[str]) -> NDArray[np.float32]:
    try:
        return np.array(values, dtype=np.float32)
    except ValueError as failure:
        raise file.broken(path, f"line {line + 1} is not numbers ({failure})") from None


def read_epsilon(folder: Path, files: EpsilonFiles | None = None) -> Data:
    """Read the first rows of Epsilon's training and test files."""
    files = files or EpsilonFiles()
    parts: list[NDArray[np.generic]] = []
    for file, shape in zip((files.train, files.test), files.shapes, strict=True):
        parts += _libsvm(file, folder, shape)
    X_train, y_train, X_test, y_test = parts
    return Data(X_train, y_train, X_test, y_test)


def _libsvm(
    file: RemoteFile, folder: Path, shape: tuple[int, int]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    path = file.get(folder)
    n, d = shape
    X, y = np.zeros(shape, dtype=np.float32), np.empty(n, dtype=np.int64)
    count = 0
    for line in islice(_unpacked(file, path), n):
        label, *entries = line.split()
        pairs = _parsed(file, path, count, [part for entry in entries for part in entry.split(":")])
        if pairs.shape[0] != 2 * len(entries):
            raise file.broken(path, f"line {count + 1} has entries that are not column:value")
        column = pairs[::2].astype(np.int64) - 1
        if column.size and not 0 <= column.min() <= column.max() < d:
            raise file.broken(path, f"line {count + 1} has a column outside 1 to {d}")
        X[count, column] = pairs[1::2]
        y[count] = _parsed(file, path, count, [label])[0] > 0
        count += 1
    if count != n:
        raise file.broken(path, f"it has {count:,} rows, expected are at least {n:,}")
    return X, y


def _unpacked(file: RemoteFile, path: Path) -> Iterator[str]:
    try:
        with bz2.open(path, "rt", encoding="ascii") as lines:
            yield from lines
    except (EOFError, OSError, UnicodeDecodeError) as failure:
        raise file.broken(path, f"it cannot be unpacked ({failure})") from None


def read_flight(folder: Path, files: FlightFiles | None = None) -> Data:
    """Read the flights; the categories of training and test rows share their codes."""
    files = files or FlightFiles()
    tables = [
        _flights(file, folder, n) for file, n in zip((files.train, files.test), files.n_rows, strict=True)
    ]
    names = [name for name in tables[0] if name != FLIGHT_TARGET]
    columns = []
    for name in names:
        texts = [part[name] for part in tables]
        if name in FLIGHT_CATEGORIES:
            known = np.unique(texts[0])
            # A category that only test rows have is no category the model can know.
            columns.append([_codes(known, part) for part in texts])
        else:
            columns.append([part.astype(np.float32) for part in texts])
    X = [np.ascontiguousarray(np.column_stack([pair[k] for pair in columns])) for k in (0, 1)]
    y = [(part[FLIGHT_TARGET] == "Y").astype(np.int64) for part in tables]
    categorical = tuple(k for k, name in enumerate(names) if name in FLIGHT_CATEGORIES)
    return Data(X[0], y[0], X[1], y[1], categorical)


def _codes(known: NDArray[np.str_], texts: NDArray[np.str_]) -> NDArray[np.float32]:
    place = np.minimum(np.searchsorted(known, texts), len(known) - 1)
    return np.where(known[place] == texts, place, np.nan).astype(np.float32)


def _flights(file: RemoteFile, folder: Path, n_rows: int) -> dict[str, NDArray[np.str_]]:
    path = file.get(folder)
    with path.open(encoding="utf-8", errors="replace", newline="") as text:
        head, *rows = list(csv.reader(text)) or [[]]
    missing = {*FLIGHT_CATEGORIES, FLIGHT_TARGET} - set(head)
    if missing:
        raise file.broken(path, f"it has no column {', '.join(sorted(missing))}")
    bad = next((k for k, row in enumerate(rows) if len(row) != len(head)), None)
    if bad is not None:
        raise file.broken(path, f"line {bad + 2} has {len(rows[bad])} fields, expected are {len(head)}")
    if len(rows) != n_rows:
        raise file.broken(path, f"it has {len(rows):,} rows, expected are {n_rows:,}")
    return dict(zip(head, map(np.array, zip(*rows, strict=True)), strict=True))


_READERS: dict[str, Callable[[Path], Data]] = {
    "Gisette": read_gisette,
    "Epsilon": read_epsilon,
    "Flight": read_flight,
}


def load_real(paper: str, folder: Path) -> Data:
    """Load Gisette, Epsilon or Flight from a folder, into which missing files are downloaded.

    Raises
    ------
    DatasetError
        If a file cannot be had or is broken; the message says how to supply it.
    """
    if paper not in _READERS:
        raise ValueError(
            f"paper={paper!r} is no public data set of the paper: give one of {', '.join(_READERS)}"
        )
    return _READERS[paper](folder)
