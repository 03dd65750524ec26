"""Seconds spent in each stage of a fit."""

from __future__ import annotations

from time import perf_counter


class _Stage:
    """A cumulative stopwatch, created once per stage because it is entered many times per tree."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._begin = 0.0

    def __enter__(self) -> None:
        self._begin = perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += perf_counter() - self._begin


class Timings:
    """A stopwatch per stage; stages must not overlap."""

    def __init__(self) -> None:
        self._start = perf_counter()
        self._stages: dict[str, _Stage] = {}

    def stage(self, name: str) -> _Stage:
        """Return a context manager that adds the time of its ``with`` block to a stage."""
        if name not in self._stages:
            self._stages[name] = _Stage()
        return self._stages[name]

    def summary(self) -> dict[str, float]:
        """Return seconds per stage, the remaining seconds as ``other``, and the ``total``."""
        total = perf_counter() - self._start
        seconds = {name: stage.seconds for name, stage in self._stages.items()}
        return {**seconds, "other": total - sum(seconds.values()), "total": total}
