"""The paper's real public data sets: downloaded once, checked, and read from the cache from then on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchmarks.data import Data
from experiments.datasets.readers import read_epsilon, read_flight, read_gisette

__all__ = ["load_real"]

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
