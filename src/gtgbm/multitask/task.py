"""One of several tasks, as they are trained."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gtgbm.boosting import Dataset, Problem
from gtgbm.exact import I64


@dataclass(frozen=True)
class Task:
    """One task's rows, and how it is trained.

    Attributes
    ----------
    problem : Problem
        Its table is the task's own, or the dense table of all tasks, of which it has some `rows`; its
        penalty is that of the task alone, its limit the number of features it may select by itself.
    rows : ndarray of int64 or None
        Ascending; None: all rows of a table of its own.
    """

    problem: Problem
    rows: I64 | None

    @property
    def n_rows(self) -> int:
        """Number of rows of the task."""
        return self.problem.data.n_rows

    def own_problem(self) -> Problem:
        """Return the problem over the task's rows alone; a copy only where they are not the whole table."""
        table, targets = self.problem.data.table, self.problem.data.targets
        if self.rows is None or self.rows.shape[0] == table.shape[0]:
            return self.problem
        return replace(self.problem, data=Dataset(table[self.rows], targets))


@dataclass(frozen=True)
class TaskSharing:
    """What tasks have to do with each other.

    Attributes
    ----------
    group_penalty : float
        μ_G: what a feature costs on top that no task owns yet.
    limit : int or None
        Most features of all tasks together.
    in_parallel : bool
        Whether tasks learn of each other's features only after each round; see `Parallel`.
    n_common_rounds : int
        Rounds of common trees, which all tasks begin with.
    """

    group_penalty: float
    limit: int | None
    in_parallel: bool = False
    n_common_rounds: int = 0
