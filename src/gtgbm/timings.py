"""Seconds spent in each stage of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Timings:
    """A stopwatch per stage; stages do not overlap."""

    def __init__(self) -> None:
        self._start = perf_counter()
        self._seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time of the block to a stage."""
        begin = perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + perf_counter() - begin

    def summary(self) -> dict[str, float]:
        """Return seconds per stage, the rest as ``other``, and the ``total``."""
        total = perf_counter() - self._start
        return {**self._seconds, "other": total - sum(self._seconds.values()), "total": total}
