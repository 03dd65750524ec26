"""What the parameters of an estimator say about purchases: costs, groups, fixed features, limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gtgbm.exact import F64, I64
from gtgbm.parameters import Context, Group, column_name
from gtgbm.pricing import SpendingLimits, Units, highest_cost


@dataclass(frozen=True)
class PurchaseParameters:
    """Validated values of the parameters.

    Attributes
    ----------
    costs : ndarray of float64, shape (d,), or None
        `feature_costs`; NaN where a cost is not given.
    groups : list of Group
    fixed : list of int
    """

    costs: F64 | None
    groups: list[Group]
    fixed: list[int]

    def units(self, context: Context, whole: Sequence[int], limits: SpendingLimits) -> Units:
        """Return the units of purchase that limits allow.

        Parameters
        ----------
        context : Context
            Number and names of the columns.
        whole : sequence of int
            Columns whose categories are features: a fixed one of them is owned with all its categories.
        """
        n_features = context.n_features or 0
        units = self.given_units(context)
        if units.cost is not None and np.isinf(units.cost).all():
            raise ValueError("feature_costs forbid all features: give at least one of them a finite cost")
        forbidden = [column for column in self.fixed if np.isinf(units.cost_of(column))]
        if forbidden:
            raise ValueError(
                f"fixed_features has column {column_name(forbidden[0], context)}, whose feature_costs are "
                "infinite: give it a finite cost, or do not fix it"
            )
        fixed_categories = [column for column in self.fixed if column in set(whole)]
        units = units.with_whole(fixed_categories, n_features)
        _check_limits(units, limits, n_features)
        return units.within(limits.cost)

    def given_units(self, context: Context) -> Units:
        """Return the units of purchase, whatever the limits."""
        return Units.of(*self._costs_and_groups(context), self.fixed)

    def _costs_and_groups(self, context: Context) -> tuple[F64 | None, I64 | None]:
        """Return the cost of each column's unit, and the group of each column."""
        cost = None if self.costs is None else np.where(np.isnan(self.costs), 1.0, self.costs)
        if not self.groups:
            return cost, None
        group = np.full(context.n_features or 0, -1, dtype=np.int64)
        for number, members in enumerate(self.groups):
            group[members.columns] = number
            if self.costs is None or cost is None:
                continue
            columns = np.array(members.columns)
            # A forbidden column of a group is left out of it.
            group[columns[np.isinf(self.costs[columns])]] = -1
            columns = columns[~np.isinf(self.costs[columns])]
            given = np.unique(self.costs[columns][~np.isnan(self.costs[columns])])
            if given.shape[0] > 1:
                label = number if members.name is None else repr(members.name)
                remedy = "the same cost" if members.name is None else "the same cost, or one under its name"
                raise ValueError(
                    f"feature_costs has {given[0]:g} and {given[1]:g} for columns of feature_groups[{label}]"
                    f", which is paid once: give the columns of a group {remedy}"
                )
            cost[columns] = given[0] if given.shape[0] else 1.0
        return cost, group


def _check_limits(units: Units, limits: SpendingLimits, n_features: int) -> None:
    """Raise an error if the limits allow less than the fixed features, or nothing at all."""
    n_fixed, fixed_cost = len(units.fixed_units), units.fixed_cost
    if limits.count is not None and limits.count < n_fixed:
        raise ValueError(
            f"n_features_to_select={limits.count} is less than the {n_fixed} fixed_features, which count too"
            ": raise it, or fix fewer features"
        )
    if limits.cost is None:
        return
    if fixed_cost > highest_cost(0.0, limits.cost):
        raise ValueError(
            f"cost_budget={limits.cost:g} is less than the cost {fixed_cost:g} of fixed_features: raise the "
            "budget, fix fewer features, or set feature_costs to 0 for those that are paid already"
        )
    cost = np.ones(n_features) if units.cost is None else units.cost
    if not n_fixed and cost.min() > highest_cost(0.0, limits.cost):
        raise ValueError(
            f"cost_budget={limits.cost:g} is less than the cost {cost.min():g} of the cheapest feature: "
            f"raise it to at least {cost.min():g}, or lower feature_costs"
        )
