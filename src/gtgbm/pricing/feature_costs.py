"""Prices of features, and the set Ω of owned features.

A feature is bought at its first use, which costs the penalty; from then on it is owned and free.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from gtgbm.exact import F64, I64, Bool
from gtgbm.pricing.chance import chance_gain

PenaltyScale = Literal["root", "absolute"]

_PROBABILITY = 0.02
"""Probability that any useless feature gains more than `FeatureCosts.chance_prices` at a node. Targets with
heavy tails exceed it more often."""


class FeatureCosts:
    """Prices of features in units of a tree's gain.

    Parameters
    ----------
    penalty : float
        μ: price of the first use of a feature.
    scale : {"root", "absolute"}
        Unit of the penalty. ``root``: a fraction of the squared error at the tree's root (A-GBM, GT-GBM);
        ``absolute``: squared error (GBFS).
    limit : int or None
        Most features that may be owned; None: no limit.
    above_chance : bool
        Whether a purchase must also gain more than useless features gain by chance.

    Attributes
    ----------
    owned : list of int
        Bought features in the order of purchase.
    """

    def __init__(
        self,
        n_features: int,
        penalty: float,
        scale: PenaltyScale,
        limit: int | None,
        above_chance: bool = False,
    ) -> None:
        self._penalty = penalty
        self.above_chance = above_chance
        self._scale = scale
        self._limit = n_features if limit is None else limit
        self._is_owned: Bool = np.zeros(n_features, dtype=np.bool_)
        self.owned: list[int] = []
        self._price = 0.0
        self._all: Bool = np.ones(n_features, dtype=np.bool_)
        self._allowed: Bool | None = None

    def start_tree(self, root_sse: float, fixed_point_scale: float, allowed: Bool | None = None) -> None:
        """Set the price for a tree, in squared fixed-point units like its gains.

        Parameters
        ----------
        allowed : ndarray of bool, shape (d,), or None
            The features that the tree may use; None: all.
        """
        self._allowed = allowed
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
        """Lowest price of any feature that is not owned yet; infinite once the limit is reached."""
        return self.search_price

    @property
    def search_price(self) -> float:
        """Price of a feature that no task owns yet; infinite once the limit is reached."""
        return self._price if len(self.owned) < self._limit else np.inf

    @property
    def is_known(self) -> Bool:
        """Whether any task owns each feature, shape (d,): owned features need no search."""
        return self._is_owned

    def prices(self, features: I64) -> F64:
        """Return the current price of each feature; 0 if it is owned."""
        return np.where(self._is_owned[features], 0.0, self.new_price)

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
        n_features = int(np.count_nonzero(self.is_allowed & ~self._is_owned))
        # Rounded, so that chance is computed for few different shares.
        shares = np.exp2(np.round(np.log2(np.minimum(leaf_shares, 0.5)) * 4.0) / 4.0)
        gains = [chance_gain(n_features, min(share, 0.5), _PROBABILITY) for share in shares.tolist()]
        return np.asarray(gains) * variances

    def buy(self, feature: int) -> None:
        """Add a feature to the owned ones."""
        assert not self._is_owned[feature], f"feature {feature} is owned already"
        self._is_owned[feature] = True
        self.owned.append(feature)

    def give_back(self, feature: int) -> None:
        """Undo the purchase of a feature by the current tree, which does not use it after all."""
        self._is_owned[feature] = False
        self.owned.remove(feature)
