"""Metrics given as functions: users' own, and scikit-learn's and its scorers, known by their module."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from gtgbm.exact import F64, lend
from gtgbm.metrics import Metric, TargetKind

_SKLEARN = "sklearn.metrics"
_SMALLER = ("_error", "_loss", "_deviance")
_GREATER = ("_score", "matthews_corrcoef")
_OF_LABELS = (
    "accuracy_score",
    "balanced_accuracy_score",
    "cohen_kappa_score",
    "f1_score",
    "fbeta_score",
    "hamming_loss",
    "jaccard_score",
    "matthews_corrcoef",
    "precision_score",
    "recall_score",
    "zero_one_loss",
)
"""Functions of scikit-learn that take the classes predicted, instead of probabilities."""


def metric_of_function(parameter: str, function: Any, target: TargetKind | None) -> Metric:
    """Return a callable as a metric; `target` is what is predicted, if that is known.

    Errors name the parameter that the callable was given for.

    A scorer of scikit-learn is as large as it is good. Of a function, ``greater_is_better`` says which way is
    better. Without it scikit-learn's are known by their names; others are better if smaller, but one whose
    name ends in ``_score`` is refused, since that is most likely wrong.
    """
    if type(function).__module__.startswith(_SKLEARN) and hasattr(function, "_score_func"):
        return _metric_of_scorer(parameter, function, target)
    inner = getattr(function, "func", function)  # of a functools.partial
    name = str(getattr(function, "__name__", getattr(inner, "__name__", type(function).__name__)))
    is_sklearn = str(getattr(inner, "__module__", "")).startswith(_SKLEARN)
    greater = getattr(function, "greater_is_better", None)
    if greater is None:
        greater = is_sklearn and name.endswith(_GREATER) and not name.endswith(_SMALLER)
        if name.endswith("_score") and not is_sklearn:
            raise ValueError(
                f"{parameter} {name!r} does not say whether greater values are better: set "
                f"{name}.greater_is_better = True, or False"
            )
    takes_labels = is_sklearn and inner.__name__ in _OF_LABELS
    compute = _computing(
        function, f"{parameter} {name!r}", _labels if takes_labels else _as_is, is_sklearn, target
    )
    return Metric(name, compute, bool(greater))


def _metric_of_scorer(parameter: str, scorer: Any, target: TargetKind | None) -> Metric:
    function, sign, settings = scorer._score_func, scorer._sign, scorer._kwargs
    name = function.__name__ if sign > 0 else f"neg_{function.__name__}"
    methods = getattr(scorer, "_response_method", "predict")
    takes_labels = methods == "predict"
    compute = _computing(function, f"{parameter} {name!r}", _labels if takes_labels else _as_is, True, target)

    def scored(y: F64, prediction: F64, weight: F64, queries: Any) -> float:
        return float(sign * compute(y, prediction, weight, queries, **settings))

    return Metric(name, scored, True)


def _computing(
    function: Any,
    name: str,
    translate: Callable[[F64], Any],
    is_sklearn: bool,
    target: TargetKind | None,
) -> Callable[..., float]:
    is_of_classes = target in ("binary", "multiclass")
    is_weighted = is_sklearn and "sample_weight" in inspect.signature(function).parameters

    def compute(y: F64, prediction: F64, weight: F64, queries: Any, **settings: Any) -> float:
        del queries
        if is_weighted and not (weight == weight[:1]).all():
            settings = settings | {"sample_weight": weight}
        given = y.astype(np.int64) if is_sklearn and is_of_classes else y
        predicted = translate(prediction) if is_of_classes else prediction
        value = lend(function, name, given, predicted, **settings)
        if not isinstance(value, numbers.Real):
            raise TypeError(f"{name} returned {value!r}: it must return a number")
        return float(value)

    return compute


def _as_is(prediction: F64) -> F64:
    return prediction


def _labels(prediction: F64) -> Any:
    return np.argmax(prediction, axis=1) if prediction.ndim == 2 else (prediction > 0.5).astype(np.int64)
