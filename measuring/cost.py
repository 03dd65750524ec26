"""Time and memory of one call, and how they grow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """What a call took; memory is None where the system does not tell."""

    seconds: float
    peak_mb: float | None


def measure(call: Callable[[], T]) -> tuple[T, Cost]:
    """Call something once and return its result with its cost."""
    can_tell = _forget_peak()
    before = _status_mb("VmRSS") if can_tell else None
    begin = perf_counter()
    result = call()
    seconds = perf_counter() - begin
    peak = _status_mb("VmHWM") if can_tell else None
    return result, Cost(seconds, None if peak is None or before is None else peak - before)


def median_seconds(call: Callable[[], Any], calls: int, most_seconds: float) -> float:
    """Call something several times, as long as there is time, and return the median of a call."""
    call()  # the first call may build what later ones reuse
    times: list[float] = []
    while len(times) < calls and sum(times) < most_seconds:
        begin = perf_counter()
        call()
        times.append(perf_counter() - begin)
    return median(times)


def _forget_peak() -> bool:
    # Loading data may have needed more memory than the fit does; Linux can restart its high-water mark.
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _status_mb(name: str) -> float | None:
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    return None


def medians(records: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the median of each number of several records with the same keys."""
    return {key: float(median(record[key] for record in records)) for key in records[0]}


def exponent(at: Sequence[float], values: Sequence[float]) -> float | None:
    """Return the slope of log value over log place by least squares; None below three places."""
    if len(set(at)) < 3:
        return None
    return float(np.polyfit(np.log(at), np.log(values), 1)[0])
