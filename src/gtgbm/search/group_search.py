"""The search of GT-GBM: tests on sampled rows find candidates, which are screened, then measured exactly."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial

import numpy as np

from gtgbm.data import BinnedColumn, Columns, MemoryCodes
from gtgbm.exact import F64, I32, I64, U8, Bool, FitContext
from gtgbm.pricing import FeatureCosts
from gtgbm.search.base import SearchState
from gtgbm.search.candidates import CandidateColumns, RowSample, SideTerms, store_of
from gtgbm.search.group_tests import GroupTests
from gtgbm.search.trend_tests import TrendTests
from gtgbm.tree import Level, Splits, TreeContext, measure_pairs

_TREES_REMEMBERED = 5
"""Number of searched trees that the recent best gain is taken from."""
_GAIN_MARGIN = 1.5
"""A node is searched if this many times the recent best gain would be enough (docs/group-testing.md)."""
_UNKNOWN_GAIN = 1e100
"""Recent best gain before the first tree, so that every node is searched."""
SCREENING_CODES = 64
"""Number of bins of a candidate's column on the sample, which needs only coarse codes."""
_TREND_SHARE = 0.3
"""Trend tests are used at nodes with at least this share of the rows, group tests at smaller nodes. A trend
test costs the same at every node, and the trends of a small node are mostly noise."""
_MEASURED = 2
"""Most candidates of a node that are measured on all rows, after the second screening has ranked them."""

_Pairs = tuple[I64, I64]
"""Places of nodes, and features: candidates of the nodes."""


@dataclass(frozen=True)
class Screening:
    """How candidates are screened before their whole columns are measured.

    Attributes
    ----------
    by_tests : bool
        Whether to drop candidates whose gain on the test rows, minus the gain expected by chance, is too
        small. The paper's algorithm tests all rows and does not screen.
    min_test_rows : int
        Nodes with fewer test rows are not searched: too few rows to tell signal from noise.
    chance_gain : float
        Gain by chance of the best split of an irrelevant feature, in units of the node's residual variance.
    """

    by_tests: bool
    min_test_rows: int
    chance_gain: float


