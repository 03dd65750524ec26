"""Best splits of nodes while a tree grows, and split rules of a fitted tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gtgbm.exact import F64, I32, I64, MISSING_UNSEEN, U8


@dataclass
class Splits:
    """Best split of each of some nodes, as parallel arrays.

    Attributes
    ----------
    feature : ndarray of int64, shape (nodes,)
        -1 where there is no split.
    gain : ndarray of float64, shape (nodes,)
        In squared fixed-point units; 0 where there is no split.
    bin : ndarray of int32, shape (nodes,)
        Last bin that goes left; for a categorical split, the code that goes right.
    missing_side : ndarray of int32, shape (nodes,)
        Right, left (``MISSING_LEFT``), or ``MISSING_UNSEEN`` for categories and where there is no split.
    """

    feature: I64
    gain: F64
    bin: I32
    missing_side: I32

    @classmethod
    def none(cls, nodes: int) -> Splits:
        """Return splits of some nodes of which none has a split."""
        return cls(
            np.full(nodes, -1, dtype=np.int64),
            np.zeros(nodes),
            np.full(nodes, -1, dtype=np.int32),
            np.full(nodes, MISSING_UNSEEN, dtype=np.int32),
        )

    def put(self, nodes: I64, other: Splits) -> None:
        """Set the splits of `nodes` to those of `other`."""
        self.feature[nodes] = other.feature
        self.gain[nodes] = other.gain
        self.bin[nodes] = other.bin
        self.missing_side[nodes] = other.missing_side

    def improve(self, nodes: I64, other: Splits) -> None:
        """Set the splits of `nodes` to those of `other` where these have a larger gain."""
        better = other.gain > self.gain[nodes]
        self.put(nodes[better], other.at(np.flatnonzero(better)))

    def at(self, indices: I64) -> Splits:
        """Return the splits at some indices."""
        return Splits(
            self.feature[indices], self.gain[indices], self.bin[indices], self.missing_side[indices]
        )


class ScanPrices(NamedTuple):
    """What the first use of each column of a scan costs, in units of gain; None: the same for all.

    Attributes
    ----------
    new : ndarray of float64, shape (columns,), or None
    other_tasks : ndarray of float64, shape (columns,), or None
        If another task owns the feature.
    """

    new: F64 | None = None
    other_tasks: F64 | None = None


SAME_PRICES = ScanPrices()


class BestSplits(NamedTuple):
    """Best splits of some nodes on owned features, on new features, and on features of other tasks."""

    owned: Splits
    new: Splits
    other_tasks: Splits


@dataclass(frozen=True)
class SplitRules:
    """Splits of a fitted tree, as parallel arrays.

    Attributes
    ----------
    feature : ndarray of int64
        The column, or the number of one of its categories.
    column : ndarray of int64
        Column of the table.
    threshold : ndarray of float64
        Largest value that goes left; for a categorical split, the category that goes right.
    is_category : ndarray of uint8
    """

    feature: I64
    column: I64
    threshold: F64
    is_category: U8
