"""Importance of features: which come first, and means over tasks."""

from __future__ import annotations

from collections.abc import Sequence

from gtgbm.selection.features import Feature

Importance = dict[Feature, float]
"""Importance by feature."""


def ranked(importance: Importance) -> Importance:
    """Sort features by importance, and in case of ties by the order of the table."""
    return dict(
        sorted(importance.items(), key=lambda item: (-item[1], item[0].column, str(item[0].category)))
    )


def over_tasks(importance: Sequence[Importance], weights: Sequence[float]) -> Importance:
    """Return the weighted sum of each feature's importance over tasks."""
    total: Importance = {}
    for of_task, weight in zip(importance, weights, strict=True):
        for feature, value in of_task.items():
            total[feature] = total.get(feature, 0.0) + weight * value
    return total


def only(importance: Sequence[Importance], features: Sequence[set[Feature]]) -> list[Importance]:
    """Return what is known of some features of each task."""
    return [
        {feature: value for feature, value in of_task.items() if feature in kept}
        for of_task, kept in zip(importance, features, strict=True)
    ]


def union(importance: Sequence[Importance]) -> set[Feature]:
    """Return the features of all tasks."""
    return set().union(*importance)
