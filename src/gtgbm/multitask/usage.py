"""The features that the fitted models of tasks use, and how many tasks use each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from gtgbm.boosting import HistoryEntry


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
