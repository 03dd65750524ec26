"""How alike columns are: among the selected, and between these and the rejected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from gtgbm.exact import F64, I64, Bool
from gtgbm.explain import absolute_correlations, columns_as_bought
from gtgbm.plots import CorrelationDisplay, columns_of
from gtgbm.report.sample import Sample
from gtgbm.report.svg import Picture, picture

_BLOCK = 256
"""Columns looked at together."""
_MOST_CELLS = 50_000_000
"""Values looked at for correlations: wider tables are compared over fewer rows."""
_FEWEST_ROWS = 500
_BEST_REJECTED = (10, 5)
"""Rejected columns shown: most like the target, and most like what the model leaves unexplained."""
_MOST_NAMES = 30
"""Columns of a group that are named."""
_MOST_DRAWN = 40


@dataclass(frozen=True)
class Likeness:
    """Correlations of all columns, and what else one pass over them shows.

    Attributes
    ----------
    n_rows : int
        Rows they are from.
    selected : ndarray of int64, shape (k,)
        In the order they were bought.
    among : ndarray of float64, shape (k, k)
        Absolute correlations of selected columns; NaN for constant ones.
    closest : ndarray of int64, shape (d,)
        The selected column most like each column, as a position in `selected`; -1: none.
    closeness : ndarray of float64, shape (d,)
        How much: 0 where nothing is known.
    with_target, with_residual : ndarray of float64, shape (d,)
        Correlations with the target and with what the model leaves of it; NaN for rankings.
    is_constant : ndarray of bool, shape (d,)
        One value at most, missing values aside.
    n_missing : ndarray of int64, shape (d,)
    """

    n_rows: int
    selected: I64
    among: F64
    closest: I64
    closeness: F64
    with_target: F64
    with_residual: F64
    is_constant: Bool
    n_missing: I64


def likeness(model: Any, sample: Sample, seed: int) -> Likeness:
    """Go over all columns once, a block at a time."""
    selected, n_columns = columns_as_bought(model), sample.X.shape[1]
    n_rows = min(sample.n_rows, max(_FEWEST_ROWS, _MOST_CELLS // n_columns))
    rows = np.sort(np.random.default_rng(seed).choice(sample.n_rows, n_rows, replace=False))
    chosen = columns_of(sample.numbers, selected)[rows]
    targets, residuals = (one[rows] for one in _targets(sample))
    others = np.hstack([chosen, targets, residuals])
    ends = [chosen.shape[1], chosen.shape[1] + targets.shape[1]]
    found = Likeness(
        n_rows,
        selected,
        absolute_correlations(chosen, chosen),
        np.full(n_columns, -1, dtype=np.int64),
        np.zeros(n_columns),
        np.zeros(n_columns),
        np.zeros(n_columns),
        np.zeros(n_columns, dtype=np.bool_),
        np.zeros(n_columns, dtype=np.int64),
    )
    for begin in range(0, n_columns, _BLOCK):
        block = np.arange(begin, min(begin + _BLOCK, n_columns))
        values = columns_of(sample.numbers, block)
        found.n_missing[block] = np.isnan(values).sum(axis=0)
        low = np.where(np.isnan(values), np.inf, values).min(axis=0)
        high = np.where(np.isnan(values), -np.inf, values).max(axis=0)
        found.is_constant[block] = low >= high
        alike, with_target, with_residual = np.split(
            np.nan_to_num(absolute_correlations(values[rows], others)), ends, axis=1
        )
        found.with_target[block] = with_target.max(axis=1)
        found.with_residual[block] = with_residual.max(axis=1)
        if selected.shape[0]:
            found.closest[block] = np.argmax(alike, axis=1)
            found.closeness[block] = alike.max(axis=1)
    if sample.rows.kind == "relevance":
        # Scores to rank by have no unit: what they leave of relevance means nothing.
        found.with_residual[:] = np.nan
    return found


def _targets(sample: Sample) -> tuple[F64, F64]:
    """Targets as columns, one per class for several, and what the model leaves of them."""
    y, prediction = sample.rows.y, sample.prediction
    if sample.rows.kind == "multiclass":
        y = (y[:, None] == np.arange(prediction.shape[1])).astype(np.float64)
    y, prediction = (one[:, None] if one.ndim == 1 else one for one in (y, prediction))
    return y, y - prediction


@dataclass(frozen=True)
class Rejected:
    """A column that was not selected."""

    name: str
    with_target: float
    with_residual: float
    closest: str
    closeness: float


def best_rejected(found: Likeness, names: Sequence[str]) -> list[Rejected]:
    """Columns left out that are most like the target, or like what the model leaves unexplained."""
    is_out = np.ones(len(names), dtype=np.bool_)
    is_out[found.selected] = False
    out = np.flatnonzero(is_out & ~found.is_constant)
    n_target, n_residual = _BEST_REJECTED
    by_target = out[np.argsort(-found.with_target[out], kind="stable")][:n_target]
    by_residual = out[np.argsort(-found.with_residual[out], kind="stable")][:n_residual]
    if np.isnan(found.with_residual).all():
        by_residual = out[:0]
    return [
        Rejected(
            names[j],
            float(found.with_target[j]),
            float(found.with_residual[j]),
            names[found.selected[found.closest[j]]] if found.closest[j] >= 0 else "",
            float(found.closeness[j]),
        )
        for j in dict.fromkeys([*by_target.tolist(), *by_residual.tolist()])
    ]


@dataclass(frozen=True)
class Group:
    """Columns that are nearly the same: those selected, in order, and others, the most alike first."""

    selected: list[str]
    others: list[str]
    n_columns: int


def groups(found: Likeness, names: Sequence[str], threshold: float) -> list[Group]:
    """Columns that could take each other's place, the largest groups first; each column is in one of them.

    Selected columns are together if they are alike, or both like a third one; other columns go with the
    selected one they are most like.
    """
    is_out = np.ones(len(names), dtype=np.bool_)
    is_out[found.selected] = False
    n_groups, group_of = connected_components(found.among >= threshold, directed=False)
    made = []
    for group in range(n_groups):
        selected = found.selected[group_of == group]
        is_alike = is_out & (found.closeness >= threshold) & (group_of[found.closest] == group)
        alike = np.flatnonzero(is_alike)
        n_columns = selected.shape[0] + alike.shape[0]
        if n_columns > 1:
            alike = alike[np.argsort(-found.closeness[alike], kind="stable")][:_MOST_NAMES]
            made.append(
                Group([names[j] for j in selected.tolist()], [names[j] for j in alike.tolist()], n_columns)
            )
    return sorted(made, key=lambda group: -group.n_columns)


def correlation_picture(found: Likeness, names: Sequence[str]) -> Picture:
    """Draw the selected columns' correlations with each other."""
    drawn = found.selected[:_MOST_DRAWN]
    display = CorrelationDisplay(found.among[:_MOST_DRAWN, :_MOST_DRAWN], [names[j] for j in drawn.tolist()])
    side = 2.4 + 0.24 * max(drawn.shape[0], 4)
    return picture(
        display.plot,
        "Correlations among selected columns",
        "Absolute Pearson correlations, in the order bought. Full cells off the diagonal are columns that "
        "say much the same.",
        size=(side + 0.8, side),
    )
