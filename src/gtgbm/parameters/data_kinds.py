"""Kinds of values that depend on the data: columns, losses, metrics, class weights, values by task."""

from __future__ import annotations

import numbers
import re
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np

from gtgbm.losses import NAMED_LOSSES, Loss, LossFunction, Pointwise, Poisson
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
_LOSSES_WITH_NUMBER: dict[str, Any] = {
    # The number of Poisson, which is a Tweedie loss, is always 1.
    loss.name: loss
    for loss in NAMED_LOSSES
    if loss is not Poisson and is_dataclass(loss) and len(fields(loss)) == 1
}
_LOSS_METHODS = ("value", "gradient", "curvature")


@dataclass(frozen=True)
class Columns(Kind):
    """Columns of the table: indices, a boolean mask or names."""

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
    """1, -1 or 0 for each column: a sequence with an entry per column, or a dict from columns."""

    doc_type = "sequence of int, dict or None"
    metavar = "NAME=1|-1,..."
    text_form = "Written as age=1,price=-1, as one number per column, or as JSON."
    optional = True

    def check(self, name: str, value: Any, context: Context) -> list[int]:
        """Return the direction of each column; an empty list means no constraints."""
        if value is None:
            return []
        n_features = context.n_features or 0
        hint = f": give {n_features} numbers 1, -1 or 0, or a dict of columns (indices or names) to them"
        if isinstance(value, dict):
            keys = [columns(name, [key], context)[0] for key in value]
            by_column = dict(zip(keys, value.values(), strict=True))
            directions = [by_column.get(k, 0) for k in range(n_features)]
        else:
            if isinstance(value, str) or not hasattr(value, "__len__"):
                raise TypeError(f"{name}={value!r} is not a list{hint}")
            directions = list(value)
            if len(directions) != n_features:
                raise ValueError(
                    f"{name} has {len(directions)} entries, but X has {n_features} columns{hint}"
                )
        for k, direction in enumerate(directions):
            if (
                isinstance(direction, bool | np.bool_)
                or not isinstance(direction, numbers.Integral)
                or int(direction) not in (-1, 0, 1)
            ):
                raise ValueError(f"{name} has {direction!r}{hint}")
            if int(direction) and k in context.categorical:
                raise ValueError(f"{name} has {direction!r} for column {k}, which is categorical{hint}")
        return [int(direction) for direction in directions] if any(directions) else []

    def parse(self, name: str, text: str) -> Any:
        """Read pairs, or a list."""
        if text.lstrip().startswith("{") or ("=" in text and not is_json(text)):
            return parse_pairs(name, text, int_or_text)
        return [int_or_text(item) if isinstance(item, str) else item for item in parse_list(name, text)]


@dataclass(frozen=True)
class LossName(Kind):
    """A loss: its name, or (except for rankings) an object with `value`, `gradient` and `curvature`."""

    doc_type = "str"
    metavar = "NAME|NAME(NUMBER)"
    text_form = "Some take a number: huber(1.5), quantile(0.9), tweedie(1.3)."

    def check(self, name: str, value: Any, context: Context) -> Loss:
        """Return the loss."""
        if isinstance(value, type):
            raise TypeError(f"{name}={value.__name__} is a class: give an object of it, {value.__name__}()")
        hint = ""
        if context.target != "relevance":
            methods = [getattr(value, method, None) for method in _LOSS_METHODS]
            if not isinstance(value, str) and all(callable(method) for method in methods):
                return Pointwise(value)
            hint = f", or an object with {', '.join(_LOSS_METHODS)} (see gtgbm.losses.LossFunction)"
        return context.losses[one_of(name, value, tuple(context.losses), hint)]

    def parse(self, name: str, text: str) -> str | LossFunction:
        """Read a name, or a name with a number in brackets."""
        if "(" not in text and ")" not in text:
            return text
        written = re.fullmatch(r"\s*(\w+)\s*\(\s*(?:(\w+)\s*=)?\s*([^\s=]+)\s*\)\s*", text)
        form = None if written is None else _LOSSES_WITH_NUMBER.get(written[1])
        number = None if written is None else _float_of(written[3])
        if written is None or form is None or number is None or written[2] not in (None, _field(form)):
            forms = [f"{loss}({_field(form).upper()})" for loss, form in _LOSSES_WITH_NUMBER.items()]
            raise ValueError(
                f"{name}={text!r} is not a loss: give a name, or one with a number: {', '.join(forms)}"
            )
        loss: LossFunction = form(number)
        return loss


def _field(loss: Any) -> str:
    """Return the name of the number that a loss takes."""
    (field,) = fields(loss)
    return field.name


