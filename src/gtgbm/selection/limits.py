"""Limits on what is selected, and which features stay within them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gtgbm.pricing import PLAIN, Units, highest_cost
from gtgbm.selection.features import Feature
from gtgbm.selection.importance import Importance, only, over_tasks, ranked, union

_UnitKey = tuple[int | None, Feature | None]


@dataclass(frozen=True)
class Size:
    """How much is selected, or may be; infinite: no limit.

    Attributes
    ----------
    total, per_task : float
        Number of units of purchase of all tasks together, and of the task with most.
    cost : float
        Cost of the units of all tasks together.
    """

    total: float
    per_task: float
    cost: float

    def exceeds(self, other: Size) -> bool:
        """Whether this is more than another size."""
        return (
            self.total > other.total
            or self.per_task > other.per_task
            or self.cost > highest_cost(0.0, other.cost)
        )

    def at_least(self, other: Size) -> Size:
        """Return the larger of both sizes in each respect."""
        return Size(
            max(self.total, other.total), max(self.per_task, other.per_task), max(self.cost, other.cost)
        )


@dataclass(frozen=True)
class Limits:
    """Most features of all tasks together and of each task, and their cost; None: no limit.

    Attributes
    ----------
    units : Units
        What is selected and paid together. Fixed columns count towards all limits.
    """

    total: int | None
    per_task: int | None
    cost: float | None = None
    units: Units = PLAIN

    @property
    def is_none(self) -> bool:
        """Whether nothing is limited."""
        return self.total is None and self.per_task is None and self.cost is None

    @property
    def n_fixed(self) -> int:
        """Number of units that are owned from the start."""
        return len(self.units.fixed_units)

    @property
    def wanted(self) -> Size:
        """What may be selected beside the fixed columns."""
        return Size(
            math.inf if self.total is None else self.total - self.n_fixed,
            math.inf if self.per_task is None else self.per_task - self.n_fixed,
            math.inf if self.cost is None else max(self.cost - self.units.fixed_cost, 0.0),
        )

    @property
    def n_wanted(self) -> float:
        """Number of units that may be selected, if their costs are typical."""
        wanted = self.wanted
        return min(
            wanted.total,
            wanted.per_task,
            math.ceil(wanted.cost / self.units.typical_cost - 1e-9)
            if math.isfinite(wanted.cost)
            else math.inf,
        )

    def size(self, importance: Sequence[Importance]) -> Size:
        """Return how much the features of tasks are."""
        by_unit = self._by_unit(union(importance))
        cost = sum(self.units.cost_of(features[0].column) for features in by_unit.values())
        return Size(len(by_unit), max(len(self._by_unit(of_task)) for of_task in importance), cost)

    def cut(
        self,
        importance: Sequence[Importance],
        weights: Sequence[float],
        size: Size,
        *,
        by_value: bool = False,
    ) -> list[Importance]:
        """Keep the features that matter most for what they cost, of each task and of all tasks together.

        Parameters
        ----------
        weights : sequence of float
            Weight of each task.
        by_value : bool
            Whether those that matter most are kept, whatever they cost.
        """
        cut = [self.first(of_task, size.per_task, by_value=by_value) for of_task in importance]
        kept = set(self.first(over_tasks(cut, weights), size.total, size.cost, by_value=by_value))
        return only(cut, [kept] * len(cut))

    def first(
        self, importance: Importance, n: float, cost: float = math.inf, *, by_value: bool = False
    ) -> Importance:
        """Return the n units that matter most for what they cost, within a total cost.

        A unit matters as much as its features together. A unit that exceeds the cost is left out, and the
        next ones may still be kept.
        """
        by_unit = self._by_unit(ranked(importance))
        values = {unit: sum(importance[one] for one in features) for unit, features in by_unit.items()}
        costs = {unit: self.units.cost_of(features[0].column) for unit, features in by_unit.items()}
        order = list(by_unit)
        if not self.units.is_plain:
            # The sort is stable: equal units stay in the order of their most important features.
            order.sort(key=lambda unit: -(values[unit] if by_value else _ratio(values[unit], costs[unit])))
        kept: Importance = {}
        spent, n_kept = 0.0, 0
        for unit in order:
            if n_kept >= n:
                break
            if costs[unit] <= highest_cost(spent, cost):
                spent, n_kept = spent + costs[unit], n_kept + 1
                kept |= {feature: importance[feature] for feature in by_unit[unit]}
        return kept

    def whole(self, features: Iterable[Feature], some: set[Feature]) -> set[Feature]:
        """Return those of some features whose units have no others among all `features`."""
        return {
            one for members in self._by_unit(features).values() if set(members) <= some for one in members
        }

    def _by_unit(self, features: Iterable[Feature]) -> dict[_UnitKey, list[Feature]]:
        by_unit: dict[_UnitKey, list[Feature]] = {}
        for feature in features:
            group = self.units.group_of(feature.column)
            by_unit.setdefault((group, feature if group is None else None), []).append(feature)
        return by_unit


def _ratio(value: float, cost: float) -> float:
    return value / cost if cost > 0.0 else math.inf if value > 0.0 else 0.0
