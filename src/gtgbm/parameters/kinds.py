"""Kinds of parameter values that do not depend on the data: documentation, validation, reading from text.

Every error names the parameter, its value and the values that are valid.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gtgbm.losses import Loss
from gtgbm.metrics import TargetKind

_MOST_THREADS = 1024
_MOST_SEED = 2**32 - 1


@dataclass(frozen=True)
class Context:
    """The information that validation may use; a field that is not set restricts nothing.

    Attributes
    ----------
    n_features : int or None
        Columns of the table.
    feature_names : sequence of str, or None
    categorical : sequence of int
        Categorical columns.
    target : str or None
        Kind of the targets.
    losses : mapping of str to Loss
        Losses of the estimator by name.
    others : mapping of str to object
        Values of other parameters.
    """

    n_features: int | None = None
    feature_names: Sequence[str] | None = None
    categorical: Sequence[int] = ()
    target: TargetKind | None = None
    losses: Mapping[str, Loss] = field(default_factory=dict)
    others: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def position(self) -> dict[str, int]:
        """The number of each named column."""
        return {} if self.feature_names is None else {name: k for k, name in enumerate(self.feature_names)}


class Kind(ABC):
    """A kind of parameter value.

    Attributes
    ----------
    text_form : str
        How to write the value on the command line, if that needs an explanation.
    optional : bool
        Whether the value may be None.
    """

    text_form = ""
    optional = False

    @property
    @abstractmethod
    def doc_type(self) -> str:
        """Type in the docstrings."""

    @property
    @abstractmethod
    def metavar(self) -> str:
        """Placeholder of the value in the help of the command line."""

    @abstractmethod
    def check(self, name: str, value: Any, context: Context) -> Any:
        """Return the valid value, or raise a TypeError or ValueError that names the parameter."""

    @abstractmethod
    def parse(self, name: str, text: str) -> Any:
        """Return the value of a text, validated as far as possible without the data."""


class WholeNumber(Kind):
    """Base of the kinds of integers."""

    @property
    def metavar(self) -> str:
        """Value in the help of the command line."""
        return "INTEGER"

    def parse(self, name: str, text: str) -> Any:
        """Read an integer; other words are passed to the validation, which may accept them."""
        return self.check(name, int_or_text(text), Context())


@dataclass(frozen=True)
class Number(Kind):
    """A finite real number within bounds."""

    low: float
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False
    hint: str = ""
    doc_type = "float"
    metavar = "NUMBER"

    def check(self, name: str, value: Any, context: Context) -> float:
        """Return a float."""
        del context
        left = "(" if self.low_open else "["
        right = ")" if self.high_open or math.isinf(self.high) else "]"
        valid = f"a number in {left}{self.low:g}, {self.high:g}{right}{self.hint}"
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise TypeError(f"{name}={value!r} is not a number: give {valid}")
        number = float(value)
        below = number <= self.low if self.low_open else number < self.low
        above = number >= self.high if self.high_open else number > self.high
        if not math.isfinite(number) or below or above:
            raise ValueError(f"{name}={value!r} is out of range: give {valid}")
        return number

    def parse(self, name: str, text: str) -> float:
        """Read a number."""
        return self.check(name, number_or_text(text), Context())


@dataclass(frozen=True)
class Penalty(Kind):
    """A feature cost, whose range depends on penalty_scale, or 'auto'."""

    doc_type = "float or 'auto'"
    metavar = "NUMBER|auto"
    _absolute = Number(low=0)
    _of_root = Number(
        low=0,
        high=1,
        high_open=True,
        hint=" (a fraction of the squared error at the root; for other units use penalty_scale='absolute')",
    )

    def check(self, name: str, value: Any, context: Context) -> float | str:
        """Return a float or 'auto'."""
        if isinstance(value, str) and value == "auto":
            return value
        is_of_root = context.others.get("penalty_scale") == "root"
        return (self._of_root if is_of_root else self._absolute).check(name, value, context)

    def parse(self, name: str, text: str) -> float | str:
        """Read a number or 'auto'."""
        return text if text == "auto" else self._absolute.parse(name, text)


@dataclass(frozen=True)
class Count(WholeNumber):
    """A whole number within bounds.

    Attributes
    ----------
    or_auto : bool
        Whether 'auto' is valid too.
    of_features : bool
        Whether the number of columns is an upper bound.
    hint : str
        Other valid values, for the error message.
    """

    low: int
    high: int | None = None
    optional: bool = False
    or_auto: bool = False
    of_features: bool = False
    hint: str = ""

    @property
    def doc_type(self) -> str:
        """Type in the docstrings."""
        others = ["'auto'"] * self.or_auto + ["None"] * self.optional
        return " or ".join(["int", *others]) if len(others) < 2 else "int, 'auto' or None"

    @property
    def metavar(self) -> str:
        """Value in the help of the command line."""
        return "INTEGER|auto" if self.or_auto else "INTEGER"

    def check(self, name: str, value: Any, context: Context) -> int | str | None:
        """Return an int, 'auto', or None."""
        if value is None and self.optional:
            return None
        if self.or_auto and isinstance(value, str) and value == "auto":
            return value
        others = (", 'auto'" if self.or_auto else "") + (", or None" if self.optional else "")
        high, hint = self.high, self.hint or others
        if self.of_features and context.n_features is not None:
            high, hint = context.n_features, f" (X has {context.n_features} features)" + hint
        return whole_number(name, value, self.low, high, hint)


@dataclass(frozen=True)
class Rounds(WholeNumber):
    """A number of rounds, at most n_estimators."""

    doc_type = "int"

    def check(self, name: str, value: Any, context: Context) -> int:
        """Return an int."""
        return whole_number(name, value, 0, context.others.get("n_estimators"))


@dataclass(frozen=True)
class RowCount(WholeNumber):
    """Rows of a group test: a whole number, 'auto', or None for all rows."""

    low: int
    doc_type = "int, 'auto' or None"
    metavar = "INTEGER|auto"
    optional = True

    def check(self, name: str, value: Any, context: Context) -> int | str | None:
        """Return an int, 'auto' or None."""
        del context
        if isinstance(value, str):
            return one_of(name, value, ("auto",), ", a whole number, or None for all rows")
        hint = ", 'auto', or None for all rows (the paper's algorithm)"
        return None if value is None else whole_number(name, value, self.low, None, hint)


@dataclass(frozen=True)
class Choice(Kind):
    """One of several words."""

    options: tuple[str, ...]

    @property
    def doc_type(self) -> str:
        """Type in the docstrings."""
        return f"{{{', '.join(map(repr, self.options))}}}"

    @property
    def metavar(self) -> str:
        """Placeholder of the value in the help of the command line."""
        return "|".join(self.options)

    def check(self, name: str, value: Any, context: Context) -> str:
        """Return one of the words."""
        del context
        return one_of(name, value, self.options)

    def parse(self, name: str, text: str) -> str:
        """Read a word."""
        return one_of(name, text, self.options)


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    doc_type = "bool"
    metavar = "true|false"

    def check(self, name: str, value: Any, context: Context) -> bool:
        """Return a bool."""
        del context
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name}={value!r} is not True or False")
        return bool(value)

    def parse(self, name: str, text: str) -> bool:
        """Read true or false."""
        return one_of(name, text.lower(), ("true", "false")) == "true"


@dataclass(frozen=True)
class Verbosity(WholeNumber):
    """How much to print: an integer; True and False are 1 and 0."""

    doc_type = "int"

    def check(self, name: str, value: Any, context: Context) -> int:
        """Return an int."""
        del context
        return whole_number(name, int(value) if isinstance(value, bool) else value, 0)


@dataclass(frozen=True)
class Threads(WholeNumber):
    """A number of threads; negative numbers count from the number of cores."""

    doc_type = "int or None"
    optional = True

    def check(self, name: str, value: Any, context: Context) -> int | None:
        """Return an int or None."""
        del context
        if value is None:
            return None
        message = (
            f"{name}={value!r} is not a whole number of threads: give 1 to {_MOST_THREADS}, -1 for all "
            "cores, or None"
        )
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise TypeError(message)
        if value == 0 or abs(int(value)) > _MOST_THREADS:
            raise ValueError(message)
        return int(value)


@dataclass(frozen=True)
class Seed(WholeNumber):
    """A seed or a numpy RandomState."""

    doc_type = "int, RandomState or None"
    optional = True

    def check(self, name: str, value: Any, context: Context) -> Any:
        """Return the seed unchanged."""
        del context
        # The module numpy.random means its global generator, as in scikit-learn.
        if value is None or value is np.random or isinstance(value, np.random.RandomState):
            return value
        whole_number(name, value, 0, _MOST_SEED, ", a numpy.random.RandomState, or None")
        return value


def whole_number(name: str, value: Any, low: int, high: int | None = None, hint: str = "") -> int:
    """Return an integer within bounds."""
    valid = f"a whole number of at least {low}" if high is None else f"a whole number in {low} .. {high}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={value!r} is not a whole number: give {valid}{hint}")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name}={value!r} is out of range: give {valid}{hint}")
    return number


def one_of(name: str, value: Any, options: Sequence[str], hint: str = "") -> str:
    """Return the value if it is one of the options."""
    if not isinstance(value, str) or value not in options:
        listed = ("one of " if len(options) > 1 else "") + ", ".join(map(repr, options))
        raise ValueError(f"{name}={value!r} is unknown: give {listed}{hint}")
    return value


def int_or_text(text: str) -> int | str:
    """Return a text as an integer if it is one; other texts are returned for the validation to reject."""
    try:
        return int(text)
    except ValueError:
        return text


def number_or_text(text: str) -> float | str:
    """Return a text as a number if it is one; other texts are returned for the validation to reject."""
    try:
        return float(text)
    except ValueError:
        return text