class GroupSearch:
    """Proposes the features that trend tests find at large nodes, and group tests at others.

    A node is not searched if a new feature would have to gain more, relative to the node's squared error,
    than the best candidates of recent trees. Late trees therefore search only a few large nodes.

    Parameters
    ----------
    tests : GroupTests
    trends : TrendTests or None
        None: group tests are used at all nodes.
    directions : ndarray of uint8, shape (d,)
        RISING or FALLING where a column has a monotone constraint, else 0.
    """

    def __init__(
        self,
        columns: Columns,
        tests: GroupTests,
        trends: TrendTests | None,
        screening: Screening,
        directions: U8,
        context: FitContext,
    ) -> None:
        self._directions = directions
        self.n_columns = columns.n_columns
        self._columns = columns
        self._tests = tests
        self._screening = screening
        self._timings = context.timings
        self._n_rows = columns.shard.n_total
        self._tested = RowSample(tests.rows, columns.shard)
        self._whole = CandidateColumns(columns.n_columns, columns.encode, store_of(columns))
        self._trends = trends
        self._trend_rows = None if trends is None else RowSample(trends.rows, columns.shard)
        # The rows that thresholds are computed from screen candidates again before whole columns are encoded.
        sample = columns.sample
        has_sample = screening.by_tests and sample.shape[0] < self._n_rows
        self._sample = RowSample(sample, columns.shard) if has_sample else None
        coarse_codes = partial(_coarse_codes, columns)
        self._sampled = CandidateColumns(columns.n_columns, coarse_codes, MemoryCodes(sample.shape[0]))
        self._recent_gains: deque[float] = deque([_UNKNOWN_GAIN], maxlen=_TREES_REMEMBERED)

    def start_tree(self, tree: TreeContext, costs: FeatureCosts) -> None:
        """Start the tree's record of gains, and re-draw subsets if they are due."""
        self._recent_gains.append(0.0)
        with self._timings.stage("dealing"):
            residuals = tree.cells.gradients(self._tested.cells(tree))
            self._tests.start_tree(residuals, costs)

    def may_find(self, level: Level, nodes: I64, costs: FeatureCosts) -> Bool:
        """Whether each node has enough test rows, and enough squared error for the recent best gain."""
        return self._is_searched(level, nodes, np.zeros(nodes.shape[0]), costs)

    def _is_searched(self, level: Level, nodes: I64, floor: F64, costs: FeatureCosts) -> Bool:
        expected = level.size[nodes] * (self._tested.rows.shape[0] / self._n_rows)
        is_searched: Bool = expected >= self._screening.min_test_rows
        if self._screening.by_tests:
            likely = _GAIN_MARGIN * max(self._recent_gains)
            needed = floor + costs.search_price
            # The root is always searched, or the search would never resume after a few fruitless trees.
            is_searched &= (needed <= likely * level.sse[nodes]) | (level.depth[nodes] == 0)
        return is_searched

    def propose(
        self, tree: TreeContext, level: Level, nodes: I64, floor: F64, costs: FeatureCosts
    ) -> tuple[I64, Splits]:
        """Search nodes, and measure the candidates that pass the screening on all rows of the node."""
        is_searched = self._is_searched(level, nodes, floor, costs)
        nodes, floor = nodes[is_searched], floor[is_searched]
        if nodes.shape[0] == 0:
            return nodes, Splits.none(0)
        is_large = self._is_large(level, nodes)
        grouped = self._candidates(tree, level, nodes, np.flatnonzero(~is_large), floor, costs)
        trending = self._trending(tree, level, nodes, np.flatnonzero(is_large), costs)
        row, features = (np.concatenate(parts) for parts in zip(grouped, trending, strict=True))
        if row.shape[0] and self._sample is not None:
            with self._timings.stage("second screening"):
                row, features = self._screen_again(tree, level, nodes, floor, (row, features), costs)
        if row.shape[0] == 0:
            return nodes[:0], Splits.none(0)
        return nodes, self._measure(tree, level, nodes, (row, features), costs)

    def _is_large(self, level: Level, nodes: I64) -> Bool:
        if self._trends is None:
            return np.zeros(nodes.shape[0], dtype=np.bool_)
        is_large: Bool = level.size[nodes] >= _TREND_SHARE * self._n_rows
        return is_large

    def _candidates(
        self, tree: TreeContext, level: Level, nodes: I64, place: I64, floor: F64, costs: FeatureCosts
    ) -> tuple[I64, I64]:
        """Return candidates by group tests at ``nodes[place]``, as pairs of a place and a feature."""
        if place.shape[0] == 0:
            return place, place
        nodes = nodes[place]
        with self._timings.stage("group tests"):
            tested = self._tested.of(tree, level, nodes)
            terms = self._terms(tree, self._tested)
            feature, gain = self._tests.search(tested, tree.cells.format, terms, costs)
        with self._timings.stage("screening"):
            kept = ~costs.is_known[feature] & costs.is_allowed[feature]
            if self._screening.by_tests:
                needed = floor[place, None] + _prices(costs, feature)
                kept &= self._estimate(level, nodes, tested.n_rows, gain) > needed
            row, features = _distinct_pairs(kept, feature, self.n_columns)
        return place[row], features

    def _trending(
        self, tree: TreeContext, level: Level, nodes: I64, place: I64, costs: FeatureCosts
    ) -> tuple[I64, I64]:
        """Return candidates by trend tests at ``nodes[place]``, as pairs of a place and a feature."""
        if place.shape[0] == 0 or self._trends is None or self._trend_rows is None:
            return place[:0], place[:0]
        with self._timings.stage("trend tests"):
            sampled = self._trend_rows.of(tree, level, nodes[place])
            is_excluded = (costs.is_known | ~costs.is_allowed)[: self.n_columns]
            # As a share of the total weight, since `min_leaf` is in units of the weights.
            least_share = tree.min_leaf / max(tree.cells.total[1], 1)
            # Prices are those of all rows; the trends are those of a sample of them.
            price = costs.search_prices(self._trends.features)
            share = self._trend_rows.rows.shape[0] / self._n_rows
            features = self._trends.search(
                sampled, is_excluded, tree.cells, least_share, None if price is None else price * share
            )
            row, candidate = np.nonzero(features >= 0)
        return place[row], features[row, candidate]

    def take_column(self, feature: int) -> BinnedColumn:
        """Return the column of a feature just bought."""
        slot = int(self._whole.slots(np.array([feature]))[0])
        codes, n_bins = self._whole.codes[slot], int(self._whole.n_bins[slot])
        return BinnedColumn(codes, n_bins, self._columns.thresholds(feature))

    def return_column(self, feature: int) -> None:
        """Do nothing: prices tell which features are owned, and codes of candidates are kept."""

    def state(self) -> SearchState:
        """Return recent gains, and the subsets under test."""
        return SearchState(list(self._recent_gains), *self._tests.state())

    def restore(self, state: SearchState | None) -> None:
        """Continue from the state of an interrupted fit."""
        assert state is not None
        self._recent_gains = deque(state.recent_gains, maxlen=_TREES_REMEMBERED)
        self._tests.restore(state.n_trees, state.members, state.signs, state.random)

    def _terms(self, tree: TreeContext, sample: RowSample) -> SideTerms:
        # The same share of the rows on each side as for a split of all rows, and the same shrinkage.
        n_sampled = sample.rows.shape[0]
        min_leaf = max(1, int(tree.min_leaf * n_sampled / self._n_rows))
        return SideTerms(min_leaf, tree.limits.l2 * (n_sampled / self._n_rows))

    def _estimate(self, level: Level, nodes: I64, sampled: I64, gain: F64) -> F64:
        """Estimate gains (nodes, c) on all rows from gains on sampled rows, minus the gain by chance."""
        rows = level.n_rows[nodes]
        variance = level.sse[nodes] / rows
        # With all rows sampled, the gain is exact.
        chance = self._screening.chance_gain * (1.0 - sampled / rows) * variance
        scale = rows / np.maximum(sampled, 1)
        return np.asarray((gain - chance[:, None]) * scale[:, None])

    def _screen_again(
        self, tree: TreeContext, level: Level, nodes: I64, floor: F64, pairs: _Pairs, costs: FeatureCosts
    ) -> _Pairs:
        """Keep the best few pairs of each node whose gain on the larger sample is large enough."""
        assert self._sample is not None
        row, features = pairs
        columns = self._sampled.pairs(features, self._directions)
        sampled = self._sample.of(tree, level, nodes)
        gain = sampled.gains(tree, row, columns, self._terms(tree, self._sample))
        estimate = self._estimate(level, nodes[row], sampled.n_rows[row], gain[:, None])[:, 0]
        order = np.lexsort((features, -costs.net_gains(features, estimate), row))
        rank = np.arange(row.shape[0]) - np.searchsorted(row[order], row[order])
        is_enough = estimate > floor[row] + _prices(costs, features)
        confirmed = order[(rank < _MEASURED) & is_enough[order]]
        return row[confirmed], features[confirmed]

    def _measure(
        self, tree: TreeContext, level: Level, nodes: I64, pairs: _Pairs, costs: FeatureCosts
    ) -> Splits:
        """Return the best split over the candidates of each node, on all of its rows."""
        row, features = pairs
        with self._timings.stage("binning"):
            columns = self._whole.pairs(features, self._directions)
        node = nodes[row]
        with self._timings.stage("candidates"):
            gain, bins, side = measure_pairs(tree, level, node, columns)
        self._whole.release()
        self._recent_gains[-1] = max(self._recent_gains[-1], float(np.max(gain / level.sse[node])))
        # Ascending gain, since later assignments overwrite earlier ones: ties go to the lowest feature.
        order = np.lexsort((-features, costs.net_gains(features, gain)))
        splits = Splits.none(nodes.shape[0])
        splits.put(
            row[order], Splits(features[order], np.maximum(gain[order], 0.0), bins[order], side[order])
        )
        return splits


def _prices(costs: FeatureCosts, features: I64) -> F64 | float:
    """Return the price of each of some features that no task owns; one number if all have the same."""
    prices = costs.search_prices(features)
    return costs.search_price if prices is None else prices


def _distinct_pairs(kept: Bool, feature: I64, n_features: int) -> tuple[I64, I64]:
    """Return row and feature of the kept entries, without duplicate pairs, sorted by row."""
    row, subset = np.nonzero(kept)
    pairs = np.unique(row * n_features + feature[row, subset])
    return pairs // n_features, pairs % n_features


def _coarse_codes(columns: Columns, features: I64, out: U8) -> I32:
    """Write coarse codes of the sampled rows into `out` (features, rows, 1); return numbers of bins."""
    columns.rank_codes(features, columns.sample, SCREENING_CODES, out[:, :, 0])
    return np.full(features.shape[0], SCREENING_CODES, dtype=np.int32)
