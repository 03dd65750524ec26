"""Amounts of memory as parameters."""

from __future__ import annotations

import numbers
import re
from dataclasses import dataclass
from typing import Any

from gtgbm.parameters.kinds import Context, Kind

_PREFIXES = ("", "K", "M", "G", "T")


@dataclass(frozen=True)
class Bytes(Kind):
    """A number of bytes, or a text such as '2GB' or '1.5 GiB'."""

    doc_type = "int, str or None"
    metavar = "BYTES"
    text_form = "such as 2GB or 500MB"
    optional = True

    def check(self, name: str, value: Any, context: Context) -> int | None:
        """Return a number of bytes."""
        del context
        if value is None:
            return None
        valid = "give a number of bytes, a text such as '2GB', or None"
        if isinstance(value, str):
            found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(I?)B?\s*", value.upper())
            if found is None:
                raise ValueError(f"{name}={value!r} is not an amount of memory: {valid}")
            unit = 1024 if found[3] else 1000
            return max(1, int(float(found[1]) * unit ** _PREFIXES.index(found[2])))
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise TypeError(f"{name}={value!r} is not an amount of memory: {valid}")
        if not 1 <= float(value) < float("inf"):
            raise ValueError(f"{name}={value!r} is not an amount of memory: {valid}")
        return int(float(value))

    def parse(self, name: str, text: str) -> str:
        """Return the text, if it is an amount."""
        self.check(name, text, Context())
        return text
