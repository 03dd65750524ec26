"""GBFS, A-GBM (Algorithm 1) and GT-GBM (Algorithm 2) written as the paper states them.

Nothing is binned, stored, subtracted, rounded or skipped: every node tries every split of every feature
that it may look at. For small tables only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gtgbm.arrays import F64, I64, Bool
from gtgbm.group_tests import divide

# Two splits that divide the rows alike are tied, whatever order floats are added in.
_TIE = 1e-12


@dataclass(frozen=True)
class Rules:
    """What a split costs and which are allowed.

    Attributes
    ----------
    penalty : float
        μ.
    of_root : bool
        Whether the penalty is a fraction of the root's squared error (A-GBM) or absolute (GBFS).
    subsets : sequence of sequences of int, or None
        The subsets of group testing; None: look at every feature.
    limit : int or None
        Most features that may be owned.
    """

    penalty: float
    of_root: bool = True
    min_leaf: int = 1
    min_node_rows: float = 0.0
    max_depth: int = 1000
    subsets: Sequence[Sequence[int]] | None = None
    limit: int | None = None


@dataclass
class Node:
    """A node: its rows, and the split's feature and left rows if it has one."""

    rows: I64
    depth: int
    feature: int = -1
    left_rows: I64 = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    left: int = -1
    gain: float = 0.0


@dataclass(frozen=True)
class Purchase:
    """A feature bought; gain and price as fractions of the root's squared error."""

    tree: int
    feature: int
    gain: float
    price: float


@dataclass
class Ensemble:
    """Trees as lists of nodes, level by level; the features bought; and the training rows' scores."""

    trees: list[list[Node]]
    purchases: list[Purchase]
    scores: F64


@dataclass(frozen=True)
class Split:
    """A split of a node's rows, by its gain and a mask of the rows that go left."""

    gain: float
    left: Bool
    feature: int = -1


def sse(g: F64) -> float:
    """Squared error around the mean."""
    return float(((g - g.mean()) ** 2).sum())


def best_split(values: F64, g: F64, min_leaf: int, feature: int = -1) -> Split:
    """Find the best split of one feature; without any, the gain is 0.

    Lower thresholds come first, and missing values on the right before missing values on the left.
    """
    missing = np.isnan(values)
    thresholds = np.unique(values[~missing])
    best = Split(0.0, np.zeros(g.shape[0], dtype=np.bool_), feature)
    whole = sse(g)
    for also_left in (np.zeros_like(missing), missing) if missing.any() else (missing,):
        left = (values[None, :] <= thresholds[:, None]) | also_left
        n, total = left.sum(axis=1), left @ g
        for k in np.flatnonzero((n >= min_leaf) & (g.shape[0] - n >= min_leaf)):
            # The squared error falls by what the squares of the two means exceed that of the node's.
            gain = (
                total[k] ** 2 / n[k]
                + (g.sum() - total[k]) ** 2 / (g.shape[0] - n[k])
                - g.sum() ** 2 / g.shape[0]
            )
            if gain > best.gain + _TIE * whole:
                best = Split(float(gain), left[k], feature)
    return best


def best_of(X: F64, features: Sequence[int], g: F64, rows: I64, min_leaf: int, tie: float) -> Split:
    """Find the best split over features, the first of those tied."""
    best = Split(0.0, np.zeros(rows.shape[0], dtype=np.bool_))
    for feature in features:
        split = best_split(X[rows, feature], g[rows], min_leaf, feature)
        if split.gain > best.gain + tie:
            best = split
    return best


def scaled(X: F64) -> I64:
    """Features scaled to [0, 1] by their least and largest value, in steps of 1 / 65535; missing is 0."""
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    unit = (X - low) / np.where(high > low, high - low, 1.0)
    steps: I64 = np.rint(np.nan_to_num(unit, nan=0.0) * 65535.0).astype(np.int64)
    return steps


def candidate(Z: I64, subset: Sequence[int], g: F64, rows: I64, min_leaf: int) -> int:
    """Halve a subset until one feature is left, keeping the half whose sum has the better split."""
    halves = divide(len(subset), 2)
    group = 0
    while halves.n_children[group]:
        scores = []
        for child in range(int(halves.first_child[group]), int(halves.first_child[group]) + 2):
            members = list(subset[int(halves.begin[child]) : int(halves.end[child])])
            pseudo_feature = Z[rows][:, members].sum(axis=1).astype(np.float64)
            scores.append(best_split(pseudo_feature, g[rows], min_leaf).gain)
        second = scores[1] > scores[0] + _TIE * sse(g[rows])
        group = int(halves.first_child[group]) + int(second)
    return subset[int(halves.begin[group])]


def fit_tree(X: F64, g: F64, owned: list[int], rules: Rules, tree: int) -> tuple[list[Node], list[Purchase]]:
    """Fit a tree to residuals; `owned` (Ω) grows at once."""
    Z = scaled(X)
    root_sse = sse(g)
    price = rules.penalty * (root_sse if rules.of_root else 1.0)
    nodes = [Node(np.arange(g.shape[0]), 0)]
    purchases: list[Purchase] = []
    level = [0]
    while level:
        for k in sorted(level, key=lambda k: -nodes[k].rows.shape[0]):
            node = nodes[k]
            if node.depth == rules.max_depth or node.rows.shape[0] < rules.min_node_rows:
                continue
            tie = _TIE * root_sse
            split = best_of(X, owned, g, node.rows, rules.min_leaf, tie)
            if rules.limit is None or len(owned) < rules.limit:
                looked_at = (
                    range(X.shape[1])
                    if rules.subsets is None
                    else sorted(
                        {candidate(Z, subset, g, node.rows, rules.min_leaf) for subset in rules.subsets}
                    )
                )
                new = [feature for feature in looked_at if feature not in owned]
                bought = best_of(X, new, g, node.rows, rules.min_leaf, tie)
                if bought.gain - price > split.gain:
                    split = bought
                    owned.append(bought.feature)
                    purchases.append(Purchase(tree, bought.feature, bought.gain / root_sse, price / root_sse))
            if split.gain > 0.0:
                node.feature, node.gain = split.feature, split.gain
                node.left_rows = node.rows[split.left]
        below = []
        for k in level:
            if nodes[k].feature >= 0:
                nodes[k].left = len(nodes)
                below += [len(nodes), len(nodes) + 1]
                right_rows = np.setdiff1d(nodes[k].rows, nodes[k].left_rows)
                nodes += [Node(rows, nodes[k].depth + 1) for rows in (nodes[k].left_rows, right_rows)]
        level = below
    return nodes, purchases


def boost(
    X: F64, y: F64, rules: Rules, *, n_trees: int, learning_rate: float = 0.1, logistic: bool = False
) -> Ensemble:
    """Boost trees: squared error of numbers, or log loss of 0/1."""
    mean = y.mean()
    scores = np.full(y.shape[0], np.log(mean / (1.0 - mean)) if logistic else mean)
    ensemble = Ensemble([], [], scores)
    owned: list[int] = []
    for t in range(n_trees):
        p = 1.0 / (1.0 + np.exp(-scores))
        g = y - p if logistic else y - scores
        h = p * (1.0 - p) if logistic else np.ones_like(y)
        nodes, purchases = fit_tree(X, g, owned, rules, t)
        for node in nodes:
            if node.feature < 0:
                scores[node.rows] += learning_rate * g[node.rows].sum() / h[node.rows].sum()
        ensemble.trees.append(nodes)
        ensemble.purchases += purchases
    return ensemble
