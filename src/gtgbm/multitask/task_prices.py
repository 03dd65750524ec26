"""Prices of features for tasks that share them, and the set Ω_G of features that any task owns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gtgbm.exact import F64, I64, Bool
from gtgbm.pricing import FeatureCosts, FeatureUnits, SpendingLimits, highest_cost, priced


class SharedFeatures:
    """Features that at least one task owns: the set Ω_G.

    Parameters
    ----------
    units : FeatureUnits
        What is bought together, and what it costs.
    limits : SpendingLimits
        Most features that all tasks together may own, and their highest total cost.

    Attributes
    ----------
    owned : list of int
        Bought features in the order of purchase; of each unit, the one that was bought.
    spent : float
        Cost of the owned features.
    """

    def __init__(self, units: FeatureUnits, limits: SpendingLimits) -> None:
        self.units = units
        self.limits = limits
        self.is_owned: Bool = np.zeros(units.n_features, dtype=np.bool_)
        self.owned: list[int] = []
        self.spent = 0.0

    def own(self, feature: int) -> None:
        """Add a feature with those that are bought together with it, unless it is owned already."""
        if not self.is_owned[feature]:
            self.is_owned[self.units.members(feature)] = True
            self.owned.append(feature)
            self.spent += self.units.cost_of(feature)

    def give_back(self, feature: int) -> None:
        """Remove a feature that no task owns any more."""
        self.is_owned[self.units.members(feature)] = False
        self.owned.remove(feature)
        self.spent -= self.units.cost_of(feature)

    def restore(self, owned: Sequence[int], spent: float) -> None:
        """Own the features of an interrupted fit, in the order of their purchase."""
        for feature in owned:
            self.is_owned[self.units.members(feature)] = True
        self.owned, self.spent = list(owned), spent

    def know(self, other: SharedFeatures) -> None:
        """Replace the owned features by those of another object."""
        self.is_owned[:] = other.is_owned
        self.owned, self.spent = list(other.owned), other.spent


class TaskCosts(FeatureCosts):
    """Prices of one of several tasks: a feature that another task owns costs less.

    Parameters
    ----------
    penalty : float
        μ_t: price of the first use of a feature by this task.
    group_penalty : float
        μ_G: additional price of the first use of a feature by any task.
    limit : int or None
        Most features that this task may own.
    is_sharing : bool
        False if features of other tasks cost the same as new features, so that tasks need not know them.
    """

    def __init__(
        self,
        shared: SharedFeatures,
        penalty: float,
        group_penalty: float,
        limit: int | None,
        *,
        is_sharing: bool,
    ) -> None:
        super().__init__(shared.units, penalty, "root", SpendingLimits(limit))
        self._shared = shared
        self._group_penalty = group_penalty
        self._is_sharing = is_sharing
        self._group_price = 0.0
        # Features that no task owned before the current tree of this task bought them.
        self._first_bought: set[int] = set()

    def start_tree(self, root_sse: float, fixed_point_scale: float, allowed: Bool | None = None) -> None:
        """Set both prices for a tree."""
        super().start_tree(root_sse, fixed_point_scale, allowed)
        self._first_bought.clear()
        # Added before the product, so that two penalties cost exactly as much as one equal to their sum.
        self._group_price = (self._penalty + self._group_penalty) * root_sse

    @property
    def owned_by_other_tasks(self) -> list[int]:
        """Features that other tasks own but this one does not, in the order of purchase."""
        if not self._is_sharing:
            return []
        bought = [feature for feature in self._shared.owned if not self._is_owned[feature]]
        return [one for feature in bought for one in self.units.members(feature).tolist()]

    @property
    def new_price(self) -> float:
        """Lowest price of any feature that the task does not own yet."""
        if self._is_full:
            return np.inf
        has_cheaper = self._is_sharing and len(self._shared.owned) > len(self.owned)
        return min(self._lowest_shared_price(), self.search_price) if has_cheaper else self.search_price

    @property
    def is_known(self) -> Bool:
        """Whether any task owns each feature."""
        return self._shared.is_owned if self._is_sharing else self._is_owned

    def prices(self, features: I64) -> F64:
        """Return the current price of each feature; 0 if this task owns it."""
        shared: F64 | float = np.inf
        new: F64 | float = self.search_price
        if not self._is_full:
            other = self.other_tasks_prices(features)
            shared = self._price if other is None else other
        if self.units.cost is not None:
            new = self._new_prices(features)
        new = np.where(self._shared.is_owned[features], shared, new)
        return np.where(self._is_owned[features], 0.0, new)

    @property
    def _is_full(self) -> bool:
        """Whether the task owns as many features as it may."""
        return self._limits.count is not None and len(self.owned) >= self._limits.count

    @property
    def _search_price(self) -> float:
        return self._group_price

    def _lowest_shared_price(self) -> float:
        """Return the lowest price of a feature that another task owns and this one does not."""
        if self.units.cost is None:
            return self._price
        is_shared = self._shared.is_owned & ~self._is_owned
        lowest = np.min(self.units.cost, where=is_shared, initial=np.inf, keepdims=True)
        return float(priced(self._price, lowest)[0])

    def _highest_cost(self) -> float:
        shared, limits = self._shared, self._shared.limits
        if self._is_full or (limits.count is not None and len(shared.owned) >= limits.count):
            return -1.0
        return highest_cost(shared.spent, limits.cost)

    def buy(self, feature: int) -> None:
        """Add a feature to the owned ones, which makes it cheaper for other tasks."""
        super().buy(feature)
        if not self._shared.is_owned[feature]:
            self._first_bought.add(feature)
        self._shared.own(feature)

    def give_back(self, feature: int) -> None:
        """Undo a purchase of the current tree; other tasks keep the feature if they own it."""
        super().give_back(feature)
        if feature in self._first_bought:
            self._first_bought.remove(feature)
            self._shared.give_back(feature)
