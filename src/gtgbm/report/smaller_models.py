"""Models to compare with: fewer features, by a lower limit; more features, at no cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np
from sklearn.base import clone

from gtgbm.estimators import is_multitask
from gtgbm.explain import n_rounds_of, staged_predictions
from gtgbm.plots import COLOURS, plain_axes
from gtgbm.report.overview import number
from gtgbm.report.sample import Sample
from gtgbm.report.svg import Picture, picture

_MOST_FITS = 6
_MOST_SECONDS = 60
"""For the model of all features."""

_LIMITS = ("n_features_to_select", "n_features_per_task")


@dataclass(frozen=True)
class SmallerModel:
    """Number of features and metric of a smaller model."""

    n_features: int
    score: float


def fit_smaller_models(model: Any, sample: Sample, train: Mapping[str, Any]) -> list[SmallerModel]:
    """Fit models with fewer features to the training rows and measure them; the model itself is the last."""
    n_selected = model.n_selected_features_
    limits = np.unique(np.geomspace(1, max(n_selected, 1), _MOST_FITS + 1).round().astype(np.int64))
    models, is_limited = [], any(getattr(model, name, None) is not None for name in _LIMITS)
    # Without a limit the model was selected forward, but with one the default is another selection.
    same = {} if is_limited else _known(model, {"selection": "forward"})
    for limit in limits[limits < n_selected].tolist():
        smaller = clone(model).set_params(**same, n_features_to_select=limit, verbose=0)
        fitted = smaller.fit(**train)
        rounds = [n_rounds_of(fitted)]
        (prediction,) = staged_predictions(fitted, sample.X, rounds, task=sample.task)
        score = sample.rows.measured(sample.metric, prediction)
        models.append(SmallerModel(fitted.n_selected_features_, score))
    return [*models, SmallerModel(n_selected, sample.score)]


def all_features_sentence(model: Any, sample: Sample, train: Mapping[str, Any], metric: str) -> str:
    """Fit a model without feature cost or limit, for a limited time, and say what it reaches."""
    end = monotonic() + _MOST_SECONDS
    cost = "group_penalty" if is_multitask(model) else "penalty"
    unlimited = _known(model, {"selection": "forward", **dict.fromkeys(_LIMITS)})
    free = clone(model).set_params(**unlimited, verbose=0, **{cost: 0.0})
    free.fit(**{**train, "callbacks": [*(train.get("callbacks") or ()), lambda _: monotonic() >= end]})
    is_cut = monotonic() >= end
    rounds = n_rounds_of(free)
    (prediction,) = staged_predictions(free, sample.X, [rounds], task=sample.task)
    score = sample.rows.measured(sample.metric, prediction)
    columns = f"{free.selected_features_.shape[0]:,} columns"
    stopped = f" (stopped after {_MOST_SECONDS} s and {rounds} rounds)" if is_cut else ""
    return f"Without feature cost, a model that uses {columns}{stopped} reaches {metric} {number(score)}."


def _known(model: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return those of some parameters that the estimator has."""
    has = model.get_params()
    return {name: value for name, value in parameters.items() if name in has}


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
