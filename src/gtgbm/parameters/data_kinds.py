"""Kinds of values that depend on the data: columns, losses, metrics, weights of classes, values by task."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from gtgbm.losses import Loss, Pointwise
from gtgbm.metrics import Metric, TargetKind, metric_of
from gtgbm.parameters.kinds import Context, Kind, Number, int_or_text, one_of
from gtgbm.parameters.metric_functions import metric_of_function
from gtgbm.parameters.text import is_json, parse_list, parse_pairs

_TARGETS: dict[TargetKind, str] = {
    "binary": "two classes",
    "multiclass": "many classes",
    "numbers": "regression",
    "relevance": "rankings",
}
_VERBS = ("value", "gradient", "curvature")


@dataclass(frozen=True)
class Columns(Kind):
    """Columns of the table, given as indices, as a mask, or as names."""

    doc_type = "sequence of int, bool or str, or None"
    metavar = "NAMES"
    text_form = "Names separated by commas, or JSON; repeatable."
    optional = True

    def check(self, name: str, value: Any, context: Context) -> list[int]:
        """Return column indices."""
        return [] if value is None else columns(name, value, context)

    def parse(self, name: str, text: str) -> list[Any]:
        """Read names."""
        return parse_list(name, text)


@dataclass(frozen=True)
class Directions(Kind):
    """1, -1 or 0 for each column, given as such or as a dict of columns."""

    doc_type = "sequence of int, dict or None"
    metavar = "NAME=1|-1,..."
    text_form = "Written as age=1,price=-1, as a number for each column, or as JSON."
    optional = True

    def check(self, name: str, value: Any, context: Context) -> list[int]:
        """Return a direction for each column; empty: no constraints."""
        if value is None:
            return []
        n_features = context.n_features or 0
        hint = f": give {n_features} numbers 1, -1 or 0, or a dict of columns (indices or names) to them"
        if isinstance(value, dict):
            keys = [columns(name, [key], context)[0] for key in value]
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
            if int(one) and k in context.categorical:
                raise ValueError(f"{name} has {one!r} for column {k}, whose values are categories{hint}")
        return [int(one) for one in found] if any(found) else []

    def parse(self, name: str, text: str) -> Any:
        """Read pairs, or a list."""
        if text.lstrip().startswith("{") or ("=" in text and not is_json(text)):
            return parse_pairs(name, text, int_or_text)
        return [int_or_text(one) if isinstance(one, str) else one for one in parse_list(name, text)]


@dataclass(frozen=True)
class LossName(Kind):
    """A loss given by name, or but for rankings as an object with `value`, `gradient` and `curvature`."""

    doc_type = "str"
    metavar = "NAME"

    def check(self, name: str, value: Any, context: Context) -> Loss:
        """Return the loss."""
        if isinstance(value, type):
            raise TypeError(f"{name}={value.__name__} is a class: give an object of it, {value.__name__}()")
        hint = ""
        if context.target != "relevance":
            if not isinstance(value, str) and all(callable(getattr(value, verb, None)) for verb in _VERBS):
                return Pointwise(value)
            hint = f", or an object with {', '.join(_VERBS)} (see gtgbm.losses.LossFunction)"
        return context.losses[one_of(name, value, tuple(context.losses), hint)]

    def parse(self, name: str, text: str) -> str:
        """Read a name."""
        del name
        return text


@dataclass(frozen=True)
class Metrics(Kind):
    """Metrics given by name, as callables, or as a list of such, if they go with the targets."""

    doc_type = "str, callable, list or None"
    metavar = "NAMES"
    text_form = "Names separated by commas, such as log_loss,auc."
    optional = True

    def check(self, name: str, value: Any, context: Context) -> list[Metric]:
        """Return the metrics."""
        given = [] if value is None else value if isinstance(value, list | tuple) else [value]
        found = [_metric(name, value, one, context.target) for one in given]
        for metric in found:
            if context.target is not None and context.target not in metric.kinds:
                raise ValueError(
                    f"{name}={metric.name!r} goes with {' or '.join(_TARGETS[one] for one in metric.kinds)}, "
                    f"not with {_TARGETS[context.target]}"
                )
        names = [metric.name for metric in found]
        twice = sorted({one for one in names if names.count(one) > 1})
        if twice:
            raise ValueError(f"{name} has {twice[0]!r} twice: give every metric once")
        return found

    def parse(self, name: str, text: str) -> Any:
        """Read one name or several."""
        names = parse_list(name, text)
        self.check(name, names, Context())
        return names[0] if len(names) == 1 else names


@dataclass(frozen=True)
class ClassWeights(Kind):
    """A dict of classes to weights, or 'balanced'."""

    doc_type = "dict, 'balanced' or None"
    metavar = "balanced|CLASS=WEIGHT,..."
    text_form = "Written as balanced, as yes=2,no=1, or as JSON."
    optional = True

    def check(self, name: str, value: Any, context: Context) -> Any:
        """Return the weights as they are."""
        del context
        if value is not None and not isinstance(value, dict) and value != "balanced":
            raise ValueError(f"{name}={value!r} is unknown: give 'balanced' or a dict of class weights")
        return value

    def parse(self, name: str, text: str) -> Any:
        """Read a word, or pairs."""
        if text == "balanced":
            return text
        weight = Number(low=0)
        return parse_pairs(name, text, lambda one: weight.parse(name, one))


@dataclass(frozen=True)
class PerTask(Kind):
    """A number, or for several tasks a dict of tasks to numbers; the numbers are checked one by one."""

    number: Number
    has_auto: bool = False
    text_form = "A dict is written as north=0.1,south=0.2, or as JSON."

    @property
    def doc_type(self) -> str:
        """As documentation says it."""
        return "float, 'auto' or dict" if self.has_auto else "float"

    @property
    def metavar(self) -> str:
        """As the help of the command line says it."""
        return "NUMBER|auto|TASK=NUMBER,..." if self.has_auto else "NUMBER|TASK=NUMBER,..."

    def check(self, name: str, value: Any, context: Context) -> float | str:
        """Return the value of one task."""
        if self.has_auto and isinstance(value, str):
            return one_of(name, value, ("auto",), ", a number in [0, 1), or a dict of such")
        return self.number.check(name, value, context)

    def parse(self, name: str, text: str) -> Any:
        """Read a number, a word, or pairs."""
        if is_json(text) or "=" in text:
            return parse_pairs(name, text, lambda one: self._parse_one(name, one))
        return self._parse_one(name, text)

    def _parse_one(self, name: str, text: str) -> float | str:
        return text if self.has_auto and text == "auto" else self.number.parse(name, text)


def columns(name: str, value: Any, context: Context) -> list[int]:
    """Return column indices, given as such, as a mask, or as names."""
    n_features, names = context.n_features or 0, context.feature_names
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


def _metric(name: str, value: Any, one: Any, target: TargetKind | None) -> Metric:
    if isinstance(one, Metric):
        return one
    if isinstance(one, str):
        try:
            return metric_of(one)
        except ValueError as error:
            raise ValueError(f"{name}={value!r}: {error}") from error
    if callable(one):
        return metric_of_function(one, target)
    raise TypeError(f"{name} has {one!r}: give names, callables f(y, prediction), or a list of such")
