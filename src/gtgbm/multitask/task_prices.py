"""What features cost tasks that share them: the set Ω_G of what any of them owns lives here."""

from __future__ import annotations

import numpy as np

from gtgbm.exact import F64, I64, Bool
from gtgbm.pricing import FeatureCosts


class SharedFeatures:
    """What all tasks own together: the set Ω_G.

    Parameters
    ----------
    limit : int or None
        Most features that all tasks together may own.
    """

    def __init__(self, n_features: int, limit: int | None) -> None:
        self.limit = n_features if limit is None else limit
        self.is_owned: Bool = np.zeros(n_features, dtype=np.bool_)
        self.owned: list[int] = []

    def own(self, feature: int) -> None:
        """Own a feature, which may be owned already."""
        if not self.is_owned[feature]:
            self.is_owned[feature] = True
            self.owned.append(feature)

    def know(self, other: SharedFeatures) -> None:
        """Own what another one owns, in its order."""
        self.is_owned[:] = other.is_owned
        self.owned = list(other.owned)


class TaskCosts(FeatureCosts):
    """Prices of one task among several: a feature that another one owns costs less.

    Parameters
    ----------
    penalty : float
        μ_t: what the first use of a feature by this task costs.
    group_penalty : float
        μ_G: what the first use of a feature by any task costs on top.
    limit : int or None
        Most features that this task may own.
    is_sharing : bool
        False where others' features cost the same as any other: tasks have nothing to tell each other then.
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
        super().__init__(shared.is_owned.shape[0], penalty, "root", limit)
        self._shared = shared
        self._group_penalty = group_penalty
        self._is_sharing = is_sharing
        self._group_price = 0.0

    def start_tree(self, root_sse: float, fixed_point_scale: float, allowed: Bool | None = None) -> None:
        """Set both prices for a tree."""
        super().start_tree(root_sse, fixed_point_scale, allowed)
        # As one number, so that two penalties cost the same as one of their sum.
        self._group_price = (self._penalty + self._group_penalty) * root_sse

    @property
    def owned_by_other_tasks(self) -> list[int]:
        """Features that only other tasks own, in the order they were bought."""
        if not self._is_sharing:
            return []
        return [feature for feature in self._shared.owned if not self._is_owned[feature]]

    @property
    def new_price(self) -> float:
        """What any feature that the task does not own costs at least."""
        if len(self.owned) >= self._limit:
            return np.inf
        any_offered = self._is_sharing and len(self._shared.owned) > len(self.owned)
        return self._price if any_offered else self.search_price

    @property
    def search_price(self) -> float:
        """What a feature costs that no task owns."""
        within = len(self.owned) < self._limit and len(self._shared.owned) < self._shared.limit
        return self._group_price if within else np.inf

    @property
    def is_known(self) -> Bool:
        """Whether any task owns each feature."""
        return self._shared.is_owned if self._is_sharing else self._is_owned

    def prices(self, features: I64) -> F64:
        """Price of each feature now."""
        within = self._price if len(self.owned) < self._limit else np.inf
        new = np.where(self._shared.is_owned[features], within, self.search_price)
        return np.where(self._is_owned[features], 0.0, new)

    def buy(self, feature: int) -> None:
        """Own a feature from now on; for the others it is cheaper then."""
        super().buy(feature)
        self._shared.own(feature)
