"""Lets nodes buy features: what one has bought is free for those after it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gtgbm.arrays import I64
from gtgbm.feature_costs import FeatureCosts
from gtgbm.level import Splits

Measure = Callable[[int, I64], Splits]
"""``measure(feature, nodes)``: the splits of a feature just bought at some nodes."""


def buy_new_features(
    choice: Splits, proposals: Splits, turn: I64, costs: FeatureCosts, measure: Measure
) -> list[tuple[int, int, float]]:
    """Let nodes take turns in buying.

    One proposal per node suffices: whatever a node's best new feature is, once another node has bought it
    this node has it for free, and its second best new feature gains no more and costs a price.

    Parameters
    ----------
    choice : Splits
        The best owned split of every node of the level; updated in place.
    proposals : Splits
        The best split of every node on a feature that is not owned.
    turn : ndarray of int64
        The nodes that may split, in the order in which they choose.
    measure : callable
        Called once for each purchase, with the nodes after the buyer.

    Returns
    -------
    list of (node, feature, price)
        What was bought, in order.
    """
    bought: list[tuple[int, int, float]] = []
    waiting = turn
    while True:
        prices = costs.prices(proposals.feature[waiting])
        wins = proposals.gain[waiting] - prices > choice.gain[waiting]
        if not wins.any():
            return bought
        first = int(np.argmax(wins))
        node = int(waiting[first])
        feature = int(proposals.feature[node])
        choice.put(waiting[first : first + 1], proposals.at(waiting[first : first + 1]))
        waiting = waiting[first + 1 :]
        if costs.is_owned[feature]:
            continue
        costs.buy(feature)
        bought.append((node, feature, float(prices[first])))
        choice.improve(waiting, measure(feature, waiting))
