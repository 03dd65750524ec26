"""Chooses how many leaves the trees of the last fit have."""

from __future__ import annotations

from collections.abc import Sequence

from gtgbm.selection.comparison import difference
from gtgbm.selection.folds import MOST_ROWS
from gtgbm.selection.importance import Importance
from gtgbm.selection.judging import Judge

_MOST, _FEWER = 31, (16, 8)
"""Numbers of leaves that are compared. More do not pay on tables of so few rows, and fewer hardly ever do."""


def chosen_leaves(judge: Judge, features: Sequence[Importance], n_rows: int) -> int | None:
    """Return the number of leaves whose models have the lowest loss on unseen rows, or None for the default.

    The larger number is kept unless the loss of a smaller one is lower by a standard error. Many rows support
    larger trees, and are too many to compare numbers on.

    Parameters
    ----------
    features : sequence of dict from Feature to float
        The selected features of each task.
    n_rows : int
        Rows of the largest task, on all workers.
    """
    if n_rows > MOST_ROWS or not any(features):
        return None
    judge.report("leaves")
    most = judge.losses_of_leaves(features, _MOST)
    chosen, lowest = _MOST, 0.0
    for number in _FEWER:
        mean, error = difference(judge.losses_of_leaves(features, number), most, judge.weights)
        if mean >= 0.0:
            break  # Even fewer leaves would be worse still.
        if mean < min(lowest, -error):
            chosen, lowest = number, mean
    return chosen
