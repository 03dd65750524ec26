"""Tables and numbers in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

ABSENT = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table; None becomes a dash."""
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    lines += ["| " + " | ".join(ABSENT if cell is None else str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def number(value: float | None, digits: int = 4) -> str:
    """Write a number, a dash for None."""
    return ABSENT if value is None else f"{value:.{digits}f}"


def spread(values: Sequence[float], digits: int = 4) -> str:
    """Mean, and the range where there are several values."""
    mean = f"{np.mean(values):.{digits}f}"
    if len(values) == 1:
        return mean
    return f"{mean} ({min(values):.{digits}f} – {max(values):.{digits}f})"
