"""Times of one library's predictions, in a process of its own."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measuring.processes import call_in_process

ROW, BATCH = "1 row", "100,000 rows"
COMPACT_ROW, COMPACT_BATCH = "1 row, compact()", "100,000 rows, compact()"
SINGLE_ROW_CALL = "1 row, compact().prepare() against the C function for single rows"

_OF_ONE_ROW = (ROW, COMPACT_ROW, SINGLE_ROW_CALL)
"""Timed with one thread only: neither library has work for more, and LightGBM's others get in its way."""

Calls = dict[str, Callable[[], Any]]
"""What is timed, each returning probabilities of the second class."""

_MIN_CALLS, _MIN_SECONDS = 3, 0.3
"""A call is repeated until it was made so often and so long."""


@dataclass(frozen=True)
class Tables:
    """The rows to predict: all columns, and only the selected ones in their order.

    Attributes
    ----------
    row, compact_row : ndarray of float64, shape (1, d) and (1, K), C order
    batch, compact_batch : ndarray of float32 or float64, shape (n, d) and (n, K), C order
    """

    row: NDArray[Any]
    batch: NDArray[Any]
    compact_row: NDArray[Any]
    compact_batch: NDArray[Any]

    @classmethod
    def load(cls, folder: Path) -> Tables:
        """Read what the benchmark wrote."""
        batch, features = np.load(folder / "batch.npy"), np.load(folder / "features.npy")
        compact = np.ascontiguousarray(batch[:, features])
        return cls(batch[:1].astype(np.float64), batch, compact[:1].astype(np.float64), compact)


def time_in_process(peer: str, folder: Path, threads: int) -> dict[str, float]:
    """Time every call of one library (a module of ``measuring.peers``) in a new process.

    Returns
    -------
    dict
        Microseconds per call. What the calls returned is kept in the folder as ``{peer}.npz``.
    """
    times: dict[str, float] = call_in_process(
        time_calls, threads, peer=peer, folder=str(folder), threads=threads
    )
    return times


def time_calls(peer: str, folder: str, threads: int) -> dict[str, float]:
    """Time the calls of one library here."""
    place = Path(folder)
    adapter = importlib.import_module(f"measuring.peers.{peer}")
    calls: Calls = adapter.prediction_calls(place, Tables.load(place), threads)
    if threads > 1:
        calls = {what: call for what, call in calls.items() if what not in _OF_ONE_ROW}
    predictions: dict[str, Any] = {what: np.asarray(call()) for what, call in calls.items()}
    np.savez(place / f"{peer}.npz", **predictions)
    return {what: microseconds(call) for what, call in calls.items()}


def microseconds(call: Callable[[], Any]) -> float:
    """Return the median time of a call, made several times."""
    times: list[float] = []
    while len(times) < _MIN_CALLS or sum(times) < _MIN_SECONDS:
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return 1e6 * median(times)
