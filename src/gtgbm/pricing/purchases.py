"""Purchases of a level's nodes: a feature that one node buys is free for the nodes after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gtgbm.exact import I64
from gtgbm.pricing.feature_costs import FeatureCosts
from gtgbm.tree import Splits

Acquire = Callable[[int, I64], Splits]
"""``acquire(feature, nodes)`` makes a feature's column an owned one and returns its splits at some nodes."""


class NodePurchase(NamedTuple):
    """What a node of the level has bought, and its price in units of gain."""

    node: int
    feature: int
    price: float


def buy_features(
    choice: Splits, proposals: Sequence[Splits], turn: I64, costs: FeatureCosts, acquire: Acquire
) -> list[NodePurchase]:
    """Let nodes take turns in buying.

    One proposal per node and price suffices: whatever the node's best feature at that price is, once another
    node has bought it this node has it for free, and the second best gains no more and costs the price.

    Parameters
    ----------
    choice : Splits
        The best owned split of every node of the level; updated in place.
    proposals : sequence of Splits
        For each price, the best split of every node on a feature of that price. A purchase may use up what a
        limit allows, so that a node falls back to a feature of another price. Of equals the first wins.
    turn : ndarray of int64
        The nodes that may split, in the order in which they choose.
    acquire : callable
        Called once for each purchase, with the nodes after the buyer.

    Returns
    -------
    list of NodePurchase
        In the order of purchase.
    """
    bought: list[NodePurchase] = []
    waiting = turn
    while True:
        prices = np.stack([costs.prices(kind.feature[waiting]) for kind in proposals])
        net = np.stack([kind.gain[waiting] for kind in proposals]) - prices
        wins = net.max(axis=0) > choice.gain[waiting]
        if not wins.any():
            return bought
        first = int(np.argmax(wins))
        kind = int(np.argmax(net[:, first]))
        node = int(waiting[first])
        feature = int(proposals[kind].feature[node])
        choice.put(waiting[first : first + 1], proposals[kind].at(waiting[first : first + 1]))
        waiting = waiting[first + 1 :]
        if costs.is_owned[feature]:
            continue
        costs.buy(feature)
        bought.append(NodePurchase(node, feature, float(prices[kind, first])))
        choice.improve(waiting, acquire(feature, waiting))
