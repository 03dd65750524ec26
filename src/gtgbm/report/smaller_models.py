"""The metric of models with fewer features: fits with a lower limit on their number."""

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
class SmallerModel:
    """Number of features and metric of a smaller model."""

    n_features: int
    score: float


def fit_smaller_models(model: Any, sample: Sample, train: Mapping[str, Any]) -> list[SmallerModel]:
    """Fit models with fewer features to the training rows and measure them; the model itself is the last."""
    n_selected = model.n_selected_features_
    limits = np.unique(np.geomspace(1, max(n_selected, 1), _MOST_FITS + 1).round().astype(np.int64))
    models = []
    for limit in limits[limits < n_selected].tolist():
        fitted = clone(model).set_params(n_features_to_select=limit, verbose=0).fit(**train)
        rounds = [n_rounds_of(fitted)]
        (prediction,) = staged_predictions(fitted, sample.X, rounds, task=sample.task)
        score = sample.rows.measured(sample.metric, prediction)
        models.append(SmallerModel(fitted.n_selected_features_, score))
    return [*models, SmallerModel(n_selected, sample.score)]


def smaller_picture(models: list[SmallerModel], metric: str) -> Picture:
    """Draw the metric over the number of features."""

    def draw(ax: Any) -> None:
        counts, scores = [model.n_features for model in models], [model.score for model in models]
        ax.plot(counts, scores, marker="o", color=COLOURS[0])
        ax.set_xscale("symlog", linthresh=10)
        ax.set_xticks(counts, [str(n) for n in counts])
        ax.minorticks_off()
        ax.set_xlabel("number of features")
        ax.set_ylabel(metric)
        plain_axes(ax)

    return picture(
        draw,
        f"{metric} over number of features",
        "Each point is a separate model, fitted to the training rows with a limit on the number of features. "
        "The last one is the model of this report.",
    )
