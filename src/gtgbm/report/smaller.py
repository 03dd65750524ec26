"""What models with fewer features are worth: fits with a lower limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from gtgbm.explain import n_rounds_of, staged_predictions
from gtgbm.plots import COLOURS, plain_axes
from gtgbm.report.sample import Sample
from gtgbm.report.svg import Picture, picture

_MOST_FITS = 6


@dataclass(frozen=True)
class Smaller:
    """A model with at most so many features."""

    n_features: int
    score: float


def smaller_models(model: Any, sample: Sample, train: Mapping[str, Any]) -> list[Smaller]:
    """Fit models with fewer features to the training rows, and measure them; the model itself is last."""
    n_selected = model.n_selected_features_
    limits = np.unique(np.geomspace(1, max(n_selected, 1), _MOST_FITS + 1).round().astype(np.int64))
    found = []
    for limit in limits[limits < n_selected].tolist():
        fitted = clone(model).set_params(n_features_to_select=limit, verbose=0).fit(**train)
        rounds = [n_rounds_of(fitted)]
        (prediction,) = staged_predictions(fitted, sample.X, rounds, task=sample.task)
        found.append(Smaller(fitted.n_selected_features_, sample.rows.measured(sample.metric, prediction)))
    return [*found, Smaller(n_selected, sample.score)]


def smaller_picture(models: list[Smaller], metric: str) -> Picture:
    """Draw the metric against the number of features."""

    def draw(ax: Any) -> None:
        counts, scores = [one.n_features for one in models], [one.score for one in models]
        ax.plot(counts, scores, marker="o", color=COLOURS[0])
        ax.set_xscale("symlog", linthresh=10)
        ax.set_xticks(counts, [str(n) for n in counts])
        ax.minorticks_off()
        ax.set_xlabel("features of the model")
        ax.set_ylabel(metric)
        plain_axes(ax)

    return picture(
        draw,
        f"{metric} against number of features",
        "Each point is a model of its own, fitted to the training rows with a limit on the number of "
        "features. The last one is the model of this report.",
    )
