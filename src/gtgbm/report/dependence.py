"""How predictions depend on the most important features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtgbm.explain import Dependence, partial_dependence
from gtgbm.plots import COLOURS, category_name, plain_axes, shown
from gtgbm.report.sample import Sample, part_of
from gtgbm.report.svg import Picture, picture

_MOST_FEATURES = 6
_ROWS = 500
_MOST_CLASSES = 4


def dependence_picture(
    model: Any, sample: Sample, names: Sequence[str], classes: Sequence[Any], seed: int
) -> Picture | None:
    """Draw the partial dependence on the most important features; None if the model uses none."""
    order = np.argsort(-model.feature_importances_, kind="stable")[:_MOST_FEATURES].tolist()
    columns = [j for j in order if model.feature_importances_[j] > 0]
    if not columns:
        return None
    rows = part_of(model, sample, _ROWS, seed)
    categorical = np.flatnonzero(sample.is_category).tolist()
    found = partial_dependence(model, rows.X, columns, categorical, task=rows.task)
    titles = shown([names[j] for j in columns], 28)
    n_columns = min(len(found), 2)
    n_rows = -(-len(found) // 2)

    def draw(axes: Any) -> None:
        flat = np.ravel(axes)
        for ax, one, title in zip(flat, found, titles, strict=False):
            _draw(ax, model, one, classes)
            ax.set_title(title, fontsize=9)
        for ax in flat[len(found) :]:
            ax.set_axis_off()
        if sample.rows.kind != "multiclass":
            # One scale, so that strong and weak features can be told apart.
            means = np.concatenate([one.means for one in found])
            margin = 0.05 * (float(np.ptp(means)) or 1.0)
            for ax in flat[: len(found)]:
                ax.set_ylim(means.min() - margin, means.max() + margin)

    positive = shown(classes, 28)[1] if sample.rows.kind == "binary" else ""
    unit = {"binary": f"probability of {positive}", "relevance": "score"}.get(sample.rows.kind, "")
    return picture(
        draw,
        "Partial dependence",
        f"Mean prediction{f' ({unit})' if unit else ''} over {rows.n_rows:,} rows if the column had the same "
        "value in all of them: the most important columns, between their 2% and 98% quantiles.",
        size=(2.7 * n_columns if n_columns > 1 else 4.6, 1.9 * n_rows if n_rows > 1 else 2.6),
        grid=(n_rows, n_columns),
    )


def _draw(ax: Any, model: Any, one: Dependence, classes: Sequence[Any]) -> None:
    means = one.means if one.means.ndim == 2 else one.means[:, None]
    of_class: list[int] = []
    if one.values.shape[0]:
        of_class = np.argsort(-np.ptp(means, axis=0), kind="stable")[:_MOST_CLASSES].tolist()
    for k, number in enumerate(of_class):
        line = means[:, number]
        label = shown([classes[number]], 12)[0] if means.shape[1] > 1 else None
        if one.is_category:
            ax.plot(np.arange(line.shape[0]), line, "o", color=COLOURS[k], markersize=4, label=label)
        else:
            ax.plot(one.values, line, color=COLOURS[k], linewidth=1.5, label=label, marker=_marker(line))
    if one.is_category:
        labels = shown([_label(model, one.column, code) for code in one.values.tolist()], 10)
        ax.set_xticks(range(len(labels)), labels, rotation=45, ha="right", rotation_mode="anchor", fontsize=7)
    ax.tick_params(labelsize=8)
    if means.shape[1] > 1:
        ax.legend(frameon=False, fontsize=7)
    plain_axes(ax)


def _marker(line: Any) -> str:
    return "o" if line.shape[0] < 3 else ""


def _label(model: Any, column: int, code: float) -> str:
    schema = model._schema
    if schema is None or np.isnan(code):
        return category_name(code)
    return "other" if code < 0 else category_name(schema.label(column, code))
