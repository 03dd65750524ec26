"""The features that the fitted models of tasks use, how many tasks use each, and what they cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from gtgbm.boosting import HistoryEntry, Model
from gtgbm.pricing import Units


class UsedFeature(NamedTuple):
    """A column, or a category of one, that at least one task uses."""

    column: int
    category: Any
    n_tasks: int


def used_features(
    histories: Iterable[Sequence[HistoryEntry]], owned: Sequence[tuple[int, Any]]
) -> list[UsedFeature]:
    """Return the features that tasks use, in the order of `owned`.

    Early stopping may have dropped all trees that used an owned feature; such features are left out.

    Parameters
    ----------
    histories : iterable of sequence of HistoryEntry
        One for each task.
    owned : sequence of (int, category or None)
        Features of all tasks; categories are represented as in the histories.
    """
    # As text, since NaN is a category too and does not equal itself.
    n_tasks = Counter((entry.feature, str(entry.category)) for history in histories for entry in history)
    features = [UsedFeature(column, category, n_tasks[column, str(category)]) for column, category in owned]
    return [feature for feature in features if feature.n_tasks]


def charge(model: Model, units: Units) -> None:
    """Set the costs in the history of a model: a unit of purchase is paid by its first feature."""
    paid: set[tuple[Any, ...]] = set()
    for place, entry in enumerate(model.history):
        unit = _unit(entry, units.group_of(entry.feature))
        model.history[place] = entry._replace(cost=0.0 if unit in paid else units.cost_of(entry.feature))
        paid.add(unit)


def paid_units(
    histories: Iterable[Sequence[HistoryEntry]], groups: Mapping[int, int]
) -> dict[tuple[Any, ...], float]:
    """Return what each unit of purchase costs that any task has bought.

    Parameters
    ----------
    histories : iterable of sequence of HistoryEntry
        One for each task.
    groups : mapping of int to int
        Group of each column; columns that are lacking have none, or -1.
    """
    costs: dict[tuple[Any, ...], float] = {}
    for history in histories:
        for entry in history:
            group = groups.get(entry.feature, -1)
            unit = _unit(entry, None if group < 0 else group)
            costs[unit] = max(costs.get(unit, 0.0), entry.cost)
    return costs


def _unit(entry: HistoryEntry, group: int | None) -> tuple[Any, ...]:
    # As text, since NaN is a category too and does not equal itself.
    return (entry.feature, str(entry.category)) if group is None else (group,)
