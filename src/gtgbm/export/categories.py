"""Categories that formats with sets of codes can have."""

from __future__ import annotations

from gtgbm.export.plain_model import PlainModel

MOST_CATEGORIES = 1 << 20
"""Above the largest code of a category: a set has one bit for each lower code."""


def require_code(model: PlainModel, column: int, value: float, tool: str) -> None:
    """Refuse a category that is not a whole number from 0."""
    if value != int(value) or not 0 <= value < MOST_CATEGORIES:
        raise ValueError(
            f"column {model.names[column]!r} has the category {value:g}: for {tool} categories must be whole "
            f"numbers from 0 to {MOST_CATEGORIES - 1}; recode the column, or use another format"
        )
