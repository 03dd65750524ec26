"""Checks of the estimators' parameters: every error names the parameter, the value and what is right."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np


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
