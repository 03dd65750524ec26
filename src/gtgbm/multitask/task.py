"""A task, and what tasks share."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gtgbm.boosting import Dataset, Problem
from gtgbm.exact import I64
from gtgbm.pricing import SpendingLimits


@dataclass(frozen=True)
class Task:
    """The problem of one task, and its rows.

    Attributes
    ----------
    problem : Problem
        Its table is the task's own, or the dense table of all tasks, in which the task has some `rows`. Its
        penalty is that of the task, without the group penalty. Its limit is the most features that the task
        may select.
    rows : ndarray of int64 or None
        Rows of the task in the table, ascending; None: all rows, the table is the task's own.
    """

    problem: Problem
    rows: I64 | None

    @property
    def n_rows(self) -> int:
        """Number of rows of the task."""
        return self.problem.data.n_rows

    def own_problem(self) -> Problem:
        """Return the problem with the task's rows only; they are copied unless they are the whole table."""
        table, targets = self.problem.data.table, self.problem.data.targets
        if self.rows is None or self.rows.shape[0] == table.shape[0]:
            return self.problem
        return replace(self.problem, data=Dataset(table[self.rows], targets))


@dataclass(frozen=True)
class TaskSharing:
    """How tasks share features.

    Attributes
    ----------
    group_penalty : float
        μ_G: additional price of a feature that no task owns yet.
    limits : SpendingLimits
        Most features of all tasks together, and their highest total cost.
    in_parallel : bool
        Whether the tasks of a round run in parallel, so that purchases take effect after the round; see
        `Parallel`.
    n_common_rounds : int
        Number of rounds of common trees, with which all tasks start.
    """

    group_penalty: float
    limits: SpendingLimits
    in_parallel: bool = False
    n_common_rounds: int = 0
