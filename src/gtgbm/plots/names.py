"""What features are called in pictures and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gtgbm.boosting import HistoryEntry

LONGEST = 32
"""Letters of a name in a picture; longer ones lose their middle."""


def feature_names(estimator: Any, given: Sequence[Any] | None = None) -> list[str]:
    """Names of all columns: those given, those of the training table, or x0, x1, ..."""
    n_features = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", None) if given is None else given
    if names is None:
        return [f"x{j}" for j in range(n_features)]
    if len(names) != n_features:
        raise ValueError(f"names has {len(names)} entries; the model was fitted on {n_features} columns")
    return [str(name) for name in names]


def category_name(category: float | str) -> str:
    """Write a category; NaN stands for missing values."""
    if isinstance(category, str):
        return category
    return "missing" if np.isnan(category) else f"{category:g}"


def bought_name(entry: HistoryEntry, names: Sequence[str]) -> str:
    """Return what was bought: a column, or one category of it."""
    column = names[entry.feature]
    return column if entry.category is None else f"{column} = {category_name(entry.category)}"


def shown(names: Sequence[Any], longest: int = LONGEST) -> list[str]:
    """Shorten names for a picture, so that different ones stay different.

    A name that is too long loses a part in its middle: as little of its end is kept as tells it from the
    others. What even that leaves alike is numbered. matplotlib gets no line breaks and no formulas.
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
