"""What the selected columns contribute to the scores of single rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from gtgbm.exact import F64, I64
from gtgbm.plots import COLOURS, plain_axes, shown
from gtgbm.report.sample import Sample, part_of
from gtgbm.report.svg import Picture, picture

_MOST_COLUMNS = 8
_ROWS = 120
_BINS = 40
"""Contributions of a column that fall into the same of so many bins are drawn above each other."""
_LOW, _MIDDLE, _HIGH, _OTHER = COLOURS[0], COLOURS[7], COLOURS[1], COLOURS[2]
"""Colours of a column's lowest, middle and highest values, and of categories and missing values."""


def contribution_picture(model: Any, sample: Sample, names: Sequence[str], seed: int) -> Picture | None:
    """Draw the contributions of the columns that matter most, a dot for each of some rows.

    None if there is more than one score of a row, or no column.
    """
    rows = part_of(model, sample, _ROWS, seed)
    found = model.predict_contributions(rows.X, rows.task, selected_only=True)
    if found.ndim > 2:
        return None
    contributions = found[:, :-1]
    size = np.abs(contributions).mean(axis=0)
    order = [k for k in np.argsort(-size, kind="stable")[:_MOST_COLUMNS].tolist() if size[k] > 0.0]
    if not order:
        return None
    columns = model.selected_features_[order].tolist()

    def draw(ax: Any) -> None:
        for place, (k, column) in enumerate(zip(order, columns, strict=True)):
            x = contributions[:, k]
            y = place + _heights(x)
            for colour, at in _groups(_values(rows, column), bool(sample.is_category[column])):
                ax.plot(x[at], y[at], "o", color=colour, markersize=2.5, alpha=0.8)
        ax.set_yticks(range(len(order)), shown([names[column] for column in columns], 28))
        ax.set_ylim(len(order) - 0.4, -0.6)
        ax.set_xlabel("contribution to the score")
        plain_axes(ax)

    return picture(
        draw,
        "Contributions in single rows",
        f"What each column adds to the score of {rows.n_rows:,} rows (TreeSHAP): orange for high values of "
        "the column, blue for low ones, green for categories and missing values.",
        size=(4.6, 1.0 + 0.36 * len(order)),
    )


def _values(rows: Sample, column: int) -> F64:
    values = rows.numbers[:, [column]]
    return np.asarray(values.toarray() if issparse(values) else values, dtype=np.float64)[:, 0]


def _groups(values: F64, is_category: bool) -> list[tuple[str, I64]]:
    """Return the rows of each colour."""
    missing = np.isnan(values) | is_category
    low, high = np.quantile(values[~missing], [1 / 3, 2 / 3]) if not missing.all() else (0.0, 0.0)
    is_high = ~missing & (values > high)
    is_low = ~missing & ~is_high & (values <= low)
    groups = {_OTHER: missing, _LOW: is_low, _MIDDLE: ~(missing | is_low | is_high), _HIGH: is_high}
    return [(colour, np.flatnonzero(members)) for colour, members in groups.items()]


def _heights(x: F64) -> F64:
    """Move dots that would cover each other up and down, at most 0.4."""
    width = float(np.ptp(x)) or 1.0
    bins = np.floor((x - x.min()) / width * (_BINS - 1)).astype(np.int64)
    counts = np.bincount(bins, minlength=_BINS)
    heights = np.zeros(x.shape[0])
    for number in np.flatnonzero(counts).tolist():
        at = np.flatnonzero(bins == number)
        # 0, 1, -1, 2, -2, ...
        steps = np.arange(at.shape[0])
        heights[at] = (steps + 1) // 2 * np.where(steps % 2, 1.0, -1.0)
    return np.asarray(0.4 * heights / max(1.0, float(np.abs(heights).max())))
