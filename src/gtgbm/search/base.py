"""The interface of a search for new features."""

from __future__ import annotations

from typing import Protocol

from gtgbm.data import BinnedColumn
from gtgbm.exact import F64, I64, Bool
from gtgbm.pricing import FeatureCosts
from gtgbm.tree import Level, Splits, TreeContext


class Search(Protocol):
    """Proposes splits on numeric columns that are not owned yet."""

    def start_tree(self, tree: TreeContext, costs: FeatureCosts) -> None:
        """Prepare for a tree that searches for new features."""
        ...

    def may_find(self, level: Level, nodes: I64, costs: FeatureCosts) -> Bool:
        """Whether the search may still propose a split at each node (k,), or at any node below it."""
        ...

    def propose(
        self, tree: TreeContext, level: Level, nodes: I64, floor: F64, costs: FeatureCosts
    ) -> tuple[I64, Splits]:
        """Propose splits at some nodes.

        Parameters
        ----------
        nodes : ndarray of int64, shape (k,)
            Indices into `level`, ascending.
        floor : ndarray of float64, shape (k,)
            Gain of the best split on owned features; a new feature must gain more than that plus its price.

        Returns
        -------
        nodes : ndarray of int64, shape (r,)
            The nodes that have proposals.
        splits : Splits
            The best split of each of them.
        """
        ...

    def take_column(self, feature: int) -> BinnedColumn:
        """Return the column of a feature just bought; the search no longer proposes it."""
        ...

    def return_column(self, feature: int) -> None:
        """Propose a feature again, whose column was taken before."""
        ...
