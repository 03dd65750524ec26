"""Which data set a worker has to load, in a form that travels as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from benchmarks.data.task import Data


class DataMissingError(Exception):
    """A stored data set is not in the data folder."""


@dataclass(frozen=True)
class Source:
    """A data set and where to find it.

    Attributes
    ----------
    name : str
        One of ``benchmarks.data.names()``.
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

    def path(self, *parts: str) -> Path:
        """Return the path of a stored file, which must exist."""
        if self.data_dir is None:
            raise DataMissingError(f"{'/'.join(parts)} is needed: give --data-dir")
        path = Path(self.data_dir, *parts)
        if not path.is_file():
            raise DataMissingError(f"the data folder has no {'/'.join(parts)}")
        return path


Loader: TypeAlias = Callable[[Source], Data]
