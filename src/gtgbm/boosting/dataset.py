"""A table with its targets, for training or validation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm.data import AnyTable
from gtgbm.exact import I64
from gtgbm.losses import Targets


@dataclass(frozen=True)
class Dataset:
    """Rows of a table with their targets.

    Attributes
    ----------
    table : ndarray or scipy.sparse.csc_matrix, shape (n, d)
    targets : Targets
        Targets, weights and queries of the rows.
    """

    table: AnyTable
    targets: Targets

    def of_rows(self, rows: I64) -> Dataset:
        """Return a copy of some rows, given in ascending order."""
        table = self.table[rows] if isinstance(self.table, np.ndarray) else self.table.tocsr()[rows].tocsc()
        return Dataset(table, self.targets.of_rows(rows))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.targets.y.shape[0])
