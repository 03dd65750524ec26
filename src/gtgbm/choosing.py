"""Chooses each node's split: owned features for free, new ones at their price."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gtgbm.arrays import F64, I32, I64
from gtgbm.feature_costs import FeatureCosts
from gtgbm.level import Splits


@dataclass
class Choice:
    """The split of each node: parallel arrays over nodes; ``gain <= 0`` means the node stays a leaf."""

    feature: I64
    gain: F64
    bin: I32
    missing_side: I32

    @classmethod
    def none(cls, nodes: int) -> Choice:
        """Choose no split at any node."""
        return cls(
            np.full(nodes, -1, dtype=np.int64),
            np.zeros(nodes),
            np.zeros(nodes, dtype=np.int32),
            np.zeros(nodes, dtype=np.int32),
        )

    @classmethod
    def best_of(cls, splits: Splits) -> Choice:
        """Take the best column of every node."""
        nodes = splits.gain.shape[0]
        if splits.features.shape[0] == 0:
            return cls.none(nodes)
        column = np.argmax(splits.gain, axis=1)
        at = np.arange(nodes)
        return cls(
            splits.features[column],
            np.maximum(splits.gain[at, column], 0.0),
            splits.bin[at, column],
            splits.missing_side[at, column],
        )

    def put(self, nodes: I64, other: Choice) -> None:
        """Let `nodes` choose as `other` does."""
        self.feature[nodes] = other.feature
        self.gain[nodes] = other.gain
        self.bin[nodes] = other.bin
        self.missing_side[nodes] = other.missing_side

    def take(self, nodes: I64, splits: Splits, rows: I64, column: int) -> None:
        """Let `nodes` use a column of `splits`, whose rows are `rows`."""
        self.feature[nodes] = splits.features[column]
        self.gain[nodes] = splits.gain[rows, column]
        self.bin[nodes] = splits.bin[rows, column]
        self.missing_side[nodes] = splits.missing_side[rows, column]


Measure = Callable[[int, I64], Splits]
"""``measure(feature, nodes)``: the splits of a feature just bought at some nodes, shape (nodes, 1)."""


def buy_new_features(
    choice: Choice, proposals: Splits, nodes: I64, turn: I64, costs: FeatureCosts, measure: Measure
) -> list[tuple[int, int]]:
    """Let nodes take turns in buying: what one has bought is free for those after it.

    Parameters
    ----------
    choice : Choice
        The best owned split of every node of the level; updated in place.
    proposals : Splits
        Splits of features that may be new, at some nodes.
    nodes : ndarray of int64, shape (rows of proposals,)
        The node of each row of `proposals`.
    turn : ndarray of int64
        All nodes of the level that may split, in the order in which they choose.
    measure : callable
        Called once for each purchase, with the nodes after the buyer.

    Returns
    -------
    list of (node, feature)
        What was bought, in order.
    """
    bought: list[tuple[int, int]] = []
    if proposals.features.shape[0] == 0:
        return bought
    value = proposals.gain - costs.prices(proposals.features)
    column = np.argmax(value, axis=1)
    best = value[np.arange(value.shape[0]), column]
    row_of = np.full(choice.gain.shape[0], -1, dtype=np.int64)
    row_of[nodes] = np.arange(nodes.shape[0])
    waiting = turn
    while True:
        rows = row_of[waiting]
        wins = (rows >= 0) & (best[rows] > choice.gain[waiting])
        if not wins.any():
            return bought
        first = int(np.argmax(wins))
        node, row = int(waiting[first]), int(rows[first])
        taken = int(column[row])
        feature = int(proposals.features[taken])
        costs.buy(feature)
        bought.append((node, feature))
        choice.take(np.array([node]), proposals, np.array([row]), taken)
        waiting = waiting[first + 1 :]
        free = measure(feature, waiting)
        better = np.flatnonzero(free.gain[:, 0] > choice.gain[waiting])
        choice.take(waiting[better], free, better, 0)
        if np.isinf(costs.new_price):
            return bought
        value[:, taken] = -np.inf
        stale = np.flatnonzero(column == taken)
        column[stale] = np.argmax(value[stale], axis=1)
        best[stale] = value[stale, column[stale]]
