"""All data sets, stored and generated.

Tables of one task are reached through ``load``. ``folds`` holds targets of other kinds, ``multitask`` tables
of several tasks, ``public`` the paper's data sets as they are published.
"""

from __future__ import annotations

from measuring.data.generated import GENERATED
from measuring.data.sources import DataMissingError, Loader, Source
from measuring.data.stored import STORED
from measuring.data.task import Data, Kind

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
