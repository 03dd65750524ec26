"""The best splits found for some nodes, and splits as a finished tree keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gtgbm.exact import F64, I32, I64, MISSING_UNSEEN, U8


@dataclass
class Splits:
    """The best split found for each of some nodes: parallel arrays.

    Attributes
    ----------
    feature : ndarray of int64, shape (nodes,)
        -1 where there is none.
    gain : ndarray of float64, shape (nodes,)
        In squared fixed-point units; 0 where there is no split.
    bin : ndarray of int32, shape (nodes,)
        Last bin that goes left; for a category, its code, which goes right.
    missing_side : ndarray of int32, shape (nodes,)
        Right, left (``MISSING_LEFT``), or ``MISSING_UNSEEN`` for categories and where there is no split.
    """

    feature: I64
    gain: F64
    bin: I32
    missing_side: I32

    @classmethod
    def none(cls, nodes: int) -> Splits:
        """No split at any node."""
        return cls(
            np.full(nodes, -1, dtype=np.int64),
            np.zeros(nodes),
            np.full(nodes, -1, dtype=np.int32),
            np.full(nodes, MISSING_UNSEEN, dtype=np.int32),
        )

    def put(self, nodes: I64, other: Splits) -> None:
        """Let `nodes` split as `other` does."""
        self.feature[nodes] = other.feature
        self.gain[nodes] = other.gain
        self.bin[nodes] = other.bin
        self.missing_side[nodes] = other.missing_side

    def improve(self, nodes: I64, other: Splits) -> None:
        """Let those of `nodes` split as `other` does that gain more by it."""
        better = other.gain > self.gain[nodes]
        self.put(nodes[better], other.at(np.flatnonzero(better)))

    def at(self, rows: I64) -> Splits:
        """Take some rows."""
        return Splits(self.feature[rows], self.gain[rows], self.bin[rows], self.missing_side[rows])


class BestSplits(NamedTuple):
    """Best splits of some nodes: over owned features, over new ones, and over those that other tasks own."""

    owned: Splits
    new: Splits
    other_tasks: Splits


@dataclass(frozen=True)
class SplitRules:
    """Splits as a tree keeps them: parallel arrays.

    Attributes
    ----------
    column : ndarray of int64
        Column of the table.
    threshold : ndarray of float64
        Largest value that goes left; the category that goes right.
    is_category : ndarray of uint8
    """

    column: I64
    threshold: F64
    is_category: U8
