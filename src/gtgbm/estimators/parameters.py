"""Checks of the estimators' parameters: every error names the parameter, the value and what is right."""

from __future__ import annotations

import math
import numbers
from typing import Any


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
    left, right = "(" if low_open else "[", ")" if high_open else "]"
    wanted = f"a number in {left}{low:g}, {high:g}{right}"
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}={value!r} is not a number: give {wanted}{hint}")
    value = float(value)
    below = value <= low if low_open else value < low
    above = value >= high if high_open else value > high
    if not math.isfinite(value) or below or above:
        raise ValueError(f"{name}={value!r} is out of range: give {wanted}{hint}")
    return value


def count(name: str, value: Any, *, low: int, high: int | None = None, hint: str = "") -> int:
    """Return a whole number within bounds."""
    wanted = f"a whole number of at least {low}" if high is None else f"a whole number in {low} .. {high}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={value!r} is not a whole number: give {wanted}{hint}")
    value = int(value)
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name}={value!r} is out of range: give {wanted}{hint}")
    return value


def optional_count(name: str, value: Any, *, low: int, high: int | None = None, hint: str = "") -> int | None:
    """Return None or a whole number within bounds."""
    return None if value is None else count(name, value, low=low, high=high, hint=hint + ", or None")


def option(name: str, value: Any, options: tuple[str, ...]) -> str:
    """Return one of some strings."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name}={value!r} is unknown: give one of {', '.join(map(repr, options))}")
    return value
