"""Units of purchase: what is bought together, and what it costs."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gtgbm.exact import F64, I64, Bool

_ROUNDING = 1e-9
"""Relative error of a sum of costs: three costs of 0.1 are within a budget of 0.3."""


def highest_cost(spent: float, budget: float | None) -> float:
    """Return the highest cost that a budget still allows; None: any finite cost."""
    return sys.float_info.max if budget is None else budget * (1.0 + _ROUNDING) - spent


@dataclass(frozen=True)
class Units:
    """Units of purchase of the columns of a table.

    A column is a unit of its own unless it belongs to a group, which is bought and paid as a whole. Where
    categories are features, each category of a column without a group is a unit, at the cost of the column.

    Attributes
    ----------
    cost : ndarray of float64, shape (columns,), or None
        Cost of the unit of each column, relative to 1; infinite: the column must not be used. None: all 1.
    group : ndarray of int64, shape (columns,), or None
        Group of each column, -1 if it has none; None: there are no groups.
    fixed : tuple of int
        Columns that are owned from the start.
    """

    cost: F64 | None = None
    group: I64 | None = None
    fixed: tuple[int, ...] = ()

    @classmethod
    def of(cls, cost: F64 | None, group: I64 | None, fixed: Sequence[int]) -> Units:
        """Return units in their simplest form: costs of 1 and groups of one column change nothing."""
        if cost is not None and np.all(cost == 1.0):
            cost = None
        if group is not None:
            _, number, size = np.unique(group, return_inverse=True, return_counts=True)
            group = np.where(size[number.ravel()] > 1, group, -1)
            group = group if (group >= 0).any() else None
        return cls(cost, group, tuple(fixed))

    @property
    def forbidden(self) -> I64:
        """Columns that must not be used, ascending."""
        return np.flatnonzero(np.isinf(self.cost)) if self.cost is not None else np.empty(0, dtype=np.int64)

    @property
    def is_plain(self) -> bool:
        """Whether every feature is bought alone and costs the same."""
        return self.cost is None and self.group is None

    def cost_of(self, column: int) -> float:
        """Return the cost of the unit of a column."""
        return 1.0 if self.cost is None else float(self.cost[column])

    def group_of(self, column: int) -> int | None:
        """Return the group of a column; None: it has none."""
        return None if self.group is None or self.group[column] < 0 else int(self.group[column])

    def with_groups(self, columns: Iterable[int]) -> list[int]:
        """Return some columns and the others of their groups, ascending."""
        chosen = set(columns)
        if self.group is not None:
            groups = {group for column in chosen if (group := self.group_of(column)) is not None}
            chosen.update(np.flatnonzero(np.isin(self.group, list(groups))).tolist())
        return sorted(chosen)

    def distinct(self, columns: Iterable[int]) -> list[int]:
        """Return some columns, of each group only the first."""
        first: dict[tuple[int | None, int], int] = {}
        for column in columns:
            group = self.group_of(column)
            first.setdefault((group, column if group is None else -1), column)
        return list(first.values())

    @property
    def fixed_units(self) -> list[int]:
        """Fixed columns, of each group only the first."""
        return self.distinct(self.fixed)

    @property
    def fixed_cost(self) -> float:
        """Cost of all fixed columns together."""
        return float(sum(self.cost_of(column) for column in self.fixed_units))

    @property
    def typical_cost(self) -> float:
        """Median cost of the columns that may be used, without those that cost nothing."""
        if self.cost is None:
            return 1.0
        paid = self.cost[np.isfinite(self.cost) & (self.cost > 0.0)]
        return float(np.median(paid)) if paid.shape[0] else 1.0

    def relative(self) -> Units:
        """Return units whose typical cost is 1, and none is cheaper, for prices at the level of chance.

        What a useless feature gains by chance does not depend on its cost: a cheap one must gain it too.
        """
        return (
            self if self.cost is None else replace(self, cost=np.maximum(self.cost / self.typical_cost, 1.0))
        )

    def within(self, budget: float | None) -> Units:
        """Return units without those that cost more than a budget leaves beside the fixed columns."""
        if budget is None or self.cost is None:
            return self
        is_owned: Bool = np.zeros(self.cost.shape[0], dtype=np.bool_)
        is_owned[self.with_groups(self.fixed)] = True
        may_use = (self.cost <= highest_cost(self.fixed_cost, budget)) | is_owned
        return replace(self, cost=np.where(may_use, self.cost, np.inf))

    def without(self, columns: Sequence[int], n_columns: int) -> Units:
        """Return units of which some columns must not be used."""
        cost = np.ones(n_columns) if self.cost is None else self.cost.copy()
        cost[list(columns)] = np.inf
        return replace(self, cost=cost)

    def with_given_column(self) -> Units:
        """Return the units of a table with one more column, the last, which is not bought."""
        cost = None if self.cost is None else np.append(self.cost, 1.0)
        group = None if self.group is None else np.append(self.group, -1)
        return replace(self, cost=cost, group=group)

    def with_whole(self, columns: Sequence[int], n_columns: int) -> Units:
        """Return units where all categories of each of some columns are bought together."""
        group = np.full(n_columns, -1, dtype=np.int64) if self.group is None else self.group.copy()
        alone = [column for column in columns if group[column] < 0]
        group[alone] = group.max(initial=-1) + 1 + np.arange(len(alone))
        return replace(self, group=group) if alone else self

    def of_features(self, column: I64, is_feature: Bool) -> FeatureUnits:
        """Return the units of features.

        Parameters
        ----------
        column : ndarray of int64, shape (features,)
            Column of each feature.
        is_feature : ndarray of bool, shape (features,)
            False for the number of a column whose categories are features instead.
        """
        cost = None if self.cost is None else self.cost[column]
        group = None if self.group is None else np.where(is_feature, self.group[column], -1)
        return FeatureUnits(column.shape[0], cost, group)


PLAIN = Units()
"""Every feature is bought alone and costs 1."""


@dataclass(frozen=True)
class FeatureUnits:
    """Units of purchase of features: columns, or categories of columns; see `Units`.

    Attributes
    ----------
    n_features : int
    cost : ndarray of float64, shape (n_features,), or None
        Cost of the unit of each feature; None: all 1.
    group : ndarray of int64, shape (n_features,), or None
        Group of each feature, -1 if it has none; None: there are no groups.
    """

    n_features: int
    cost: F64 | None = None
    group: I64 | None = None

    def cost_of(self, feature: int) -> float:
        """Return the cost of the unit of a feature."""
        return 1.0 if self.cost is None else float(self.cost[feature])

    def costs(self, features: I64) -> F64:
        """Return the cost of the unit of each feature."""
        return np.ones(features.shape) if self.cost is None else self.cost[features]

    def members(self, feature: int) -> I64:
        """Return the features that are bought together with a feature, and itself, ascending."""
        if self.group is None or self.group[feature] < 0:
            return np.array([feature], dtype=np.int64)
        return np.flatnonzero(self.group == self.group[feature])
