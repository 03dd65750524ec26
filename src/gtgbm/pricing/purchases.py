"""Purchases at the nodes of a level: a feature that one node buys is free for the nodes after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gtgbm.exact import F64, I64
from gtgbm.pricing.feature_costs import FeatureCosts
from gtgbm.tree import Splits

Acquire = Callable[[int, I64], Splits]
"""``acquire(feature, nodes)`` makes a feature owned, and those that are bought together with it, and returns
their best splits at some nodes."""


class NodePurchase(NamedTuple):
    """A feature bought by a node of the level, and its price in units of gain."""

    node: int
    feature: int
    price: float


def buy_features(
    choice: Splits,
    proposals: Sequence[Splits],
    turn: I64,
    costs: FeatureCosts,
    acquire: Acquire,
    by_chance: F64 | None = None,
) -> list[NodePurchase]:
    """Let the nodes of a level buy features, one node after the other.

    One proposal per node and price is enough. If an earlier node buys the proposed feature, this node can use
    it for free, and its second-best feature would cost the price without gaining more. If an earlier node
    leaves too little of a budget for the proposed feature, this node buys none; its children search again.

    Parameters
    ----------
    choice : Splits
        The best owned split of every node of the level; updated in place.
    proposals : sequence of Splits
        For each price, the best split of every node on a feature of that price. Once a purchase exhausts a
        limit, later nodes fall back to features of another price. Ties go to the first.
    turn : ndarray of int64
        The nodes that may split, in the order in which they buy.
    acquire : callable
        Called once per purchase, with the nodes after the buyer.
    by_chance : ndarray of float64, shape (nodes of the level,), or None
        Gain by chance at each node, which a purchase must exceed in addition to its price; None: 0.

    Returns
    -------
    list of NodePurchase
        In the order of purchase.
    """
    purchases: list[NodePurchase] = []
    waiting = turn
    while True:
        prices = np.stack([costs.prices(kind.feature[waiting]) for kind in proposals])
        if by_chance is not None:
            is_new = np.stack([~costs.is_owned[kind.feature[waiting]] for kind in proposals])
            factors = np.stack([costs.chance_factors(kind.feature[waiting]) for kind in proposals])
            prices += is_new * by_chance[waiting] * factors
        net = np.stack([kind.gain[waiting] for kind in proposals]) - prices
        wins = net.max(axis=0) > choice.gain[waiting]
        if not wins.any():
            return purchases
        first = int(np.argmax(wins))
        kind = int(np.argmax(net[:, first]))
        node = int(waiting[first])
        feature = int(proposals[kind].feature[node])
        choice.put(waiting[first : first + 1], proposals[kind].at(waiting[first : first + 1]))
        waiting = waiting[first + 1 :]
        if costs.is_owned[feature]:
            continue
        costs.buy(feature)
        purchases.append(NodePurchase(node, feature, float(prices[kind, first])))
        choice.improve(waiting, acquire(feature, waiting))
