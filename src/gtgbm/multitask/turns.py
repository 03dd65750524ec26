"""How the tasks of one round follow each other: one after the other, or all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from gtgbm import _core
from gtgbm.multitask.task_prices import SharedFeatures

T = TypeVar("T")


class Turns(Protocol):
    """Runs the tasks, and says what each of them knows of the others' features.

    Attributes
    ----------
    shared : list of SharedFeatures, one per task
    pools : list of Pool, one per task
    """

    shared: list[SharedFeatures]
    pools: list[_core.Pool]

    @property
    def owned(self) -> list[int]:
        """Features of all tasks, in the order they were bought."""
        ...

    def run(self, work: Callable[[int], T], tasks: Sequence[int]) -> list[T]:
        """Do something for each of some tasks: one round, or what comes before the first."""
        ...


class Sequential:
    """One task after the other: what it buys is cheaper for those after it, in the same round already."""

    def __init__(self, n_tasks: int, n_features: int, limit: int | None, pool: _core.Pool) -> None:
        self._shared = SharedFeatures(n_features, limit)
        self.shared = [self._shared] * n_tasks
        self.pools = [pool] * n_tasks

    @property
    def owned(self) -> list[int]:
        """Features of all tasks."""
        return self._shared.owned

    def run(self, work: Callable[[int], T], tasks: Sequence[int]) -> list[T]:
        """Do something for each of some tasks."""
        return [work(k) for k in tasks]


class Parallel:
    """All tasks at once, each knowing what the others owned when the round began.

    Purchases become known when the round has ended, in the order of the tasks, so that neither the number of
    threads nor their pace makes a difference. What a limit still allows is dealt out to the tasks as evenly
    as can be before a round, the first ones getting what is left over: together they cannot exceed it.
    """

    def __init__(self, n_tasks: int, n_features: int, limit: int | None, pool: _core.Pool) -> None:
        self._is_limited = limit is not None
        self._all = SharedFeatures(n_features, limit)
        self.shared = [SharedFeatures(n_features, limit) for _ in range(n_tasks)]
        self._n_workers = min(pool.size, n_tasks)
        self.pools = [_core.Pool(pool.size // self._n_workers) for _ in range(n_tasks)]

    @property
    def owned(self) -> list[int]:
        """Features of all tasks."""
        return self._all.owned

    def run(self, work: Callable[[int], T], tasks: Sequence[int]) -> list[T]:
        """Do something for each of some tasks, as many at a time as there are threads."""
        if self._is_limited:
            each, rest = divmod(self._all.limit - len(self.owned), len(tasks))
            for turn, k in enumerate(tasks):
                self.shared[k].limit = len(self.owned) + each + (turn < rest)
        if self._n_workers == 1:
            found = [work(k) for k in tasks]
        else:
            with ThreadPoolExecutor(self._n_workers) as threads:
                found = list(threads.map(work, tasks))
        known = len(self.owned)
        for one in self.shared:
            for feature in one.owned[known:]:
                self._all.own(feature)
        for one in self.shared:
            one.know(self._all)
        return found
