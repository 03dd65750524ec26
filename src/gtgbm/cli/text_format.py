"""How a text file is written: separator, decimal point, encoding, what stands for missing values."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from gtgbm.cli.errors import UserError

_SEPARATORS = ",;\t|"
_NAMED = {"tab": "\t", "\\t": "\t", "space": " "}


@dataclass(frozen=True)
class TextFormat:
    """What was said of the format of CSV files; None: the default.

    Attributes
    ----------
    sep : str or None
        None: found from the line of names.
    decimal : str or None
        None: a point.
    encoding : str or None
        None: UTF-8.
    missing_values : sequence of str or None
        In columns of numbers and times, beside ``NA`` and the like.
    """

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing_values: Sequence[str] | None = None

    def checked(self) -> TextFormat:
        """Return it with names of separators replaced.

        Raises
        ------
        UserError
            If there is no such format.
        """
        sep = None if self.sep is None else _NAMED.get(self.sep, self.sep)
        if sep is not None and (len(sep) != 1 or not sep.isascii() or sep in '"\n\r'):
            raise UserError(f"--sep {self.sep!r} is no single character: give one, or tab or space")
        if self.decimal not in (None, ".", ","):
            raise UserError(f"--decimal {self.decimal!r} is neither a point nor a comma: give one of them")
        if sep is not None and sep == self.decimal:
            raise UserError(f"--sep and --decimal are both {sep!r}: they must differ")
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError as error:
            raise UserError(
                f"--encoding {self.encoding!r} is not known: give for example latin-1, cp1252 or utf-16"
            ) from error
        return TextFormat(sep, self.decimal, self.encoding, self.missing_values)

    def or_as_in(self, about: Mapping[str, str]) -> TextFormat:
        """Fill in what was said when a model was trained."""
        known = {field.name: json.loads(about.get(field.name, "null")) for field in fields(self)}
        given = {name: value for name, value in vars(self).items() if value is not None}
        return TextFormat(**(known | given)).checked()

    def as_about(self) -> dict[str, str]:
        """Return what was said, for the model file."""
        said: dict[str, Any] = {name: value for name, value in vars(self).items() if value is not None}
        return {name: json.dumps(value) for name, value in said.items()}

    def separator(self, header: str) -> str:
        """Find the separator: the one that the names have most of, outside of quotes."""
        if self.sep is not None:
            return self.sep
        plain = re.sub(r'"(?:[^"]|"")*"', "", header)
        # A decimal comma, were it the separator too, could not be told from it.
        return max((one for one in _SEPARATORS if one != self.decimal), key=plain.count)
