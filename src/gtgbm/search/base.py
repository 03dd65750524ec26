"""The interface of a search for new features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from gtgbm.data import BinnedColumn
from gtgbm.exact import F64, I8, I64, Bool
from gtgbm.pricing import FeatureCosts
from gtgbm.tree import Level, Splits, TreeContext


@dataclass(frozen=True)
class SearchState:
    """What a search with group tests carries from tree to tree.

    Attributes
    ----------
    recent_gains : list of float
        Best gain of each of the last searched trees.
    n_trees : int
        Number of searched trees.
    members : ndarray of int64, shape (p, size)
        The subsets that are tested.
    signs : ndarray of int8, shape (d,), or empty if no sums are tested
        Sign of each feature in the sums of its subsets.
    random : str
        State of the random numbers.
    """

    recent_gains: list[float]
    n_trees: int
    members: I64
    signs: I8
    random: str


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

    def state(self) -> SearchState | None:
        """Return what the next tree must know of earlier ones, beside the columns taken; None: nothing."""
        ...

    def restore(self, state: SearchState | None) -> None:
        """Continue from the state of a search of the same table with the same settings."""
        ...
