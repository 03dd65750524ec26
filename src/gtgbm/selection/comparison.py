"""Compares losses on rows that models were not trained on."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gtgbm.exact import F64
from gtgbm.selection.folds import N_FOLDS

Losses = Sequence[Sequence[F64]]
"""By task and model, what each held-out row or query adds to the mean loss."""
_CLEARLY = 2.0
"""Standard errors by which a loss must be lower: several are compared, and chance favours one of them."""


def difference(losses: Losses, others: Losses, weights: Sequence[float]) -> tuple[float, float]:
    """Return the mean difference of losses over weighted tasks, and its standard error."""
    mean, variance = 0.0, 0.0
    for mine, theirs, weight in zip(losses, others, weights, strict=True):
        differences = np.concatenate(mine) - np.concatenate(theirs)
        mean += weight * float(differences.sum()) / len(mine)
        # Models of the same fold have the same rows: only different folds are independent.
        variance += weight**2 * float(differences @ differences) / (len(mine) * min(len(mine), N_FOLDS))
    return mean, math.sqrt(variance)


def is_clearly_lower(losses: Losses, others: Losses, weights: Sequence[float]) -> bool:
    """Whether losses are lower than others by more than chance explains."""
    mean, error = difference(losses, others, weights)
    return mean < -_CLEARLY * error
