"""GBFS, A-GBM (Algorithm 1) and GT-GBM (Algorithm 2) written as the paper states them.

Nothing is binned, stored, subtracted, rounded or skipped: every node tries every split of every feature
that it may look at. For small tables only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gtgbm.exact.arrays import F64, I64, Bool
from gtgbm.search.dealing import divide

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
    """Trees as lists of nodes, the root first; the features bought; and the training rows' scores."""

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
        allowed = np.flatnonzero((n >= min_leaf) & (g.shape[0] - n >= min_leaf))
        n, total = n[allowed], total[allowed]
        # The squared error falls by what the squares of the two means exceed that of the node's.
        gains = total**2 / n + (g.sum() - total) ** 2 / (g.shape[0] - n) - g.sum() ** 2 / g.shape[0]
        for k, gain in zip(allowed, gains, strict=True):
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


class TreeBuilder:
    """Fits one tree to residuals; `owned` (Ω) grows at once.

    Nodes choose level by level, the largest of a level first. A node whose squared error does not exceed the
    price waits: neither it nor a node below it can buy, and it is grown when the others have finished.
    """

    def __init__(self, X: F64, g: F64, owned: list[int], rules: Rules, tree: int) -> None:
        self.X, self.g, self.owned, self.rules, self.tree = X, g, owned, rules, tree
        self.Z = scaled(X)
        self.root_sse = sse(g)
        self.price = rules.penalty * (self.root_sse if rules.of_root else 1.0)
        self.nodes = [Node(np.arange(g.shape[0]), 0)]
        self.purchases: list[Purchase] = []

    def fit(self) -> tuple[list[Node], list[Purchase]]:
        """Grow the tree."""
        level, waiting = [0], []
        while level:
            may_buy = [k for k in level if self._has_room() and sse(self.g[self.nodes[k].rows]) > self.price]
            waiting += [k for k in level if k not in may_buy]
            for k in sorted(may_buy, key=lambda k: -self.nodes[k].rows.shape[0]):
                self._choose(self.nodes[k], buys=True)
            level = self._children(may_buy)
        while waiting:
            for k in waiting:
                self._choose(self.nodes[k], buys=False)
            waiting = self._children(waiting)
        return self.nodes, self.purchases

    def _has_room(self) -> bool:
        return self.rules.limit is None or len(self.owned) < self.rules.limit

    def _choose(self, node: Node, *, buys: bool) -> None:
        rules, rows = self.rules, node.rows
        if node.depth == rules.max_depth or rows.shape[0] < rules.min_node_rows:
            return
        tie = _TIE * self.root_sse
        split = best_of(self.X, self.owned, self.g, rows, rules.min_leaf, tie)
        if buys and self._has_room():
            new = [feature for feature in self._looked_at(rows) if feature not in self.owned]
            bought = best_of(self.X, new, self.g, rows, rules.min_leaf, tie)
            if bought.gain - self.price > split.gain:
                split = bought
                self.owned.append(bought.feature)
                shares = bought.gain / self.root_sse, self.price / self.root_sse
                self.purchases.append(Purchase(self.tree, bought.feature, *shares))
        if split.gain > 0.0:
            node.feature, node.gain = split.feature, split.gain
            node.left_rows = rows[split.left]

    def _looked_at(self, rows: I64) -> Sequence[int]:
        if self.rules.subsets is None:
            return range(self.X.shape[1])
        subsets, min_leaf = self.rules.subsets, self.rules.min_leaf
        return sorted({candidate(self.Z, subset, self.g, rows, min_leaf) for subset in subsets})

    def _children(self, parents: Sequence[int]) -> list[int]:
        below = []
        for k in parents:
            node = self.nodes[k]
            if node.feature >= 0:
                node.left = len(self.nodes)
                below += [len(self.nodes), len(self.nodes) + 1]
                right_rows = np.setdiff1d(node.rows, node.left_rows)
                self.nodes += [Node(rows, node.depth + 1) for rows in (node.left_rows, right_rows)]
        return below


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
        nodes, purchases = TreeBuilder(X, g, owned, rules, t).fit()
        for node in nodes:
            if node.feature < 0:
                scores[node.rows] += learning_rate * g[node.rows].sum() / h[node.rows].sum()
        ensemble.trees.append(nodes)
        ensemble.purchases += purchases
    return ensemble
