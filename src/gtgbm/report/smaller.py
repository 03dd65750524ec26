"""Models to compare with: fewer features, by a lower limit; more features, at no cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import clone

from gtgbm.explain import is_multitask, n_rounds_of, staged_predictions
from gtgbm.plots import COLOURS, plain_axes
from gtgbm.report.sample import Sample
from gtgbm.report.svg import Picture, picture

_MOST_FITS = 6
_MOST_SECONDS = 60
"""For the model of all features."""


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


def all_features_sentence(model: Any, sample: Sample, train: Mapping[str, Any], metric: str) -> str:
    """Fit a model without feature cost or limit, for a limited time, and say what it reaches."""
    end = monotonic() + _MOST_SECONDS
    cost = "group_penalty" if is_multitask(model) else "penalty"
    free = clone(model).set_params(n_features_to_select=None, verbose=0, **{cost: 0.0})
    free.fit(**{**train, "callbacks": [*(train.get("callbacks") or ()), lambda _: monotonic() >= end]})
    is_cut = monotonic() >= end
    rounds = n_rounds_of(free)
    (prediction,) = staged_predictions(free, sample.X, [rounds], task=sample.task)
    score = sample.rows.measured(sample.metric, prediction)
    columns = f"{free.selected_features_.shape[0]:,} columns"
    stopped = f" (stopped after {_MOST_SECONDS} s and {rounds} rounds)" if is_cut else ""
    return f"Without feature cost, a model that uses {columns}{stopped} reaches {metric} {score:.4g}."


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
