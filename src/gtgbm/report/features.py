"""What was selected, in which order, and what each feature adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gtgbm.exact import F64
from gtgbm.explain import Purchase, SelectionPath, shuffled_predictions
from gtgbm.plots import ImportanceDisplay, SelectionPathDisplay, bought_name
from gtgbm.report.sample import Sample, part_of
from gtgbm.report.svg import Picture, picture

_REPEATS = 3
"""Shuffles of each column."""
_MOST_SHUFFLED = 100
"""Columns that are shuffled, the most important ones."""
_SHUFFLED_ROWS = 4_000
"""Rows in which they are."""
_MOST_BARS = 20
_LEAST = 1e-9
"""Smaller numbers are written as zero."""


@dataclass(frozen=True)
class Feature:
    """A line of the table of selected features; NaN is unknown."""

    order: int
    name: str
    task: Any
    round: int
    gain: float
    price: float
    importance: float
    metric: float
    adds: float


def what_each_adds(model: Any, sample: Sample, seed: int) -> dict[int, float]:
    """By how much the metric gets worse when a column is shuffled: mean over a few shuffles."""
    rows = part_of(model, sample, _SHUFFLED_ROWS, seed)
    order = np.argsort(-model.feature_importances_, kind="stable")
    columns = [j for j in order[:_MOST_SHUFFLED].tolist() if model.feature_importances_[j] > 0]
    losses = [
        [
            rows.gain_over(prediction)
            for prediction in shuffled_predictions(model, rows.X, columns, seed + k, task=rows.task)
        ]
        for k in range(_REPEATS)
    ]
    return dict(zip(columns, np.mean(losses, axis=0).tolist(), strict=True))


def feature_table(
    model: Any, bought: Sequence[Purchase], names: Sequence[str], path: SelectionPath, adds: dict[int, float]
) -> list[Feature]:
    """One line per purchase, in order; of those of one round, the last has the metric after that round."""
    values: F64 = np.full(path.rounds.shape[0], np.nan) if path.values is None else path.values
    last = {one.n_rounds: order for order, one in enumerate(bought, 1)}
    return [
        Feature(
            order,
            bought_name(one.entry, names),
            one.task,
            one.n_rounds,
            one.entry.gain,
            one.entry.price,
            float(model.feature_importances_[one.entry.feature]),
            float(values[path.after(one.n_rounds)]) if last[one.n_rounds] == order else float("nan"),
            adds.get(one.entry.feature, float("nan")),
        )
        for order, one in enumerate(bought, 1)
    ]


def largest_values(table: Sequence[Feature]) -> dict[str, float]:
    """Largest number of each column of the table, for bars and decimals."""
    columns = ("gain", "price", "importance", "metric", "adds")
    # Unlike max, fmax passes over NaN.
    return {
        name: float(np.fmax.reduce([abs(getattr(one, name)) for one in table], initial=_LEAST))
        for name in columns
    }


def path_pictures(
    bought: Sequence[Purchase], names: Sequence[str], path: SelectionPath, metric: str
) -> list[Picture]:
    """Metric and loss as features were bought."""
    labels = [bought_name(one.entry, names) for one in bought]
    display = SelectionPathDisplay(path, labels, [one.n_rounds for one in bought])
    return [
        picture(
            lambda ax: display.plot(ax, over="features").ax_.set_ylabel(metric),
            f"{metric} against selected features",
            "Each point is the model right after the round that selected the feature; a dotted line bridges "
            "features selected in one round. Dashed: the finished model, which went on learning from the "
            "same features.",
            size=(9.6, 4.0),
        ),
        picture(
            lambda ax: display.plot(ax, over="trees").ax_.set_ylabel(metric),
            f"{metric} over rounds",
            "On the rows of this report. Grey: features selected by then.",
        ),
        picture(
            lambda ax: display.plot(ax, over="trees", of="loss"),
            "Training loss over rounds",
            "Where this falls while the metric on other rows stands still, rounds add nothing.",
        ),
    ]


def adds_picture(adds: dict[int, float], names: Sequence[str], metric: str) -> Picture:
    """Bars of what each column adds."""
    top = sorted(adds.items(), key=lambda item: -item[1])[:_MOST_BARS]
    display = ImportanceDisplay([names[j] for j, _ in top], [value for _, value in top], metric)
    return picture(
        display.plot,
        f"{metric} lost when a column is shuffled",
        f"How much worse {metric} gets when the values of a column are shuffled (mean of {_REPEATS} "
        f"shuffles, {_SHUFFLED_ROWS:,} rows at most). Columns that can stand in for each other share what "
        f"they add.{f' The largest {_MOST_BARS} of {len(adds)}.' if len(adds) > _MOST_BARS else ''}",
        size=(5.2, 0.9 + 0.24 * max(len(top), 2)),
    )
