"""What the text of a CSV's column stands for: numbers, times or categories; and what looks like a mistake."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from gtgbm.cli.errors import UserError
from gtgbm.cli.table_file import arrow

_NEARLY_ALL = 0.95
"""A column with such a share of numbers holds numbers, and the others are mistakes if they are few words."""
_MANY = 0.5
"""A column of categories with such a share of numbers is worth a word."""
_FEW_WORDS = 20
_NUMBER = r"^\s*[+-]?(\d+{point}?\d*|{point}\d+)([eE][+-]?\d+)?\s*$|^\s*[+-]?(?i:inf|infinity|nan)\s*$"
_DATE, _OF_DAY = r"\d\d\d\d-\d\d-\d\d", r"\d\d:\d\d(:\d\d)?"
_TIMES = {
    "date": rf"^{_DATE}$",
    "time of day": r"^\d\d:\d\d(:\d\d)?$",
    "time": rf"^{_DATE}([ T]{_OF_DAY})?$",
    "fraction": rf"^{_DATE}([ T]{_OF_DAY}(\.\d+)?)?$",
    "time with zone": rf"^{_DATE}[ T]{_OF_DAY}(Z|[+-]\d\d:?\d\d)$",
    "fraction with zone": rf"^{_DATE}[ T]{_OF_DAY}(\.\d+)?(Z|[+-]\d\d:?\d\d)$",
}
"""Forms of times, of which a column has the first that suits all of its values."""
_OTHER_DATE = r"^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([ T].*)?$"


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written: the decimal point, and what stands where one is missing."""

    point: str
    missing: Sequence[str]

    @property
    def other_point(self) -> str:
        """What would be a decimal point elsewhere."""
        return "," if self.point == "." else "."


@dataclass
class ColumnText:
    """What the values of a column look like, counted batch by batch."""

    name: str
    format: NumberFormat
    n_rows: int = 0
    n_values: int = 0
    n_numbers: int = 0
    n_other_point: int = 0
    n_other_dates: int = 0
    n_switches: int = 0
    n_times: Counter[str] = field(default_factory=Counter)
    words: dict[str, int] = field(default_factory=dict)
    """Some values that are no numbers, and the first row of each, from 1."""
    untimely: dict[str, int] = field(default_factory=dict)
    """The same of values that are no times."""
    other_point: str | None = None

    def add(self, values: Any) -> None:
        """Count the values of more rows, an Arrow array of text."""
        from pyarrow import compute

        pa = arrow()
        is_value = compute.invert(compute.is_in(values, value_set=pa.array([*self.format.missing, ""])))
        is_number = compute.match_substring_regex(values, _number(self.format.point))
        is_word = compute.and_(is_value, compute.invert(is_number))
        words = values.filter(is_word)
        self.n_values += _count(is_value)
        self.n_numbers += _count(compute.and_(is_value, is_number))
        if len(words):
            places = compute.indices_nonzero(is_word)
            is_time = compute.match_substring_regex(words, "|".join(_TIMES.values()))
            self._remember(self.words, words, places)
            self._remember(
                self.untimely, words.filter(compute.invert(is_time)), places.filter(compute.invert(is_time))
            )
            is_other = compute.match_substring_regex(words, _number(self.format.other_point))
            self.n_other_point += _count(is_other)
            if self.other_point is None and _count(is_other):
                self.other_point = words.filter(is_other)[0].as_py()
            self.n_other_dates += _count(compute.match_substring_regex(words, _OTHER_DATE))
            self.n_switches += _count(compute.match_substring_regex(words, "^(?i:true|false)$"))
            for form, pattern in _TIMES.items():
                self.n_times[form] += _count(compute.match_substring_regex(words, pattern))
        self.n_rows += len(values)

    def _remember(self, known: dict[str, int], words: Any, places: Any) -> None:
        if len(known) > _FEW_WORDS:
            return
        for word, place in zip(words.to_pylist(), places.to_pylist(), strict=True):
            known.setdefault(word, self.n_rows + place + 1)
            if len(known) > _FEW_WORDS:
                return

    def example(self, kind: str = "number") -> str:
        """Return the first value that is not of a kind, and its row."""
        words = self.untimely if kind == "time" and self.untimely else self.words
        word, row = next(iter(words.items()))
        return f"{word!r} (row {row})"

    def arrow_type(self) -> Any:
        """Return the type that all values have; text if there is no other."""
        pa = arrow()
        if self.n_numbers == self.n_values:
            return pa.float64()
        if self.n_switches == self.n_values:
            return pa.bool_()
        form = next((form for form, count in self.n_times.items() if count == self.n_values), None)
        return {
            "date": pa.date32(),
            "time of day": pa.time32("s"),
            "time": pa.timestamp("s"),
            "fraction": pa.timestamp("ns"),
            "time with zone": pa.timestamp("s", "UTC"),
            "fraction with zone": pa.timestamp("ns", "UTC"),
        }.get(form or "", pa.string())

    def refuse_mistakes(self, where: str, is_feature: bool) -> None:
        """Refuse numbers, or times, with a few words among them, and numbers with another decimal point.

        Raises
        ------
        UserError
            It says which value, where, and what to do.
        """
        as_text = f"; or --categorical-features {self.name}, if it holds categories" if is_feature else ""
        if self.other_point is not None and self._is_nearly_all(self.n_numbers + self.n_other_point):
            option = f"--decimal {self.format.other_point}"
            raise UserError(
                f"{where}: column {self.name!r} looks like numbers, written as in {self.other_point!r}: give "
                f"{option} if that is a decimal {_POINTS[self.format.other_point]}{as_text}"
            )
        n_times = max(self.n_times.values(), default=0)
        for kind, count, words in (
            ("number", self.n_numbers, self.words),
            ("time", n_times, self.untimely),
        ):
            if 0 < len(words) <= _FEW_WORDS and self._is_nearly_all(count):
                option = f"--missing-values {shlex.quote(','.join(words))}"
                raise UserError(
                    f"{where}: column {self.name!r} holds {kind}s, but also {self.example(kind)}: "
                    f"mend it; or give {option}, if that stands for a missing value{as_text}"
                )

    def note(self) -> str | None:
        """Say what is odd about a column that is read as categories."""
        if self._is_nearly_all(self.n_other_dates):
            return (
                f"column {self.name!r} looks like dates, such as {self.example()}; it is read as categories, "
                "since times are written as in 2024-12-31 10:30"
            )
        if self.n_numbers < self.n_values and self._is_share(_MANY, self.n_numbers):
            return (
                f"column {self.name!r} has {self.n_numbers:,} numbers among {self.n_values:,} values, but "
                f"also {self.example()}; it is read as categories"
            )
        return None

    def _is_nearly_all(self, count: int) -> bool:
        return self._is_share(_NEARLY_ALL, count)

    def _is_share(self, share: float, count: int) -> bool:
        return self.n_values > 0 and count >= share * self.n_values


_POINTS = {",": "comma", ".": "point"}


def _number(point: str) -> str:
    return _NUMBER.replace("{point}", "[" + point + "]")


def _count(is_so: Any) -> int:
    from pyarrow import compute

    return int(compute.sum(is_so).as_py() or 0)