def _float_of(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@dataclass(frozen=True)
class Metrics(Kind):
    """Metrics for the kind of the targets: a name, a callable, or a list of them."""

    doc_type = "str, callable, list or None"
    metavar = "NAMES"
    text_form = "Names separated by commas, such as log_loss,auc."
    optional = True

    def check(self, name: str, value: Any, context: Context) -> list[Metric]:
        """Return the metrics."""
        items = [] if value is None else value if isinstance(value, list | tuple) else [value]
        metrics = [_metric(name, value, item, context.target) for item in items]
        for metric in metrics:
            if context.target is not None and context.target not in metric.kinds:
                raise ValueError(
                    f"{name}={metric.name!r} is for {' or '.join(_TARGETS[kind] for kind in metric.kinds)}, "
                    f"not for {_TARGETS[context.target]}"
                )
        names = [metric.name for metric in metrics]
        repeated = sorted({metric for metric in names if names.count(metric) > 1})
        if repeated:
            raise ValueError(f"{name} has {repeated[0]!r} twice: give every metric once")
        return metrics

    def parse(self, name: str, text: str) -> Any:
        """Read one name or several."""
        names = parse_list(name, text)
        self.check(name, names, Context())
        return names[0] if len(names) == 1 else names


@dataclass(frozen=True)
class ClassWeights(Kind):
    """A dict from class to weight, or 'balanced'."""

    doc_type = "dict, 'balanced' or None"
    metavar = "balanced|CLASS=WEIGHT,..."
    text_form = "Written as balanced, as yes=2,no=1, or as JSON."
    optional = True

    def check(self, name: str, value: Any, context: Context) -> Any:
        """Return the weights unchanged."""
        del context
        if value is not None and not isinstance(value, dict) and value != "balanced":
            raise ValueError(f"{name}={value!r} is unknown: give 'balanced' or a dict of class weights")
        return value

    def parse(self, name: str, text: str) -> Any:
        """Read a word, or pairs."""
        if text == "balanced":
            return text
        weight = Number(low=0)
        return parse_pairs(name, text, lambda value: weight.parse(name, value))


@dataclass(frozen=True)
class PerTask(Kind):
    """A number, or for multitask models a dict from task to number; `check` validates a single number."""

    number: Number
    has_auto: bool = False
    text_form = "A dict is written as north=0.1,south=0.2, or as JSON."

    @property
    def doc_type(self) -> str:
        """Type in the docstrings."""
        return "float, 'auto' or dict" if self.has_auto else "float"

    @property
    def metavar(self) -> str:
        """Placeholder of the value in the help of the command line."""
        return "NUMBER|auto|TASK=NUMBER,..." if self.has_auto else "NUMBER|TASK=NUMBER,..."

    def check(self, name: str, value: Any, context: Context) -> float | str:
        """Return the value of one task."""
        if self.has_auto and isinstance(value, str):
            return one_of(name, value, ("auto",), ", a number in [0, 1), or a dict of such numbers")
        return self.number.check(name, value, context)

    def parse(self, name: str, text: str) -> Any:
        """Read a number, a word, or pairs."""
        if is_json(text) or "=" in text:
            return parse_pairs(name, text, lambda value: self._parse_number(name, value))
        return self._parse_number(name, text)

    def _parse_number(self, name: str, text: str) -> float | str:
        return text if self.has_auto and text == "auto" else self.number.parse(name, text)


def columns(name: str, value: Any, context: Context) -> list[int]:
    """Return the indices of columns given as indices, as a boolean mask or as names."""
    n_features = context.n_features or 0
    hint = f": give column indices from 0 to {n_features - 1}, a mask of {n_features} booleans, or names"
    if isinstance(value, str) or not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        raise TypeError(f"{name}={value!r} is not a list{hint}")
    items = list(value) if np.ndim(value) == 1 else [value]
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != n_features:
            raise ValueError(f"{name} is a mask of {len(items)} columns, but X has {n_features}{hint}")
        return np.flatnonzero(items).tolist()
    if items and all(isinstance(item, str) for item in items):
        unknown = [item for item in items if item not in context.position]
        if unknown:
            raise ValueError(f"{name} has {unknown[:5]!r}, which are not names of columns of X{hint}")
        items = [context.position[item] for item in items]
    for item in items:
        if (
            isinstance(item, bool | np.bool_)
            or not isinstance(item, numbers.Integral)
            or not 0 <= int(item) < n_features
        ):
            raise ValueError(f"{name} has {item!r}{hint}")
    return sorted({int(item) for item in items})


def _metric(name: str, value: Any, item: Any, target: TargetKind | None) -> Metric:
    if isinstance(item, Metric):
        return item
    if isinstance(item, str):
        try:
            return metric_of(item)
        except ValueError as error:
            raise ValueError(f"{name}={value!r}: {error}") from error
    if callable(item):
        return metric_of_function(name, item, target)
    raise TypeError(f"{name} has {item!r}: give names, callables f(y, prediction), or a list of them")
