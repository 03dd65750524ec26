"""The selected features: the table, the selection path and permutation importance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gtgbm.boosting import are_chosen_first
from gtgbm.exact import F64
from gtgbm.explain import Purchase, SelectionCurve, permutation_importance
from gtgbm.plots import ImportanceDisplay, SelectionCurveDisplay, bought_name
from gtgbm.report.sample import Sample, part_of
from gtgbm.report.svg import Picture, picture

_REPEATS = 3
"""Permutations of each column."""
_MOST_PERMUTED = 100
"""Maximum number of columns whose permutation importance is measured: those with the largest gain."""
_PERMUTED_ROWS = 4_000
"""Maximum number of rows for permutation importance."""
_MOST_BARS = 20
_SMALLEST_SCALE = 1e-9
"""A column whose numbers are all smaller is scaled by this number, to avoid a division by zero."""


@dataclass(frozen=True)
class Feature:
    """A row of the table of selected features; NaN is unknown."""

    order: int
    name: str
    task: Any
    round: int
    gain: float
    price: float
    cost: float
    importance: float
    metric: float
    permutation: float


def permutation_importances(model: Any, sample: Sample, seed: int) -> dict[int, float]:
    """Return how much worse the metric is when a column is permuted, the mean over several permutations."""
    rows = part_of(model, sample, _PERMUTED_ROWS, seed)
    order = np.argsort(-model.feature_importances_, kind="stable")
    columns = [j for j in order[:_MOST_PERMUTED].tolist() if model.feature_importances_[j] > 0]
    found = permutation_importance(
        model,
        rows.X,
        rows.y,
        metric=rows.metric,
        n_repeats=_REPEATS,
        qid=rows.qid,
        task=rows.task,
        features=columns,
        random_state=seed,
    )
    return dict(zip(columns, found.importances_mean.tolist(), strict=True))


def feature_table(
    model: Any,
    selected: Sequence[Purchase],
    names: Sequence[str],
    path: SelectionCurve,
    permutation: dict[int, float],
) -> list[Feature]:
    """Return one row per selected feature, in order; of those of one round, only the last has the metric."""
    values: F64 = np.full(path.rounds.shape[0], np.nan) if path.values is None else path.values
    last = {purchase.n_rounds: order for order, purchase in enumerate(selected, 1)}
    return [
        Feature(
            order,
            bought_name(purchase.entry, names),
            purchase.task,
            purchase.n_rounds,
            purchase.entry.gain,
            purchase.entry.price,
            purchase.entry.cost,
            float(model.feature_importances_[purchase.entry.feature]),
            float(values[path.after(purchase.n_rounds)]) if last[purchase.n_rounds] == order else np.nan,
            permutation.get(purchase.entry.feature, float("nan")),
        )
        for order, purchase in enumerate(selected, 1)
    ]


def largest_values(table: Sequence[Feature]) -> dict[str, float]:
    """Return the largest number of each column of the table, which scales its bars and decimals."""
    columns = ("gain", "price", "cost", "importance", "metric", "permutation")
    # Unlike max, fmax ignores NaN.
    return {
        name: float(np.fmax.reduce([abs(getattr(row, name)) for row in table], initial=_SMALLEST_SCALE))
        for name in columns
    }


def path_pictures(
    selected: Sequence[Purchase], names: Sequence[str], path: SelectionCurve, metric: str
) -> list[Picture]:
    """Draw metric and loss over rounds, and over features unless all were selected before the first round."""
    labels = [bought_name(purchase.entry, names) for purchase in selected]
    display = SelectionCurveDisplay(path, labels, [purchase.n_rounds for purchase in selected])
    over_features = [] if chosen_first(selected) else [_over_features(display, metric)]
    return [
        *over_features,
        picture(
            lambda ax: display.plot(ax, over="trees").ax_.set_ylabel(metric),
            f"{metric} over rounds",
            f"On the rows of this report.{' Grey: number of features selected so far.' * display.grows}",
        ),
        picture(
            lambda ax: display.plot(ax, over="trees", of="loss"),
            "Training loss over rounds",
            "If the training loss decreases but the metric on held-out rows does not improve, further rounds "
            "only overfit.",
        ),
    ]


def chosen_first(selected: Sequence[Purchase]) -> bool:
    """Whether all features were selected before the first round, by forward-backward selection."""
    return bool(selected) and are_chosen_first(purchase.entry for purchase in selected)


def _over_features(display: SelectionCurveDisplay, metric: str) -> Picture:
    return picture(
        lambda ax: display.plot(ax, over="features").ax_.set_ylabel(metric),
        f"{metric} over selected features",
        "Each point is the model right after the round that selected the feature; a dotted line bridges "
        "features selected in one round. The dashed line is the finished model: later rounds keep "
        "learning from the features already selected.",
        # Names below the axis need the whole width, and on a phone it is scrolled to read them.
        size=(9.6, 4.0) if display.has_names else (4.6, 3.2),
    )


def permutation_picture(permutation: dict[int, float], names: Sequence[str], metric: str) -> Picture:
    """Draw the permutation importance of each column as bars."""
    top = sorted(permutation.items(), key=lambda item: -item[1])[:_MOST_BARS]
    display = ImportanceDisplay([names[j] for j, _ in top], [value for _, value in top], metric)
    n = len(permutation)
    largest = f" The largest {_MOST_BARS} of {n}." if n > _MOST_BARS else ""
    if n == _MOST_PERMUTED:
        largest += " Columns of less importance were not permuted."
    return picture(
        display.plot,
        f"Loss of {metric} when a column is permuted",
        f"How much worse {metric} gets when the values of a column are permuted among the rows (mean of "
        f"{_REPEATS} permutations, at most {_PERMUTED_ROWS:,} rows). Correlated columns share their "
        f"importance, so that each of them looks less important.{largest}",
        size=(5.2, 0.9 + 0.24 * max(len(top), 2)),
    )
