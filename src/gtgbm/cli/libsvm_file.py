"""Reads libsvm files; memory and time grow with their entries, not with their indices."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gtgbm.cli.errors import UserError
from gtgbm.data import MAX_COLUMNS

_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}


def read_libsvm(path: Path) -> tuple[Any, Any, Any]:
    """Read a file.

    Returns
    -------
    X : scipy CSR matrix, shape (n, d)
        Columns are counted from 0, whatever the file does.
    y : ndarray of float64, shape (n,)
    qid : ndarray of int64, shape (n,), or (0,) without queries
    """
    from sklearn.datasets import load_svmlight_file

    try:
        X, y, qid = load_svmlight_file(str(path), query_id=True, zero_based=True)
    except (ValueError, OverflowError, MemoryError, EOFError) as error:
        raise UserError(f"{path} is not a valid libsvm file: {error}") from error
    if X.shape[1] - 1 > MAX_COLUMNS:
        index = X.shape[1] - 1
        raise UserError(
            f"{path}: {_line_with(path, index)} has column {index}; at most {MAX_COLUMNS} columns fit: if it "
            "is a slip, mend the line; if indices are hashes, number the columns anew, without gaps"
        )
    return X, y, qid


def _line_with(path: Path, index: int) -> str:
    """Return the first line that has an entry of a column, as text."""
    start = f"{index}:".encode()
    with _OPENERS.get(path.suffix, open)(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            if any(entry.startswith(start) for entry in line.partition(b"#")[0].split()):
                return f"line {number}"
    return "a line"
