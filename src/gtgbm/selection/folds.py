"""Folds of the rows: models are trained on all folds but one, and judged on that one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gtgbm.boosting import Dataset
from gtgbm.exact import I64, FitContext
from gtgbm.losses import Targets

N_FOLDS = 3
MOST_ROWS = 30_000
"""Rows of a task that features are selected on. More rows hardly change which features are selected, and each
row is trained on many times."""
_FEWEST_UNITS = 4
"""Rows, for rankings queries, that each fold needs for a comparison of models to mean anything."""


@dataclass(frozen=True)
class Folds:
    """The rows of tasks, divided into folds.

    Attributes
    ----------
    tasks : list of Dataset
        Rows of each task; sparse tables are in CSR format, whose rows can be read.
    number : list of ndarray of int64, shape (n,)
        Fold of each row of each task.
    """

    tasks: list[Dataset]
    number: list[I64]

    @classmethod
    def of(
        cls, tasks: Sequence[Dataset], most_rows: int = MOST_ROWS, context: FitContext | None = None
    ) -> Folds | None:
        """Deal the rows of each task, at most so many, to folds; None if a task has too few of them.

        Where rows are divided among workers, each of them gets all rows of the folds.

        The same rows are always dealt alike: which features are selected is no matter of the seed.
        """
        context = FitContext.serial() if context is None else context
        rng = np.random.default_rng(0)
        kept, number = [], []
        for task in tasks:
            targets = task.whole_targets(context)
            units, n_rows = _units(targets), targets.y.shape[0]
            order = _dealt(targets, units, rng)
            if order.shape[0] < N_FOLDS * _FEWEST_UNITS:
                return None
            fold = np.full(order.shape[0], -1, dtype=np.int64)
            n_kept = order.shape[0]
            if n_rows > most_rows:
                n_kept = max(N_FOLDS * _FEWEST_UNITS, order.shape[0] * most_rows // n_rows)
            # Units next to each other have similar targets: each fold gets one of N_FOLDS neighbours.
            drawn = order[np.sort(rng.permutation(order.shape[0])[:n_kept])]
            fold[drawn] = _in_blocks(drawn.shape[0], rng)
            of_rows = fold[units]
            rows = np.flatnonzero(of_rows >= 0)
            kept.append(task.taken(rows, targets, context))
            number.append(of_rows[rows])
        return cls(kept, number)

    def training(self, fold: int, columns: I64 | None = None, *, keeps: bool = False) -> list[Dataset]:
        """Return the rows of each task outside a fold; see `Dataset.of_rows`."""
        return [
            task.of_rows(np.flatnonzero(at != fold), columns, keeps=keeps)
            for task, at in zip(self.tasks, self.number, strict=True)
        ]

    def held_out(self, fold: int, task: int, columns: I64 | None = None) -> Dataset:
        """Return the rows of a task in a fold; see `Dataset.of_rows`."""
        return self.tasks[task].of_rows(np.flatnonzero(self.number[task] == fold), columns)

    def dealt_again(self, *numbers: int) -> Folds:
        """Return the same rows in other folds, which depend on some numbers."""
        rng, number = np.random.default_rng([1, *numbers]), []
        for task in self.tasks:
            units = _units(task.targets)
            order = _dealt(task.targets, units, rng)
            fold = np.empty(order.shape[0], dtype=np.int64)
            fold[order] = _in_blocks(order.shape[0], rng)
            number.append(fold[units])
        return Folds(self.tasks, number)


def drawn_rows(targets: Targets, most_rows: int, rng: np.random.Generator) -> I64:
    """Draw about as many rows at random, ascending; all rows of a query, or none."""
    if targets.queries is None:
        return np.sort(rng.permutation(targets.y.shape[0])[:most_rows])
    order = rng.permutation(len(targets.queries))
    n_drawn = int(np.searchsorted(np.cumsum(targets.queries.sizes[order]), most_rows, side="right"))
    is_drawn = np.zeros(order.shape[0], dtype=np.bool_)
    is_drawn[order[: max(N_FOLDS * _FEWEST_UNITS, n_drawn)]] = True
    return np.flatnonzero(is_drawn[_units(targets)])


def _units(targets: Targets) -> I64:
    """Return the unit of each row: rows of a query stay together."""
    if targets.queries is None:
        return np.arange(targets.y.shape[0])
    units = np.empty(targets.y.shape[0], dtype=np.int64)
    units[targets.queries.rows] = targets.queries.number
    return units


def _dealt(targets: Targets, units: I64, rng: np.random.Generator) -> I64:
    """Return the units in the order of their targets, equal ones in random order."""
    if targets.queries is not None:
        return rng.permutation(len(targets.queries))
    shuffled = rng.permutation(units.shape[0])
    return shuffled[np.argsort(targets.y[shuffled], kind="stable")]


def _in_blocks(n: int, rng: np.random.Generator) -> I64:
    """Return n numbers of folds; every block of N_FOLDS neighbours holds each fold once."""
    n_blocks = -(-n // N_FOLDS)
    folds = rng.permuted(np.tile(np.arange(N_FOLDS), (n_blocks, 1)), axis=1)
    return np.asarray(folds.ravel()[:n])
