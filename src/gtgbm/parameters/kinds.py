"""Kinds of values that depend on no data: how they are documented, checked, and read from text.

Every error names the parameter, the value and what is right.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gtgbm.losses import Loss
from gtgbm.metrics import TargetKind

_MOST_THREADS = 1024
_MOST_SEED = 2**32 - 1


@dataclass(frozen=True)
class Context:
    """What is known when a value is checked; what is not known restricts nothing.

    Attributes
    ----------
    n_features : int or None
        Columns of the table.
    feature_names : sequence of str, or None
    categorical : sequence of int
        Columns that hold categories.
    target : str or None
        Kind of the targets.
    losses : mapping of str to Loss
        Losses that the estimator knows by name.
    others : mapping of str to object
        Values of other parameters.
    """

    n_features: int | None = None
    feature_names: Sequence[str] | None = None
    categorical: Sequence[int] = ()
    target: TargetKind | None = None
    losses: Mapping[str, Loss] = field(default_factory=dict)
    others: Mapping[str, Any] = field(default_factory=dict)


class Kind(ABC):
    """A kind of value.

    Attributes
    ----------
    text_form : str
        How to write the value on the command line, if that is not plain.
    optional : bool
        Whether it may be None.
    """

    text_form = ""
    optional = False

    @property
    @abstractmethod
    def doc_type(self) -> str:
        """As documentation says it."""

    @property
    @abstractmethod
    def metavar(self) -> str:
        """As the help of the command line says it."""

    @abstractmethod
    def check(self, name: str, value: Any, context: Context) -> Any:
        """Return a value that is right, or raise a TypeError or ValueError that names the parameter."""

    @abstractmethod
    def parse(self, name: str, text: str) -> Any:
        """Return the value that a text stands for, checked as far as that needs no data."""


class WholeNumber(Kind):
    """Kinds of whole numbers."""

    metavar = "INTEGER"

    def parse(self, name: str, text: str) -> Any:
        """Read a whole number; words stay, for the check."""
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
        wanted = f"a number in {left}{self.low:g}, {self.high:g}{right}{self.hint}"
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise TypeError(f"{name}={value!r} is not a number: give {wanted}")
        number = float(value)
        below = number <= self.low if self.low_open else number < self.low
        above = number >= self.high if self.high_open else number > self.high
        if not math.isfinite(number) or below or above:
            raise ValueError(f"{name}={value!r} is out of range: give {wanted}")
        return number

    def parse(self, name: str, text: str) -> float:
        """Read a number."""
        return self.check(name, number_or_text(text), Context())


@dataclass(frozen=True)
class Penalty(Kind):
    """A price of features, whose range depends on penalty_scale."""

    doc_type = "float"
    metavar = "NUMBER"
    _absolute = Number(low=0)
    _of_root = Number(
        low=0,
        high=1,
        high_open=True,
        hint=" (a fraction of the squared error at the root; for other units use penalty_scale='absolute')",
    )

    def check(self, name: str, value: Any, context: Context) -> float:
        """Return a float."""
        is_of_root = context.others.get("penalty_scale") == "root"
        return (self._of_root if is_of_root else self._absolute).check(name, value, context)

    def parse(self, name: str, text: str) -> float:
        """Read a number."""
        return self._absolute.parse(name, text)


@dataclass(frozen=True)
class Count(WholeNumber):
    """A whole number within bounds.

    Attributes
    ----------
    of_features : bool
        Whether there are at most as many as the table has columns.
    hint : str
        What else is right.
    """

    low: int
    high: int | None = None
    optional: bool = False
    of_features: bool = False
    hint: str = ""

    @property
    def doc_type(self) -> str:
        """As documentation says it."""
        return "int or None" if self.optional else "int"

    def check(self, name: str, value: Any, context: Context) -> int | None:
        """Return an int, or None."""
        if value is None and self.optional:
            return None
        high, hint = self.high, self.hint or (", or None" if self.optional else "")
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
    """One of some words."""

    options: tuple[str, ...]

    @property
    def doc_type(self) -> str:
        """As documentation says it."""
        return f"{{{', '.join(map(repr, self.options))}}}"

    @property
    def metavar(self) -> str:
        """As the help of the command line says it."""
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
        """Return a truth value."""
        del context
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name}={value!r} is not True or False")
        return bool(value)

    def parse(self, name: str, text: str) -> bool:
        """Read true or false."""
        return one_of(name, text.lower(), ("true", "false")) == "true"


@dataclass(frozen=True)
class Verbosity(WholeNumber):
    """How much to print: a whole number; True and False are 1 and 0."""

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
        wrong = (
            f"{name}={value!r} is not a whole number of threads: give 1 to {_MOST_THREADS}, -1 for all "
            "cores, or None"
        )
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise TypeError(wrong)
        if value == 0 or abs(int(value)) > _MOST_THREADS:
            raise ValueError(wrong)
        return int(value)


@dataclass(frozen=True)
class Seed(WholeNumber):
    """A seed, or a generator of numpy's."""

    doc_type = "int, RandomState or None"
    optional = True

    def check(self, name: str, value: Any, context: Context) -> Any:
        """Return the seed as it is."""
        del context
        # numpy's module stands for its global generator, as in scikit-learn.
        if value is None or value is np.random or isinstance(value, np.random.RandomState):
            return value
        whole_number(name, value, 0, _MOST_SEED, ", a numpy.random.RandomState, or None")
        return value


def whole_number(name: str, value: Any, low: int, high: int | None = None, hint: str = "") -> int:
    """Return a whole number within bounds."""
    wanted = f"a whole number of at least {low}" if high is None else f"a whole number in {low} .. {high}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}={value!r} is not a whole number: give {wanted}{hint}")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name}={value!r} is out of range: give {wanted}{hint}")
    return number


def one_of(name: str, value: Any, options: Sequence[str], hint: str = "") -> str:
    """Return one of some strings."""
    if not isinstance(value, str) or value not in options:
        listed = ("one of " if len(options) > 1 else "") + ", ".join(map(repr, options))
        raise ValueError(f"{name}={value!r} is unknown: give {listed}{hint}")
    return value


def int_or_text(text: str) -> int | str:
    """Return the whole number that a text is; other texts stay, for a check to refuse."""
    try:
        return int(text)
    except ValueError:
        return text


def number_or_text(text: str) -> float | str:
    """Return the number that a text is; other texts stay, for a check to refuse."""
    try:
        return float(text)
    except ValueError:
        return text
