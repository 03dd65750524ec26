"""Settings of a fit; the estimators validate them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gtgbm.exact import FALLING, I64, RISING, U8, RowWeights
from gtgbm.pricing import PLAIN, PenaltyScale, SpendingLimits, Units
from gtgbm.search import GroupTestSettings
from gtgbm.tree import TreeLimits

Criterion = Literal["residuals", "newton"]


_MIN_LEAF = 10
_MIN_LEAF_SHARE = 0.1
"""Fewest rows of a leaf unless the user says otherwise, and their largest share of a tiny table. With fewer,
a few features separate the classes of a small table perfectly, and nothing better is ever selected."""
_AUTO_LEAVES = 31
_ROWS_PER_LEAF = 1000
"""Most leaves of a tree on few rows, and rows for each further one: `benchmarks.quality.tree_settings`."""


@dataclass(frozen=True)
class PriceSettings:
    """Prices of features.

    Attributes
    ----------
    penalty : float
        μ: price of the first use of a feature.
    scale : {"root", "absolute"}
        Unit of the penalty; see `FeatureCosts`.
    limits : SpendingLimits
        Most features that may be selected, and their highest total cost.
    above_chance : bool
        Whether a purchase must gain more than the best split of useless features gains by chance.
    drops : bool
        Forward-backward selection: whether more features are bought than allowed, and the least important
        ones dropped.
    units : Units
        What is bought together, what it costs, and what is owned from the start.
    """

    penalty: float
    scale: PenaltyScale
    limits: SpendingLimits
    above_chance: bool = False
    drops: bool = False
    units: Units = PLAIN


@dataclass(frozen=True)
class TreeSettings:
    """Settings of trees; see `TreeLimits`, whose numbers of rows depend on the weights of a round.

    Attributes
    ----------
    l2 : float
        L2 regularization λ of leaf values, in units of weight, or of curvature.
    max_leaf_nodes : int, "auto" or None
        "auto": 31, or a thousandth of the rows if that is more.
    """

    min_node_fraction: float
    min_samples_leaf: int | None
    l2: float
    max_depth: int | None
    max_leaf_nodes: int | Literal["auto"] | None
    revisit_share: float
    longest_backoff: int

    def limits(self, weights: RowWeights) -> TreeLimits:
        """Return the limits of a tree for these sample weights."""
        # With a tolerance: in floats, 0.28 * 100 is slightly more than 28.
        min_node_rows = self.min_node_fraction * weights.total_cells - 1e-9
        n_rows = weights.total_cells / weights.row
        most_leaves = self.max_leaf_nodes
        if most_leaves == "auto":
            most_leaves = max(_AUTO_LEAVES, int(n_rows / _ROWS_PER_LEAF))
        if self.min_samples_leaf is None:
            fewest = min(_MIN_LEAF, n_rows * _MIN_LEAF_SHARE) * weights.row
            min_leaf = max(1, math.ceil(max(min_node_rows / 4, fewest) - 1e-9))
        else:
            min_leaf = max(1, math.ceil(self.min_samples_leaf * weights.row - 1e-9))
        return TreeLimits(
            min_node_rows,
            min_leaf,
            self.l2 * weights.l2_unit,
            _deepest(self.max_depth, most_leaves),
            most_leaves,
            self.revisit_share,
            self.longest_backoff,
            weights.row,
        )


def _deepest(max_depth: int | None, max_leaf_nodes: int | None) -> int | None:
    """Return the maximum depth: with k leaves, no leaf is deeper than k - 1."""
    by_leaves = None if max_leaf_nodes is None else max_leaf_nodes - 1
    return min((depth for depth in (max_depth, by_leaves) if depth is not None), default=None)


@dataclass(frozen=True)
class SearchSettings:
    """Settings of the search for new features.

    Attributes
    ----------
    name : str
        "auto", or a name of `SEARCHES`.
    group_tests : GroupTestSettings
    test_rows : int or None
        Number of rows that group tests use; None: all rows, as in the paper.
    min_test_rows, chance_gain
        See `Screening`.
    """

    name: str
    group_tests: GroupTestSettings
    test_rows: int | None
    min_test_rows: int
    chance_gain: float


@dataclass(frozen=True)
class ColumnSettings:
    """How the columns of the table are read.

    Attributes
    ----------
    max_bins : int
        Most bins of a numeric column.
    categorical : sequence of int
        Categorical columns.
    whole_categories : bool
        Whether a categorical column is one feature, instead of one for each category.
    monotone : sequence of int
        Monotone constraint of each column, 1, -1 or 0; empty: all 0.
    given : sequence of int
        Categorical columns that are owned from the start: they are free and count towards no limit.
    memory_limit : int or None
        Most bytes that the process may take.
    """

    max_bins: int
    categorical: Sequence[int]
    whole_categories: bool
    monotone: Sequence[int]
    given: Sequence[int] = ()
    memory_limit: int | None = None

    def directions(self, n_columns: int) -> U8:
        """Return RISING or FALLING where a column has a monotone constraint, else 0, shape (n_columns,)."""
        directions = np.zeros(n_columns, dtype=np.uint8)
        if len(self.monotone):
            directions[np.array(self.monotone) > 0] = RISING
            directions[np.array(self.monotone) < 0] = FALLING
        return directions


@dataclass(frozen=True)
class RoundSettings:
    """How long to train, and on what share of the table.

    Attributes
    ----------
    n_rounds : int
        Number of rounds of the finished model, including those of a model that is continued.
    patience : int or None
        Early stopping: stop after this many rounds without a better validation result.
    criterion : {"residuals", "newton"}
        Target that splits fit by least squares: the residuals, or the Newton steps of single rows (residual
        divided by curvature), weighted by curvature.
    subsample, colsample : float
        Shares of the rows and columns that a round uses.
    """

    n_rounds: int
    learning_rate: float
    patience: int | None
    criterion: Criterion
    subsample: float
    colsample: float


@dataclass(frozen=True)
class Settings:
    """Settings of one fit.

    Attributes
    ----------
    zero_start : bool
        Whether scores start at 0 instead of the best constant of the loss.
    """

    rounds: RoundSettings
    prices: PriceSettings
    tree: TreeSettings
    search: SearchSettings
    columns: ColumnSettings
    zero_start: bool

    def with_prices(self, prices: PriceSettings) -> Settings:
        """Return the same settings with other prices."""
        return replace(self, prices=prices)

    def with_limit(self, limit: int | None) -> Settings:
        """Return the same settings with another limit on the number of features."""
        return self.with_prices(replace(self.prices, limits=replace(self.prices.limits, count=limit)))

    def with_search(self, name: str) -> Settings:
        """Return the same settings with another search for new features."""
        return replace(self, search=replace(self.search, name=name))

    def with_leaves(self, limit: int) -> Settings:
        """Return the same settings with another limit on the leaves of a tree."""
        return replace(self, tree=replace(self.tree, max_leaf_nodes=limit))

    def buying_nothing(self) -> Settings:
        """Return the same settings, but no feature is bought beside those that are owned from the start."""
        return self.with_limit(0)

    def searched(self, n_columns: int) -> I64:
        """Return the numeric columns that may be used, ascending."""
        may_search = np.ones(n_columns, dtype=np.bool_)
        may_search[list(self.columns.categorical)] = False
        may_search[self.prices.units.forbidden] = False
        return np.flatnonzero(may_search)

    @property
    def categorical(self) -> list[int]:
        """The categorical columns that may be used."""
        forbidden = set(self.prices.units.forbidden.tolist())
        return [column for column in self.columns.categorical if column not in forbidden]
