"""Checks of the estimators' parameters: every error names the parameter, the value and what is right."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from gtgbm.losses import Loss, Pointwise
from gtgbm.metrics import Metric, TargetKind, metric_of

_MODELS: dict[TargetKind, str] = {
    "binary": "two classes",
    "multiclass": "many classes",
    "numbers": "regression",
    "relevance": "rankings",
}
_VERBS = ("value", "gradient", "curvature")


def number(
    name: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    low_open: bool = False,
    high_open: bool = False,
    hint: str = "",
) -> float:
    """Return a finite real number within bounds."""
    left, right = "(" if low_open else "[", ")" if high_open or math.isinf(high) else "]"
    wanted = f"a number in {left}{low:g}, {high:g}{right}"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={value!r} is not a number: give {wanted}{hint}")
    number = float(value)
    below = number <= low if low_open else number < low
    above = number >= high if high_open else number > high
    if not math.isfinite(number) or below or above:
        raise ValueError(f"{name}={value!r} is out of range: give {wanted}{hint}")
    return number


def count(name: str, value: Any, *, low: int, high: int | None = None, hint: str = "") -> int:
    """Return a whole number within bounds."""
    wanted = f"a whole number of at least {low}" if high is None else f"a whole number in {low} .. {high}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={value!r} is not a whole number: give {wanted}{hint}")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name}={value!r} is out of range: give {wanted}{hint}")
    return number


def optional_count(name: str, value: Any, *, low: int, high: int | None = None, hint: str = "") -> int | None:
    """Return None or a whole number within bounds."""
    return None if value is None else count(name, value, low=low, high=high, hint=hint + ", or None")


def option(name: str, value: Any, options: tuple[str, ...], hint: str = "") -> str:
    """Return one of some strings."""
    if not isinstance(value, str) or value not in options:
        listed = ("one of " if len(options) > 1 else "") + ", ".join(map(repr, options))
        raise ValueError(f"{name}={value!r} is unknown: give {listed}{hint}")
    return value


def columns(name: str, value: Any, n_features: int, names: Any) -> list[int]:
    """Return column indices, given as such, as a mask, or as names."""
    if value is None:
        return []
    hint = f": give column indices from 0 to {n_features - 1}, a mask of {n_features} booleans, or names"
    if isinstance(value, str) or not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        raise TypeError(f"{name}={value!r} is not a list{hint}")
    given = list(value) if np.ndim(value) == 1 else [value]
    if given and all(isinstance(one, bool | np.bool_) for one in given):
        if len(given) != n_features:
            raise ValueError(f"{name} is a mask of {len(given)} columns, but X has {n_features}{hint}")
        return np.flatnonzero(given).tolist()
    if given and all(isinstance(one, str) for one in given):
        position = {} if names is None else {known: k for k, known in enumerate(names)}
        absent = [one for one in given if one not in position]
        if absent:
            raise ValueError(f"{name} has {absent[:5]!r}, which are no names of X's columns{hint}")
        given = [position[one] for one in given]
    for one in given:
        if (
            isinstance(one, bool | np.bool_)
            or not isinstance(one, numbers.Integral)
            or not 0 <= int(one) < n_features
        ):
            raise ValueError(f"{name} has {one!r}{hint}")
    return sorted({int(one) for one in given})


def loss(name: str, value: Any, known: dict[str, Loss]) -> Loss:
    """Return a loss given by name, or as an object with `value`, `gradient` and `curvature`."""
    if isinstance(value, type):
        raise TypeError(f"{name}={value.__name__} is a class: give an object of it, {value.__name__}()")
    if not isinstance(value, str) and all(callable(getattr(value, verb, None)) for verb in _VERBS):
        return Pointwise(value)
    hint = f", or an object with {', '.join(_VERBS)} (see gtgbm.losses.LossFunction)"
    return known[option(name, value, tuple(known), hint)]


def flag(name: str, value: Any) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}={value!r} is not True or False")
    return bool(value)


def directions(name: str, value: Any, n_features: int, names: Any, categorical: list[int]) -> list[int]:
    """Return 1, -1 or 0 for each column, given as such or as a dict of columns; empty: no constraints."""
    if value is None:
        return []
    hint = f": give {n_features} numbers 1, -1 or 0, or a dict of columns (indices or names) to them"
    if isinstance(value, dict):
        keys = [columns(name, [key], n_features, names)[0] for key in value]
        given = dict(zip(keys, value.values(), strict=True))
        found = [given.get(k, 0) for k in range(n_features)]
    else:
        if isinstance(value, str) or not hasattr(value, "__len__"):
            raise TypeError(f"{name}={value!r} is not a list{hint}")
        found = list(value)
        if len(found) != n_features:
            raise ValueError(f"{name} has {len(found)} entries, but X has {n_features} columns{hint}")
    for k, one in enumerate(found):
        if (
            isinstance(one, bool | np.bool_)
            or not isinstance(one, numbers.Integral)
            or int(one) not in (-1, 0, 1)
        ):
            raise ValueError(f"{name} has {one!r}{hint}")
        if int(one) and k in categorical:
            raise ValueError(f"{name} has {one!r} for column {k}, whose values are categories{hint}")
    return [int(one) for one in found] if any(found) else []


def metrics(name: str, value: Any, kind: TargetKind) -> list[Metric]:
    """Return metrics given by name, as callables, or as a list of such, if they go with the targets."""
    if value is None:
        return []
    found = []
    for one in value if isinstance(value, list | tuple) else [value]:
        if isinstance(one, Metric):
            metric = one
        elif isinstance(one, str):
            try:
                metric = metric_of(one)
            except ValueError as error:
                raise ValueError(f"{name}={value!r}: {error}") from error
        elif callable(one):
            metric = _metric_of_callable(one)
        else:
            raise TypeError(f"{name} has {one!r}: give names, callables f(y, prediction), or a list of such")
        if kind not in metric.kinds:
            raise ValueError(
                f"{name}={metric.name!r} goes with {' or '.join(_MODELS[one] for one in metric.kinds)}, not "
                f"with {_MODELS[kind]}"
            )
        found.append(metric)
    twice = {metric.name for metric in found if [one.name for one in found].count(metric.name) > 1}
    if twice:
        raise ValueError(f"{name} has {sorted(twice)[0]!r} twice: give every metric once")
    return found


def _metric_of_callable(function: Any) -> Metric:
    def compute(y: Any, prediction: Any, weight: Any, queries: Any) -> float:
        del weight, queries
        value = function(y, prediction)
        if not isinstance(value, numbers.Real):
            raise TypeError(f"eval_metric {name!r} returned {value!r}: it must return a number")
        return float(value)

    name = str(getattr(function, "__name__", type(function).__name__))
    return Metric(name, compute, bool(getattr(function, "greater_is_better", False)))
