"""What a grower carries from tree to tree, as plain values that a checkpoint can hold."""

from __future__ import annotations

from dataclasses import dataclass

from gtgbm.exact import I64, U8
from gtgbm.growing.backoff import SearchBackoff
from gtgbm.search import SearchState


@dataclass(frozen=True)
class ColumnsState:
    """Which columns are held, and where.

    Attributes
    ----------
    owned : list of int
        Owned numeric features, in the order of their columns: ties between splits go to the first column.
    of_other_tasks : list of int
        Numeric features that only other tasks own, in the order of their columns.
    category_use : ndarray of uint8, shape (categorical columns, 256)
        How scans use each category.
    search : SearchState or None
    """

    owned: list[int]
    of_other_tasks: list[int]
    category_use: U8
    search: SearchState | None


@dataclass(frozen=True)
class GrowerState:
    """State of a `TreeGrower` between two trees.

    Attributes
    ----------
    bought : list of int
        Bought features in the order of purchase.
    spent : float
        What they cost.
    listed : ndarray of int64
        Features that need no entry in the history any more.
    backoffs : dict
        The back-off of each score.
    columns : ColumnsState
    """

    bought: list[int]
    spent: float
    listed: I64
    backoffs: dict[int, SearchBackoff]
    columns: ColumnsState
