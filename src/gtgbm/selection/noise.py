"""Tells features with any signal from noise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from gtgbm.boosting import Dataset
from gtgbm.data import issparse
from gtgbm.exact import F64, FitContext
from gtgbm.losses import Loss
from gtgbm.pricing import chance_of_gain
from gtgbm.selection.evidence import Evidence, constant_scores
from gtgbm.selection.features import Feature

_MIN_LEAF = 10
"""Fewest rows on each side of a cut, as in the trees."""
_DOUBT = 2.0
"""Features are in doubt if the loss without them rises by less than so many standard errors."""
_PROBABILITY = 0.01
"""Probability that any of the columns of a table of noise seems to have a signal of its own."""
_FALSE = 0.1
"""Share of false discoveries among the features that seem to have a signal of their own."""


@dataclass(frozen=True)
class Doubts:
    """Which features may be noise.

    Attributes
    ----------
    features : set of Feature
        Features that show no signal: neither together with others nor alone.
    anything : bool
        Whether any feature shows a signal that chance does not explain.
    """

    features: set[Feature]
    anything: bool


def doubts(
    features: Iterable[Feature],
    evidence: Evidence,
    rows: Dataset,
    start: F64,
    loss: Loss,
    context: FitContext,
) -> Doubts:
    """Tell which features of a task may be noise.

    Parameters
    ----------
    evidence : Evidence
        Of models that bought their features without seeing the rows they are judged on.
    rows : Dataset
        All rows of the task.
    start : ndarray of float64, shape (k,)
        Constant scores, whose residuals a feature with a signal of its own explains.
    """
    scores = {feature: evidence.z_score(feature) for feature in features}
    # The largest of m standard normal variables is about sqrt(2 log m).
    beyond_chance = 1.0 + math.sqrt(2.0 * math.log(max(2, len(evidence.rise))))
    anything = any(z > beyond_chance for z in scores.values())
    unclear = {feature for feature, z in scores.items() if z < _DOUBT}
    if rows.n_rows < 2 * _MIN_LEAF or (anything and not unclear):
        return Doubts(unclear, anything)
    derivatives = loss.derivatives(constant_scores(start, rows), rows.targets, context)
    residuals = derivatives.residuals * rows.targets.weights.as_floats()
    ranks = np.stack([_ranks(of_score) for of_score in residuals])
    chances = {feature: _chance(_values(rows, feature), ranks) for feature in scores}
    n_columns = rows.table.shape[1]
    anything = anything or min(chances.values(), default=1.0) < _PROBABILITY / n_columns
    return Doubts(unclear - _discovered(chances, n_columns), anything)


def _discovered(chances: dict[Feature, float], n_columns: int) -> set[Feature]:
    """Return features whose signal chance does not explain, of which at most a few are false discoveries.

    The method is that of Benjamini and Hochberg ("Controlling the false discovery rate", 1995): the more
    features have a signal, the weaker one is believed. Columns that are not among the features count as if
    they had none.
    """
    ordered = sorted(chances, key=chances.__getitem__)
    believed = [n for n, feature in enumerate(ordered, 1) if chances[feature] <= _FALSE * n / n_columns]
    return set(ordered[: max(believed, default=0)])


def _values(rows: Dataset, feature: Feature) -> F64:
    """Return the values of a feature, shape (n,); those of a category are 0 and 1."""
    column = rows.table[:, [feature.column]]
    values = np.asarray(column.toarray() if issparse(column) else column, dtype=np.float64).ravel()
    if not feature.is_category:
        return values
    is_equal = np.isnan(values) if feature.category is None else values == feature.category
    return is_equal.astype(np.float64)


def _ranks(values: F64) -> F64:
    """Return the rank of each value, the same for equal values; outliers of ranks cannot look like signal."""
    _, number, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - counts / 2.0)[number.ravel()])


def _chance(values: F64, residuals: F64) -> float:
    """Return the probability that a feature without any signal has a cut as good as the best one.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)
        NaN is larger than any number.
    residuals : ndarray of float64, shape (k, n)
    """
    order, n = np.argsort(values, kind="stable"), values.shape[0]
    ordered = values[order]
    cut = np.arange(_MIN_LEAF, n - _MIN_LEAF + 1)
    # A cut is between different values; NaN differs from itself, but two NaN are not separated.
    left, right = ordered[cut - 1], ordered[cut]
    cut = cut[(left != right) & ~np.isnan(left)]
    if cut.shape[0] == 0:
        return 1.0
    centred = residuals - residuals.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1)
    sums = np.cumsum(centred[:, order], axis=1)[:, cut - 1]
    gains = (sums**2 * (n / (cut * (n - cut)))).max(axis=1)
    gain = float(np.max(gains[variance > 0.0] / variance[variance > 0.0], initial=0.0))
    chance = chance_of_gain(gain, cut.shape[0], _MIN_LEAF / n)
    return float(min(1.0, residuals.shape[0] * chance))
