"""The search of GT-GBM: candidates from group tests, screened on the test rows, then measured exactly."""

from __future__ import annotations

from collections import deque

import numpy as np

from gtgbm.arrays import F64, I32, I64, U8, Bool
from gtgbm.data.columns import DenseColumns
from gtgbm.feature_costs import FeatureCosts
from gtgbm.group_tests import GroupTests
from gtgbm.histograms import measure_pairs
from gtgbm.level import Level, RowOrder, Splits, TreeContext
from gtgbm.reducer import Reducer
from gtgbm.timings import Timings

_TREES_REMEMBERED = 5
_GAIN_MARGIN = 1.5
"""A node is searched if this many times the recent best gain would be enough (docs/group-testing.md)."""


class GroupSearch:
    """Proposes the features that group tests find.

    Besides the exact skip, nodes are left out at which a new feature would have to gain more, in relation to
    the node's squared error, than candidates have lately been seen to gain anywhere: late trees then search
    only a few large nodes.

    Parameters
    ----------
    tests : GroupTests
    test_rows : ndarray of int64, shape (m,)
        Ascending.
    screen : bool
        Whether to drop candidates whose gain on the test rows, less what chance gives, cannot win. Only with
        all rows tested and no screening is this the paper's algorithm.
    min_test_rows : int
        Nodes with fewer test rows are left to owned features: they cannot tell signal from noise.
    chance_gain : float
        Gain of a useless feature's best split by chance, in units of the node's residual variance.
    """

    def __init__(
        self,
        columns: DenseColumns,
        tests: GroupTests,
        test_rows: I64,
        reducer: Reducer,
        timings: Timings,
        *,
        screen: bool,
        min_test_rows: int,
        chance_gain: float,
    ) -> None:
        self._columns = columns
        self._tests = tests
        self._reducer = reducer
        self._timings = timings
        self._screen = screen
        self._min_test_rows = min_test_rows
        self._chance_gain = chance_gain
        self._all_rows = test_rows.shape[0] == columns.n_rows
        self._test_rows: I32 = test_rows.astype(np.int32)
        self._position: I32 = np.zeros(columns.n_rows, dtype=np.int32)
        self._position[test_rows] = np.arange(test_rows.shape[0], dtype=np.int32)
        self._order: RowOrder | None = None
        self._cache = _ColumnCache(columns)
        self._recent_gains: deque[float] = deque([np.inf], maxlen=_TREES_REMEMBERED)

    @property
    def test_order(self) -> RowOrder | None:
        """The test rows; None when they are simply all rows."""
        return self._order

    def start_tree(self, tree: TreeContext, costs: FeatureCosts) -> None:
        """Take the test rows' residuals, and deal subsets if it is time."""
        cells = tree.cells.values if self._all_rows else tree.cells.values[self._test_rows]
        self._recent_gains.append(0.0)
        with self._timings.stage("dealing"):
            self._tests.start_tree(cells >> tree.cells.count_bits, costs.is_owned)
        if self._all_rows:
            return
        if self._order is None:
            self._order = RowOrder.of(self._test_rows.copy(), cells)
        else:
            self._order.restart(self._test_rows, cells)

    def propose(
        self, tree: TreeContext, level: Level, nodes: I64, floor: F64, costs: FeatureCosts
    ) -> tuple[I64, Splits]:
        """Search every node, and measure what passes the screening on all of the node's rows."""
        tested = level.test_end[nodes] - level.test_begin[nodes]
        worth = tested >= self._min_test_rows
        if self._screen:
            likely = _GAIN_MARGIN * max(self._recent_gains)
            # The root is always looked at, or a search that found nothing for a while would never resume.
            worth &= (floor + costs.new_price <= likely * level.sse[nodes]) | (level.parent[nodes] < 0)
        nodes, floor, tested = nodes[worth], floor[worth], tested[worth]
        if nodes.shape[0] == 0:
            return nodes, Splits.none(0, np.empty(0, dtype=np.int64))
        with self._timings.stage("group tests"):
            feature, gain = self._search(tree, level, nodes)
        with self._timings.stage("screening"):
            kept = ~costs.is_owned[feature]
            if self._screen:
                kept &= self._can_win(level, nodes, floor, tested, gain, costs)
            row, features = _distinct_pairs(kept, feature, self._columns.n_columns)
        if row.shape[0] == 0:
            return nodes[:0], Splits.none(0, features)
        with self._timings.stage("binning"):
            self._cache.add(features)
        with self._timings.stage("candidates"):
            return nodes, self._measure(tree, level, nodes, row, features)

    def column(self, feature: int) -> tuple[U8, int]:
        """Codes and number of bins of a proposed feature."""
        return self._cache.column(feature)

    def _search(self, tree: TreeContext, level: Level, nodes: I64) -> tuple[I64, F64]:
        order = tree.order if self._order is None else self._order
        positions = order.rows if self._all_rows else self._position[order.rows]
        # A split must leave the same share of the rows on each side as a real one.
        share = self._test_rows.shape[0] / self._columns.n_rows
        min_leaf = max(1, int(tree.min_leaf * share))
        return self._tests.search(
            positions,
            order.cells,
            level.test_begin[nodes],
            level.test_end[nodes],
            tree.cells.count_bits,
            min_leaf,
        )

    def _can_win(
        self,
        level: Level,
        nodes: I64,
        floor: F64,
        tested: I64,
        gain: F64,
        costs: FeatureCosts,
    ) -> Bool:
        rows = level.n_rows[nodes]
        variance = level.sse[nodes] / rows
        # With all rows tested nothing is left to chance.
        chance = self._chance_gain * (1.0 - tested / rows) * variance
        estimate = (gain - chance[:, None]) * (rows / tested)[:, None]
        wins: Bool = estimate > (floor + costs.new_price)[:, None]
        return wins

    def _measure(self, tree: TreeContext, level: Level, nodes: I64, row: I64, features: I64) -> Splits:
        distinct, column = np.unique(features, return_inverse=True)
        splits = Splits.none(nodes.shape[0], distinct)
        node = nodes[row]
        codes, slots, n_bins = self._cache.slots(features)
        gain, bins, side = measure_pairs(tree, self._reducer, level, node, codes, slots, n_bins)
        splits.gain[row, column] = gain[:, 0]
        splits.bin[row, column] = bins[:, 0]
        splits.missing_side[row, column] = side[:, 0]
        self._recent_gains[-1] = max(self._recent_gains[-1], float(np.max(gain[:, 0] / level.sse[node])))
        return splits


