"""Associations of columns with the selected ones, with the target and with the residuals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from gtgbm.exact import F64, I64, Bool
from gtgbm.explain import associations, columns_as_bought
from gtgbm.plots import CorrelationDisplay, columns_of
from gtgbm.report.sample import Sample
from gtgbm.report.svg import Picture, picture

_BLOCK = 1024
"""Columns per matrix product. All selected columns are prepared anew for each."""
_MOST_CELLS = 50_000_000
"""Maximum number of values for associations: wider tables use fewer rows."""
_FEWEST_ROWS = 500
_BEST_REJECTED = (10, 5)
"""Number of columns shown by their association with the target, and with the residuals."""
_MOST_NAMES = 30
"""Maximum number of columns of a group that are listed."""
_MOST_DRAWN = 20
_NARROWEST = 4.6
"""Inches of the picture of associations: less would leave no room beside long names."""


@dataclass(frozen=True)
class Similarity:
    """Associations, constant columns and missing values, from one pass over all columns.

    Attributes
    ----------
    n_rows : int
        Number of rows used for associations.
    selected : ndarray of int64, shape (k,)
    among : ndarray of float64, shape (k, k)
        Associations among the selected columns; NaN for constant ones.
    closest : ndarray of int64, shape (d,)
        The selected column with the largest association, as a position in `selected`; -1: none.
    closeness : ndarray of float64, shape (d,)
        Association with that column; 0 if it is unknown.
    with_target, with_residual : ndarray of float64, shape (d,)
        Associations with the target and with the residuals; the latter are NaN for rankings.
    is_constant : ndarray of bool, shape (d,)
        Whether a column has at most one distinct value, apart from missing values.
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


def measure_similarity(model: Any, sample: Sample, seed: int) -> Similarity:
    """Compute the associations of all columns, a block of columns at a time."""
    selected, n_columns = columns_as_bought(model), sample.X.shape[1]
    n_rows = min(sample.n_rows, max(_FEWEST_ROWS, _MOST_CELLS // n_columns))
    rows = np.sort(np.random.default_rng(seed).choice(sample.n_rows, n_rows, replace=False))
    selected_values = columns_of(sample.numbers, selected)[rows]
    targets, residuals = (values[rows] for values in _targets_and_residuals(sample))
    others = np.hstack([selected_values, targets, residuals])
    is_category = sample.is_category
    kinds = np.zeros(others.shape[1], dtype=np.bool_)
    kinds[: selected_values.shape[1]] = is_category[selected]
    ends = [selected_values.shape[1], selected_values.shape[1] + targets.shape[1]]
    similarity = Similarity(
        n_rows,
        selected,
        np.full((selected.shape[0], selected.shape[0]), np.nan),
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
        similarity.n_missing[block] = np.isnan(values).sum(axis=0)
        low = np.where(np.isnan(values), np.inf, values).min(axis=0)
        high = np.where(np.isnan(values), -np.inf, values).max(axis=0)
        similarity.is_constant[block] = low >= high
        found = associations(values[rows], others, is_category[block], kinds)
        is_here = (selected >= begin) & (selected < begin + _BLOCK)
        similarity.among[is_here] = found[selected[is_here] - begin, : selected.shape[0]]
        with_selected, with_target, with_residual = np.split(np.nan_to_num(found), ends, axis=1)
        similarity.with_target[block] = with_target.max(axis=1)
        similarity.with_residual[block] = with_residual.max(axis=1)
        if selected.shape[0]:
            similarity.closest[block] = np.argmax(with_selected, axis=1)
            similarity.closeness[block] = with_selected.max(axis=1)
    if sample.rows.kind == "relevance":
        # The scores of a ranker are not on the scale of relevance, so there are no residuals.
        similarity.with_residual[:] = np.nan
    return similarity


def _targets_and_residuals(sample: Sample) -> tuple[F64, F64]:
    """Return targets and residuals as columns, one per task, and per class for more than two classes."""
    y, prediction = sample.rows.y, sample.prediction
    if sample.rows.kind == "multiclass":
        is_class = y[..., None] == np.arange(prediction.shape[-1])
        y = np.where(np.isnan(y)[..., None], np.nan, is_class.astype(np.float64))
    y, prediction = (values.reshape(values.shape[0], -1) for values in (y, prediction))
    return y, y - prediction


@dataclass(frozen=True)
class Rejected:
    """A column that was not selected."""

    name: str
    with_target: float
    with_residual: float
    closest: str
    closeness: float


def best_rejected(similarity: Similarity, names: Sequence[str]) -> list[Rejected]:
    """Return the columns not selected with the largest associations with the target or the residuals."""
    is_out = np.ones(len(names), dtype=np.bool_)
    is_out[similarity.selected] = False
    out = np.flatnonzero(is_out & ~similarity.is_constant)
    n_target, n_residual = _BEST_REJECTED
    by_target = out[np.argsort(-similarity.with_target[out], kind="stable")][:n_target]
    by_residual = out[np.argsort(-similarity.with_residual[out], kind="stable")][:n_residual]
    if np.isnan(similarity.with_residual).all():
        by_residual = out[:0]
    return [
        Rejected(
            names[j],
            float(similarity.with_target[j]),
            float(similarity.with_residual[j]),
            names[similarity.selected[similarity.closest[j]]] if similarity.closest[j] >= 0 else "",
            float(similarity.closeness[j]),
        )
        for j in dict.fromkeys([*by_target.tolist(), *by_residual.tolist()])
    ]


@dataclass(frozen=True)
class Group:
    """Similar columns: the selected ones in order, and others by decreasing association."""

    selected: list[str]
    others: list[str]
    n_columns: int


def groups(similarity: Similarity, names: Sequence[str], threshold: float) -> list[Group]:
    """Return groups of interchangeable columns, the largest first; a column is in at most one group.

    Two selected columns are in the same group if they are associated, directly or through other selected
    columns. Another column is in the group of the selected column with which it is most associated.
    """
    is_out = np.ones(len(names), dtype=np.bool_)
    is_out[similarity.selected] = False
    n_groups, group_of = connected_components(similarity.among >= threshold, directed=False)
    all_groups = []
    for group in range(n_groups):
        selected = similarity.selected[group_of == group]
        is_in_group = group_of[similarity.closest] == group
        others = np.flatnonzero(is_out & (similarity.closeness >= threshold) & is_in_group)
        n_columns = selected.shape[0] + others.shape[0]
        if n_columns > 1:
            others = others[np.argsort(-similarity.closeness[others], kind="stable")][:_MOST_NAMES]
            all_groups.append(
                Group([names[j] for j in selected.tolist()], [names[j] for j in others.tolist()], n_columns)
            )
    return sorted(all_groups, key=lambda group: -group.n_columns)


def correlation_picture(similarity: Similarity, names: Sequence[str]) -> Picture:
    """Draw the associations among the selected columns."""
    drawn = similarity.selected[:_MOST_DRAWN]
    among = similarity.among[:_MOST_DRAWN, :_MOST_DRAWN]
    display = CorrelationDisplay(among, [names[j] for j in drawn.tolist()])
    side = 2.2 + 0.19 * max(drawn.shape[0], 4)
    n_all = similarity.selected.shape[0]
    how_many = f"The first {_MOST_DRAWN} of {n_all:,}" if n_all > _MOST_DRAWN else f"All {n_all}"
    return picture(
        display.plot,
        "Associations among selected columns",
        f"{how_many} in the order of selection; columns have the numbers of the rows. Strong colours off "
        "the diagonal are redundant columns.",
        size=(max(side - 0.1, _NARROWEST), side - 1.2),
    )
