"""Prices of features, and the set Ω of owned features.

A feature is bought at its first use, which costs the penalty; from then on it is owned and free. Features of
one unit are bought together, and a unit costs a multiple of the penalty (`units`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gtgbm.exact import F64, I64, Bool
from gtgbm.pricing.chance import chance_gain
from gtgbm.pricing.units import FeatureUnits, highest_cost

PenaltyScale = Literal["root", "absolute"]

_PROBABILITY = 0.02
"""Probability that any useless feature gains more than `FeatureCosts.chance_prices` at a node. Targets with
heavy tails exceed it more often."""


@dataclass(frozen=True)
class SpendingLimits:
    """Limits on what is bought; None: no limit.

    Attributes
    ----------
    count : int or None
        Most units that may be owned.
    cost : float or None
        Highest total cost of the units that are owned.
    """

    count: int | None = None
    cost: float | None = None


class FeatureCosts:
    """Prices of features in units of a tree's gain.

    Parameters
    ----------
    units : FeatureUnits
        What is bought together, and what it costs relative to 1.
    penalty : float
        μ: price of the first use of a feature of cost 1.
    scale : {"root", "absolute"}
        Unit of the penalty. ``root``: a fraction of the squared error at the tree's root (A-GBM, GT-GBM);
        ``absolute``: squared error (GBFS).
    limits : SpendingLimits
    above_chance : bool
        Whether a purchase must also gain more than useless features gain by chance.

    Attributes
    ----------
    owned : list of int
        Bought features in the order of purchase; of each unit, the one that was bought.
    """

    def __init__(
        self,
        units: FeatureUnits,
        penalty: float,
        scale: PenaltyScale,
        limits: SpendingLimits,
        above_chance: bool = False,
    ) -> None:
        self.units = units
        self._penalty = penalty
        self.above_chance = above_chance
        self._scale = scale
        self._limits = limits
        self._is_owned: Bool = np.zeros(units.n_features, dtype=np.bool_)
        self.owned: list[int] = []
        self._spent = 0.0
        self._lowest: float | None = None
        self._price = 0.0
        self._typical_chance = 0.0
        self._all: Bool = np.ones(units.n_features, dtype=np.bool_)
        self._allowed: Bool | None = None

    def start_tree(self, root_sse: float, fixed_point_scale: float, allowed: Bool | None = None) -> None:
        """Set the price for a tree, in squared fixed-point units like its gains.

        Parameters
        ----------
        allowed : ndarray of bool, shape (d,), or None
            The features that the tree may use; None: all.
        """
        self._allowed = allowed
        self._lowest = None
        unit = root_sse if self._scale == "root" else fixed_point_scale**2
        self._price = self._penalty * unit

    @property
    def is_allowed(self) -> Bool:
        """Whether the tree may use each feature, shape (d,)."""
        return self._all if self._allowed is None else self._allowed

    @property
    def is_owned(self) -> Bool:
        """Whether each feature is owned, shape (d,)."""
        return self._is_owned

    @property
    def owned_by_other_tasks(self) -> list[int]:
        """Features that other tasks own but this one does not, in the order of purchase."""
        return []

    @property
    def new_price(self) -> float:
        """Lowest price of any feature that is not owned yet; infinite once a limit is reached."""
        return self.search_price

    @property
    def search_price(self) -> float:
        """Lowest price of a feature that no task owns yet; infinite once a limit is reached."""
        if self._lowest is None:
            self._lowest = self._lowest_price()
        return self._lowest

    @property
    def is_known(self) -> Bool:
        """Whether any task owns each feature, shape (d,): owned features need no search."""
        return self._is_owned

    def prices(self, features: I64) -> F64:
        """Return the current price of each feature; 0 if it is owned."""
        new = self.search_price if self.units.cost is None else self._new_prices(features)
        return np.where(self._is_owned[features], 0.0, new)

    def start_level(self, by_chance: F64 | None) -> None:
        """Note what useless features gain by chance at the nodes of a level; None: it does not matter."""
        self._typical_chance = 0.0 if by_chance is None else float(np.median(by_chance))

    def search_prices(self, features: I64) -> F64 | None:
        """Return what each feature must gain at a typical node of the level, were it owned by no task.

        None: it is the same for all.
        """
        if self.units.cost is None:
            return None
        return self._new_prices(features) + self._typical_chance * self.chance_factors(features)

    def net_gains(self, features: I64, gains: F64, *, of_other_tasks: bool = False) -> F64:
        """Return gains of features that no task or another task owns, minus prices as far as they differ."""
        prices = (self.other_tasks_prices if of_other_tasks else self.search_prices)(features)
        return gains if prices is None else np.where(features < 0, gains, gains - prices)

    def other_tasks_prices(self, features: I64) -> F64 | None:
        """Return the price of each feature, were it owned by another task; None: it is the same for all."""
        return None if self.units.cost is None else priced(self._price, self.units.costs(features))

    def chance_factors(self, features: I64) -> F64:
        """Return the factor on what each feature must gain beyond chance: its cost, but at least 1."""
        costs = self.units.costs(features)
        return np.where(np.isinf(costs), 1.0, np.maximum(costs, 1.0))

    def give(self, feature: int) -> None:
        """Make a feature owned that was not bought: it is free and does not count towards the limit."""
        self._is_owned[feature] = True

    def chance_prices(self, variances: F64, leaf_shares: F64) -> F64:
        """Return what the best of the features that are not owned gains at nodes by chance, shape (nodes,).

        Parameters
        ----------
        variances : ndarray of float64, shape (nodes,)
            Squared error per row.
        leaf_shares : ndarray of float64, shape (nodes,)
            Smallest share of the rows of a node that a child may have.
        """
        is_new = self.is_allowed & ~self._is_owned
        if self.units.cost is not None:
            is_new &= np.isfinite(self.units.cost)
        n_features = int(np.count_nonzero(is_new))
        # Rounded, so that chance is computed for few different shares.
        shares = np.exp2(np.round(np.log2(np.minimum(leaf_shares, 0.5)) * 4.0) / 4.0)
        gains = [chance_gain(n_features, min(share, 0.5), _PROBABILITY) for share in shares.tolist()]
        return np.asarray(gains) * variances

    def buy(self, feature: int) -> None:
        """Add a feature to the owned ones, with all features that are bought together with it."""
        assert not self._is_owned[feature], f"feature {feature} is owned already"
        self._is_owned[self.units.members(feature)] = True
        self.owned.append(feature)
        self._spend(self.units.cost_of(feature))

    def give_back(self, feature: int) -> None:
        """Undo the purchase of a feature by the current tree, which does not use it after all."""
        self._is_owned[self.units.members(feature)] = False
        self.owned.remove(feature)
        self._spend(-self.units.cost_of(feature))

    @property
    def spent(self) -> float:
        """Cost of the owned features."""
        return self._spent

    def restore(self, owned: Sequence[int], spent: float) -> None:
        """Own the features of an interrupted fit, in the order of their purchase."""
        for feature in owned[len(self.owned) :]:
            self._is_owned[self.units.members(feature)] = True
        self.owned, self._spent, self._lowest = list(owned), spent, None

    def _spend(self, cost: float) -> None:
        self._spent += cost
        self._lowest = None

    @property
    def _search_price(self) -> float:
        """Price of a feature of cost 1 that no task owns."""
        return self._price

    def _lowest_price(self) -> float:
        cost = 1.0
        if self.units.cost is not None:
            cost = float(np.min(self.units.cost, where=~self.is_known, initial=np.inf))
        return self._search_price * cost if cost <= self._highest_cost() else np.inf

    def _new_prices(self, features: I64) -> F64:
        """Return the price of each feature, were it owned by no task."""
        costs = self.units.costs(features)
        return np.where(costs <= self._highest_cost(), priced(self._search_price, costs), np.inf)

    def _highest_cost(self) -> float:
        """Return the highest cost of a unit that no task owns and that may be bought; below 0: none may."""
        if self._limits.count is not None and len(self.owned) >= self._limits.count:
            return -1.0
        return highest_cost(self._spent, self._limits.cost)


def priced(price: float, costs: F64) -> F64:
    """Return a price times costs, of which infinite ones stay infinite at a price of 0."""
    return np.where(np.isinf(costs), np.inf, price * np.where(np.isinf(costs), 0.0, costs))
