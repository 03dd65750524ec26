"""Data sets as the benchmarks use them, one loader per kind, all reached through ``load``."""

from __future__ import annotations

from benchmarks.data.generated import GENERATED
from benchmarks.data.sources import DataMissingError, Loader, Source
from benchmarks.data.stored import STORED
from benchmarks.data.task import Data, Kind

__all__ = ["Data", "DataMissingError", "Kind", "Source", "load", "names"]

_LOADERS: dict[str, Loader] = {**STORED, **GENERATED}


def names() -> list[str]:
    """Return what ``Source.name`` may be."""
    return sorted(_LOADERS)


def load(source: Source) -> Data:
    """Load or generate a data set.

    Raises
    ------
    DataMissingError
        If it is stored data that ``source.data_dir`` does not hold.
    """
    if source.name not in _LOADERS:
        raise ValueError(f"name={source.name!r} is no data set: give one of {', '.join(names())}")
    data = _LOADERS[source.name](source)
    return data if source.max_rows is None else data.first_rows(source.max_rows)
