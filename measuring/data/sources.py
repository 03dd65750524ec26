"""Which data set a worker has to load, in a form that travels as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from measuring.data.task import Data


class DataMissingError(Exception):
    """A stored data set is not in the data folder."""


@dataclass(frozen=True)
class Source:
    """A data set and where to find it.

    Attributes
    ----------
    name : str
        One of ``measuring.data.names()``.
    data_dir : str or None
        Folder of stored data sets.
    cache_dir : str or None
        Folder where generated tables are kept from one process to the next; None: generated anew.
    seed : int
        Seed of the split into training and test rows, where the data set comes without one, and of
        generated tables.
    max_rows : int or None
        Use only the first so many training rows and test rows.
    shape : tuple of int or None
        Training rows and columns of a generated table, if not its usual ones.
    """

    name: str
    data_dir: str | None = None
    cache_dir: str | None = None
    seed: int = 0
    max_rows: int | None = None
    shape: tuple[int, int] | None = None


def stored_file(data_dir: str | Path | None, *parts: str) -> Path:
    """Return the path of a stored file.

    Raises
    ------
    DataMissingError
        If there is no data folder, or it has no such file.
    """
    if data_dir is None:
        raise DataMissingError(f"{'/'.join(parts)} is needed: give --data-dir")
    path = Path(data_dir, *parts)
    if not path.is_file():
        raise DataMissingError(f"the data folder has no {'/'.join(parts)}")
    return path


@contextmanager
def stored_arrays(data_dir: str | Path | None, folder: str, *needed: str) -> Iterator[Any]:
    """Open the arrays of a stored data set, of which some are needed."""
    with np.load(stored_file(data_dir, folder, "data.npz"), allow_pickle=False) as arrays:
        missing = set(needed) - set(arrays.files)
        if missing:
            raise ValueError(f"{folder}/data.npz has no {', '.join(sorted(missing))}")
        yield arrays


Loader: TypeAlias = Callable[[Source], Data]
