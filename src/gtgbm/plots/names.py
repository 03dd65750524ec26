"""Names of features in plots and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtgbm.boosting import HistoryEntry

LONGEST = 32
"""Maximum length of a name in a plot; longer names lose their middle."""


def category_name(category: float | str) -> str:
    """Return a category as text; NaN is the category of missing values."""
    if isinstance(category, str):
        return category
    return "missing" if np.isnan(category) else f"{category:g}"


def bought_name(entry: HistoryEntry, names: Sequence[str]) -> str:
    """Return the name of a selected feature: a column, or a category of it."""
    column = names[entry.feature]
    return column if entry.category is None else f"{column} = {category_name(entry.category)}"


def shown(names: Sequence[Any], longest: int = LONGEST) -> list[str]:
    """Shorten names for a plot, so that different names stay different.

    A name that is too long loses its middle; its end is kept as long as needed to distinguish it from the
    others. If that is not enough, names are numbered. Line breaks and matplotlib's formulas are escaped.
    """
    texts = ["".join(letter if letter.isprintable() else " " for letter in str(name)) for name in names]
    n_different = len(set(texts))
    for tail in range(longest // 3, longest - 1):
        short = [_without_middle(text, longest, tail) for text in texts]
        if len(set(short)) == n_different:
            break
    else:
        number = {text: k for k, text in enumerate(dict.fromkeys(texts), 1)}
        short = [f"{_without_middle(text, longest - 4, longest // 3)} #{number[text]}" for text in texts]
    return [text.replace("$", r"\$") for text in short]


def _without_middle(text: str, longest: int, tail: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1 - tail]}…{text[-tail:]}"
