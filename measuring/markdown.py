"""Tables and numbers in Markdown, and pages that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from measuring.files import write_text

ABSENT = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: bool = False) -> str:
    """Write a table; None becomes a dash.

    Parameters
    ----------
    numbers : bool
        Whether all columns but the first are numbers, which stand on the right.
    """
    rule = "|---" + ("|---:" if numbers else "|---") * (len(head) - 1) + "|"
    return "\n".join([table_line(head), rule, *(table_line(row) for row in rows)])


def table_line(cells: Sequence[object]) -> str:
    """Write one line of a table."""
    # Stripped, since the first cell of a head may be empty.
    return "| " + " | ".join(ABSENT if cell is None else str(cell) for cell in cells).lstrip() + " |"


def number(value: float | None, digits: int = 4) -> str:
    """Write a number, a dash for None."""
    return ABSENT if value is None else f"{value:.{digits}f}"


def spread(values: Sequence[float], digits: int = 4, dash: str = " – ") -> str:
    """Write the mean, and the range where there are several values."""
    mean = f"{np.mean(values):.{digits}f}"
    if len(values) == 1:
        return mean
    return f"{mean} ({min(values):.{digits}f}{dash}{max(values):.{digits}f})"


def facts(about: Mapping[str, object]) -> str:
    """Write what is known about a measurement in one line."""
    return "; ".join(f"{key}: {value}" for key, value in about.items())


def write_between(page: Path, name: str, text: str) -> None:
    """Put a text between ``<!-- name: begin -->`` and ``<!-- name: end -->``, each a line of its own."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    head, rest = page.read_text(encoding="utf-8").split(begin)
    tail = rest.split(end)[1]
    write_text(page, head + begin + text + end + tail)