def _distinct_pairs(kept: Bool, feature: I64, n_features: int) -> tuple[I64, I64]:
    """Rows and features of the kept entries, each pair once."""
    row, subset = np.nonzero(kept)
    pairs = np.unique(row * n_features + feature[row, subset])
    return pairs // n_features, pairs % n_features


class _ColumnCache:
    """Codes of columns that once were candidates: each is binned in full only once."""

    def __init__(self, columns: DenseColumns) -> None:
        self._columns = columns
        self._slot: dict[int, int] = {}
        self._codes: U8 = np.empty((8, columns.n_rows), dtype=np.uint8)
        self._n_bins: I32 = np.empty(8, dtype=np.int32)

    def add(self, features: I64) -> None:
        new = np.array(sorted({f for f in features.tolist() if f not in self._slot}), dtype=np.int64)
        first, last = len(self._slot), len(self._slot) + new.shape[0]
        if first == last:
            return
        if last > self._n_bins.shape[0]:
            capacity = max(last, 2 * self._n_bins.shape[0])
            codes = np.empty((capacity, self._codes.shape[1]), dtype=np.uint8)
            codes[:first] = self._codes[:first]
            self._codes = codes
            self._n_bins = np.concatenate([self._n_bins, np.empty(capacity, dtype=np.int32)])[:capacity]
        self._n_bins[first:last] = self._columns.encode(new, self._codes[first:last, :, None])
        self._slot.update(zip(new.tolist(), range(first, last), strict=True))

    def slots(self, features: I64) -> tuple[U8, I64, I32]:
        """All codes (slots, n), the slot of each feature, and the number of bins of each slot."""
        slots = np.array([self._slot[f] for f in features.tolist()], dtype=np.int64)
        return self._codes, slots, self._n_bins

    def column(self, feature: int) -> tuple[U8, int]:
        slot = self._slot[feature]
        return self._codes[slot], int(self._n_bins[slot])
