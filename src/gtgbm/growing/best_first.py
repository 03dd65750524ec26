"""The part of a grown tree that best-first growth gives, and the purchases that this part needs."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gtgbm.exact import I64
from gtgbm.growing.growing_tree import Purchase
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


def used_purchases(
    purchases: Sequence[Purchase], tree: Tree, features: I64, kept: I64
) -> tuple[list[Purchase], list[int]]:
    """Return the purchases of features that the kept part of a tree uses, and all other features bought.

    A node that is kept may use a feature that was bought by a node that is not: then the purchase is that of
    the first such node, at the price that was paid.

    Parameters
    ----------
    features : ndarray of int64, shape (nodes,)
        Feature that each node splits on, -1 for a leaf.
    kept : ndarray of int64
        The nodes that are kept, ascending.
    """
    is_kept = np.zeros(tree.n_nodes, dtype=np.bool_)
    is_kept[kept] = True
    splits = [node for node in kept.tolist() if tree.feature[node] >= 0 and is_kept[tree.left[node]]]
    first_use: dict[int, int] = {}
    for node in splits:
        first_use.setdefault(int(features[node]), node)
    split_nodes, used, unused = set(splits), [], []
    for bought in purchases:
        if bought.feature not in first_use:
            unused.append(bought.feature)
        elif bought.node in split_nodes:
            used.append(bought)
        else:
            node = first_use[bought.feature]
            gain = bought.gain * float(tree.gain[node] / tree.gain[bought.node])
            used.append(replace(bought, node=node, gain=gain))
    return used, unused
