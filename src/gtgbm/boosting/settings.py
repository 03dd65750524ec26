"""Everything a fit depends on besides its data; the estimators validate it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gtgbm.exact import FALLING, RISING, U8, RowWeights
from gtgbm.pricing import PenaltyScale
from gtgbm.search import GroupTestSettings
from gtgbm.tree import TreeLimits

SearchName = Literal["auto", "group-testing", "exhaustive"]
Criterion = Literal["residuals", "newton"]


@dataclass(frozen=True)
class PriceSettings:
    """What features cost.

    Attributes
    ----------
    penalty : float
        μ: what the first use of a feature costs.
    scale : {"root", "absolute"}
        Unit of the penalty; see `FeatureCosts`.
    limit : int or None
        Most features that may be selected.
    shortlist : float
        Features bought before the best `limit` are kept, as a multiple of that number.
    """

    penalty: float
    scale: PenaltyScale
    limit: int | None
    shortlist: float = 1.0


@dataclass(frozen=True)
class TreeSettings:
    """The shape of trees; see `TreeLimits`, whose numbers of rows follow from the weights of a round."""

    min_node_fraction: float
    min_samples_leaf: int | None
    max_depth: int | None
    revisit_share: float
    longest_backoff: int

    def limits(self, weights: RowWeights) -> TreeLimits:
        """Limits of a tree over rows of some weights."""
        # 0.28 * 100 is a little more than 28 in floats, and should not be.
        min_node_rows = self.min_node_fraction * weights.total_cells - 1e-9
        if self.min_samples_leaf is None:
            min_leaf = max(1, math.ceil(min_node_rows / 4))
        else:
            min_leaf = max(1, math.ceil(self.min_samples_leaf * weights.row - 1e-9))
        return TreeLimits(min_node_rows, min_leaf, self.max_depth, self.revisit_share, self.longest_backoff)


@dataclass(frozen=True)
class SearchSettings:
    """How new features are searched for.

    Attributes
    ----------
    name : {"auto", "group-testing", "exhaustive"}
    group_tests : GroupTestSettings
    test_rows : int or None
        Rows a group test looks at; None: all rows, the paper's algorithm.
    min_test_rows, chance_gain
        See `Screening`.
    """

    name: SearchName
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
        Bins of a column of numbers.
    categorical : sequence of int
        Columns that hold categories.
    whole_categories : bool
        Whether a categorical column is one feature, instead of one for each category.
    monotone : sequence of int
        1, -1 or 0 for each column; empty: all 0.
    """

    max_bins: int
    categorical: Sequence[int]
    whole_categories: bool
    monotone: Sequence[int]

    def directions(self, n_columns: int) -> U8:
        """RISING or FALLING where a column has a monotone constraint, else 0, shape (n_columns,)."""
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
        Rounds of the finished model, those it has already included.
    patience : int or None
        Rounds without a better validation result after which to stop.
    criterion : {"residuals", "newton"}
        What a tree's splits fit by least squares: the residuals, or Newton's steps of single rows, residual
        over curvature, each row weighing as much as its curvature.
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
        Whether scores start from 0 instead of the loss's best constant.
    """

    rounds: RoundSettings
    prices: PriceSettings
    tree: TreeSettings
    search: SearchSettings
    columns: ColumnSettings
    zero_start: bool

    def with_prices(self, prices: PriceSettings) -> Settings:
        """Return the same with other prices."""
        return replace(self, prices=prices)

    def with_limit(self, limit: int | None) -> Settings:
        """Return the same with another limit on the number of features."""
        return self.with_prices(replace(self.prices, limit=limit))
