"""A table with its targets, for training or validation."""

from __future__ import annotations

from dataclasses import dataclass

from gtgbm.data import AnyTable
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

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.targets.y.shape[0])
