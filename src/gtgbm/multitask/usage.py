"""Which of the features that tasks own are in use, and by how many tasks."""

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
    """Return features in the order of `owned`; early stopping may have dropped some of those once owned.

    Parameters
    ----------
    histories : iterable of sequence of HistoryEntry
        One for each task.
    owned : sequence of (int, category or None)
        Features of all tasks, categories named as in the histories.
    """
    # A category that is NaN does not equal itself, its text does.
    n_tasks = Counter((entry.feature, str(entry.category)) for history in histories for entry in history)
    found = [UsedFeature(*one, n_tasks[one[0], str(one[1])]) for one in owned]
    return [one for one in found if one.n_tasks]
