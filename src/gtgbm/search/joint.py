"""Groups of features that are worth their price only together.

The features of a group are paid once, so a group may be worth its price although none of its features is.
Stumps are fitted to the residuals at the root, each on the best feature of the group; what they gain beyond
chance is what the group gains. Features that say the same gain only once, and noise gains nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm.data import Columns
from gtgbm.exact import CELLS, F64, I64, MISSING_LEFT, U8, RowWeights, pack
from gtgbm.pricing import FeatureCosts, FeatureUnits, chance_gain
from gtgbm.search.candidates import CandidateColumns, store_of
from gtgbm.tree import Level, TreeContext, measure_pairs

_MISSING = CELLS - 1
"""Code of missing values."""
_MOST_COLUMNS = 1024
_MOST_CODES = 1 << 28
"""Most columns of all groups together that are looked at, and most of their codes, a byte each: each tree
that searches looks at all of them."""
_MOST_STUMPS = 16
_MOST_GROUPS = 2
"""Groups that stumps are fitted for in each tree: those whose features gain most at the root."""


@dataclass(frozen=True)
class JointPurchase:
    """A group that is worth its price: one of its features, gain and price in units of the tree's gain."""

    feature: int
    gain: float
    price: float


class JointSearch:
    """Finds groups that are worth their price at the root of a tree.

    Parameters
    ----------
    searched : ndarray of int64
        The numeric columns that may be used.
    directions : ndarray of uint8, shape (d,)
        RISING or FALLING where a column has a monotone constraint, else 0.
    """

    def __init__(self, columns: Columns, units: FeatureUnits, searched: I64, directions: U8) -> None:
        assert units.group is not None
        group = units.group[searched]
        most = min(_MOST_COLUMNS, _MOST_CODES // columns.shard.n_total)
        self._features = searched[group >= 0][:most]
        self._group = units.group[self._features]
        self._directions = directions
        self._codes = CandidateColumns(columns.n_columns, columns.encode, store_of(columns))

    def find(
        self, tree: TreeContext, residuals: F64, weights: RowWeights, floor: float, costs: FeatureCosts
    ) -> JointPurchase | None:
        """Return the group that gains most after its price, if any is worth it.

        Parameters
        ----------
        residuals : ndarray of float64, shape (n,)
            What the tree is fitted to.
        floor : float
            Gain of the best split of the root on owned features, which a group must exceed by its price.
        """
        is_open = ~costs.is_owned[self._features] & costs.is_allowed[self._features]
        features, group = self._features[is_open], self._group[is_open]
        if features.shape[0] == 0:
            return None
        prices = costs.prices(features)
        gains, *_ = self._stumps(tree, features)
        numbers, place = np.unique(group, return_inverse=True)
        # Stumps one after the other gain about as much as alone, if the features are independent, or less.
        alone = np.bincount(place, np.maximum(gains - self._chance(tree, 1), 0.0))
        price = np.full(numbers.shape[0], np.inf)
        np.minimum.at(price, place, prices)
        order = np.argsort(price - alone, kind="stable")[:_MOST_GROUPS]
        best: JointPurchase | None = None
        for k in order[alone[order] - price[order] > floor].tolist():
            members = features[place == k]
            gain = self._joint_gain(tree, residuals, weights, members)
            if gain - price[k] > floor and (best is None or gain - price[k] > best.gain - best.price):
                best = JointPurchase(int(members[0]), gain, float(price[k]))
        return best

    def _joint_gain(self, tree: TreeContext, residuals: F64, weights: RowWeights, features: I64) -> float:
        """Return what stumps on some features gain one after the other, beyond what chance explains."""
        total, now, chance = 0.0, tree, self._chance(tree, features.shape[0])
        for _ in range(_MOST_STUMPS):
            gains, bins, sides = self._stumps(now, features)
            k = int(np.argmax(gains))
            # The residuals of each step have a fixed point of their own.
            gain = float(gains[k]) * (tree.cells.scale / now.cells.scale) ** 2
            if gain <= chance:
                break
            total += gain - chance
            codes = self._codes.codes[int(self._codes.slots(features[k : k + 1])[0])]
            is_left = np.where(codes == _MISSING, sides[k] == MISSING_LEFT, codes <= bins[k])
            residuals = residuals - np.where(is_left, *(_mean(now, side) for side in (is_left, ~is_left)))
            cells = pack(residuals, weights, tree.context, centred=tree.limits.l2 == 0.0)
            now = TreeContext(tree.context, cells, tree.order, tree.limits, tree.root_sse)
        return total

    def _stumps(self, tree: TreeContext, features: I64) -> tuple[F64, I64, I64]:
        """Return gain, bin and side of missing values of the best split of the root on each feature."""
        root = Level.root(tree.cells)
        columns = self._codes.pairs(features, self._directions)
        gains, bins, sides = measure_pairs(tree, root, np.zeros(features.shape[0], dtype=np.int64), columns)
        return np.maximum(gains, 0.0), bins.astype(np.int64), sides.astype(np.int64)

    def _chance(self, tree: TreeContext, n_features: int) -> float:
        """Return what the best of some useless features gains at the root by chance."""
        n_rows = max(tree.cells.total[1], 1)
        share = min(tree.limits.min_leaf / n_rows, 0.5)
        return chance_gain(n_features, share) * tree.root_sse * tree.limits.row / n_rows


def _mean(tree: TreeContext, rows: F64) -> float:
    """Return the mean residual of some rows, given by a mask, without the mean that the cells lack."""
    values = tree.cells.values[rows]
    sums = np.array([tree.cells.weights(values).sum(), tree.cells.gradients(values).sum()], dtype=np.int64)
    count, gradient = tree.sum(sums).tolist()
    mean: float = gradient / tree.cells.scale / max(count, 1)
    return mean
