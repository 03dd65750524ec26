"""One of several tasks, as they are trained."""

from __future__ import annotations

from dataclasses import dataclass

from gtgbm.boosting import Evaluated, Settings
from gtgbm.data import AnyTable
from gtgbm.exact import I64
from gtgbm.losses import Targets


@dataclass(frozen=True)
class Task:
    """One task's rows, and how it is trained.

    Attributes
    ----------
    table : ndarray or scipy.sparse.csc_matrix
        Of the task alone; or the dense table of all tasks, of which it has some `rows`.
    rows : ndarray of int64 or None
        Ascending; None: all rows of a table of its own.
    settings : Settings
        Its `penalty` is that of the task alone, its `n_features_to_select` the most it may own by itself.
    """

    table: AnyTable
    rows: I64 | None
    targets: Targets
    settings: Settings
    evaluated: Evaluated

    def own_table(self) -> AnyTable:
        """Return the task's rows; a copy only where they are not the whole table."""
        if self.rows is None or self.rows.shape[0] == self.table.shape[0]:
            return self.table
        return self.table[self.rows]
