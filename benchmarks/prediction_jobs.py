"""What a process that times predictions is asked to do, and how it does it."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measuring import ROOT

ROW, BATCH = "1 row", "100,000 rows"
COMPACT_ROW, COMPACT_BATCH = "1 row, compact()", "100,000 rows, compact()"
SINGLE_ROW_CALL = "1 row, compact() against the C function for single rows"

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


@dataclass(frozen=True)
class Job:
    """Time every call of one library (a module of ``benchmarks.peers``) on one case."""

    peer: str
    folder: str
    threads: int

    def run_in_process(self) -> dict[str, float]:
        """Start a process for the job and return microseconds per call."""
        command = [sys.executable, "-m", "benchmarks.prediction_jobs"]
        text = json.dumps(asdict(self))
        done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{self.peer}: the worker failed\n{done.stderr}")
        times: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        return times

    def run(self) -> dict[str, float]:
        """Time the calls here, and keep what they returned."""
        folder = Path(self.folder)
        peer = importlib.import_module(f"benchmarks.peers.{self.peer}")
        calls: Calls = peer.calls(folder, Tables.load(folder), self.threads)
        if self.threads > 1:
            calls = {what: call for what, call in calls.items() if what not in _OF_ONE_ROW}
        predictions: dict[str, Any] = {what: np.asarray(call()) for what, call in calls.items()}
        np.savez(folder / f"{self.peer}.npz", **predictions)
        return {what: _microseconds(call) for what, call in calls.items()}


def _microseconds(call: Callable[[], Any]) -> float:
    times: list[float] = []
    while len(times) < _MIN_CALLS or sum(times) < _MIN_SECONDS:
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return 1e6 * median(times)


if __name__ == "__main__":
    print(json.dumps(Job(**json.loads(sys.stdin.read())).run()))
