"""The part of a grown tree that best-first growth gives, and the purchases that this part needs."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gtgbm.exact import I64
from gtgbm.growing.growing_tree import Purchase
from gtgbm.pricing import FeatureUnits
from gtgbm.tree import Tree


def best_first(tree: Tree, max_leaves: int) -> I64:
    """Return the nodes that growing best-first to `max_leaves` leaves would have grown, ascending.

    Of the leaves so far, the one whose split has the largest gain is split next; ties go to the lower number.
    The split of a node does not depend on the splits of other nodes, except that features which they have
    bought are free, so a tree is grown in whole levels and subtrees first, which is faster.
    """
    kept, waiting = [0], [(-float(tree.gain[0]), 0)]
    while waiting and len(kept) < 2 * max_leaves - 1:
        node = heapq.heappop(waiting)[1]
        if tree.feature[node] >= 0:
            left = int(tree.left[node])
            for child in (left, left + 1):
                kept.append(child)
                heapq.heappush(waiting, (-float(tree.gain[child]), child))
    return np.sort(np.array(kept, dtype=np.int64))


class NodeFeatures(NamedTuple):
    """Features that the nodes of a tree split on.

    Attributes
    ----------
    feature : ndarray of int64, shape (nodes,)
        -1 for a leaf.
    described : callable
        ``described(feature)`` returns the column of a feature, and its category or None.
    """

    feature: I64
    described: Callable[[int], tuple[int, float | None]]


def used_purchases(
    purchases: Sequence[Purchase], tree: Tree, uses: NodeFeatures, kept: I64, units: FeatureUnits
) -> tuple[list[Purchase], list[int]]:
    """Return the purchases of features that the kept part of a tree uses, and all other features bought.

    A node that is kept may use a feature that was bought by a node that is not: then the purchase is that of
    the first such node, at the price that was paid. The same holds for features that were bought together.

    Parameters
    ----------
    uses : NodeFeatures
        Features that nodes split on.
    kept : ndarray of int64
        The nodes that are kept, ascending.
    units : FeatureUnits
        Which features are bought together.
    """
    is_kept = np.zeros(tree.n_nodes, dtype=np.bool_)
    is_kept[kept] = True
    splits = [node for node in kept.tolist() if tree.feature[node] >= 0 and is_kept[tree.left[node]]]
    first_use: dict[int, int] = {}
    for node in splits:
        first_use.setdefault(int(uses.feature[node]), node)
    split_nodes, used, unused = set(splits), [], []
    for bought in purchases:
        nodes = [first_use[one] for one in units.members(bought.feature).tolist() if one in first_use]
        if not nodes:
            unused.append(bought.feature)
        elif bought.node in split_nodes:
            used.append(bought)
        else:
            node = min(nodes)
            feature, gain = (
                int(uses.feature[node]),
                bought.gain * float(tree.gain[node] / tree.gain[bought.node]),
            )
            column, category = uses.described(feature)
            used.append(
                replace(bought, feature=feature, node=node, column=column, category=category, gain=gain)
            )
    return used, unused
