"""Runs the tasks of a round one after the other, or in parallel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from gtgbm import _core
from gtgbm.multitask.task_prices import SharedFeatures
from gtgbm.pricing import FeatureUnits, SpendingLimits

T = TypeVar("T")


@dataclass(frozen=True)
class TurnsState:
    """What the tasks share between two rounds.

    Attributes
    ----------
    owned : list of int
        Features of all tasks, in the order of purchase.
    spent : float
        What they cost.
    n_runs : int
        Number of runs so far, which decides whose turn it is to spend what is left of a budget.
    """

    owned: list[int]
    spent: float
    n_runs: int


class Turns(Protocol):
    """Runs the tasks of a round, and determines which features of other tasks each task knows.

    Attributes
    ----------
    shared : list of SharedFeatures, one per task
        Features of all tasks, as far as each task knows them.
    pools : list of Pool, one per task
    """

    shared: list[SharedFeatures]
    pools: list[_core.Pool]

    @property
    def owned(self) -> list[int]:
        """Features of all tasks, in the order of purchase."""
        ...

    def run(self, work: Callable[[int], T], tasks: Sequence[int]) -> list[T]:
        """Return the results of `work`, such as one boosting round, for some tasks."""
        ...

    def state(self) -> TurnsState:
        """Return what the tasks share between two rounds."""
        ...

    def restore(self, state: TurnsState) -> None:
        """Continue from the state of an interrupted fit."""
        ...


class Sequential:
    """Runs one task after the other; a purchase is cheaper for later tasks of the same round already."""

    def __init__(self, n_tasks: int, units: FeatureUnits, limits: SpendingLimits, pool: _core.Pool) -> None:
        self._shared = SharedFeatures(units, limits)
        self.shared = [self._shared] * n_tasks
        self.pools = [pool] * n_tasks

    @property
    def owned(self) -> list[int]:
        """Features of all tasks."""
        return self._shared.owned

    def run(self, work: Callable[[int], T], tasks: Sequence[int]) -> list[T]:
        """Return the results of `work` for some tasks."""
        return [work(k) for k in tasks]

    def state(self) -> TurnsState:
        """Return what the tasks share between two rounds."""
        return TurnsState(self.owned, self._shared.spent, 0)

    def restore(self, state: TurnsState) -> None:
        """Continue from the state of an interrupted fit."""
        self._shared.restore(state.owned, state.spent)


class Parallel:
    """Runs all tasks in parallel; each knows the features that other tasks owned when the round began.

    Purchases become known after the round, in the order of the tasks, so that the result depends neither on
    the number of threads nor on their speed. Before each round, the number of features that a limit still
    allows is divided evenly among the tasks, with the remainder going to the first ones, so that the limit is
    never exceeded. What is left of a budget goes to one task after the other: divided, it might be too little
    for any feature.
    """

    def __init__(self, n_tasks: int, units: FeatureUnits, limits: SpendingLimits, pool: _core.Pool) -> None:
        self._limits = limits
        self._all = SharedFeatures(units, limits)
        self.shared = [SharedFeatures(units, limits) for _ in range(n_tasks)]
        self._n_runs = 0
        self._n_workers = min(pool.size, n_tasks)
        self.pools = [_core.Pool(pool.size // self._n_workers) for _ in range(n_tasks)]

    @property
    def owned(self) -> list[int]:
        """Features of all tasks."""
        return self._all.owned

    def run(self, work: Callable[[int], T], tasks: Sequence[int]) -> list[T]:
        """Return the results of `work` for some tasks, as many at a time as there are threads."""
        self._divide(tasks)
        if self._n_workers == 1:
            results = [work(k) for k in tasks]
        else:
            with ThreadPoolExecutor(self._n_workers) as threads:
                results = list(threads.map(work, tasks))
        known = len(self.owned)
        for of_task in self.shared:
            for feature in of_task.owned[known:]:
                self._all.own(feature)
        for of_task in self.shared:
            of_task.know(self._all)
        return results

    def state(self) -> TurnsState:
        """Return what the tasks share between two rounds."""
        return TurnsState(self.owned, self._all.spent, self._n_runs)

    def restore(self, state: TurnsState) -> None:
        """Continue from the state of an interrupted fit."""
        self._n_runs = state.n_runs
        for shared in (self._all, *self.shared):
            shared.restore(state.owned, state.spent)

    def _divide(self, tasks: Sequence[int]) -> None:
        """Set what each task may buy in the next round."""
        count, cost, n_owned = self._limits.count, self._limits.cost, len(self.owned)
        each, rest = divmod(0 if count is None else count - n_owned, len(tasks))
        self._n_runs += 1
        for turn, k in enumerate(tasks):
            is_first = turn == self._n_runs % len(tasks)
            self.shared[k].limits = SpendingLimits(
                None if count is None else n_owned + each + (turn < rest),
                None if cost is None else cost if is_first else self._all.spent,
            )
