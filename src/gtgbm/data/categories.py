"""Categorical columns: one column of codes, whose categories are features of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gtgbm.arrays import CELLS, F64, I64, U8
from gtgbm.data.input import AnyTable, issparse

_CODES = CELLS - 1
"""Codes of one column: the last cell of a histogram is for missing numbers."""
_MAX_CATEGORIES = 16 * (_CODES - 1)
"""Categories of one column that can be features, the most frequent ones: 254 take a byte per row."""
_WHOLE_CATEGORIES = _CODES - 1
"""Categories of a column that is one feature: it has one column of codes."""
_MAX_COUNTED = 1 << 16
"""Whole numbers below this are counted, others sorted."""


@dataclass(frozen=True)
class CategoryColumn:
    """Codes of up to 254 categories of a column; code 0 stands for all others.

    Attributes
    ----------
    column : int
        Column of the table.
    first_feature : int
        The category of code c is feature ``first_feature + c``; all are, if the column is one feature.
    values : ndarray of float64, shape (codes,)
        Category of each code; NaN for missing values, which are a category like any other.
    codes : ndarray of uint8, shape (n,)
    is_whole : bool
        Whether the column is one feature, bought with all its categories.
    """

    column: int
    first_feature: int
    values: F64
    codes: U8
    is_whole: bool = False

    @property
    def end_feature(self) -> int:
        """One more than its last feature."""
        return self.first_feature + (1 if self.is_whole else int(self.values.shape[0]))


def encode_categories(
    table: AnyTable,
    columns: Sequence[int],
    weights: I64,
    fewest_rows: int,
    first_feature: int,
    as_whole: bool = False,
) -> list[CategoryColumn]:
    """Encode the categorical columns of a table.

    Parameters
    ----------
    columns : sequence of int
    weights : ndarray of int64, shape (n,), or empty where all rows weigh 1
    fewest_rows : int
        Categories with fewer rows could not be a side of any split and are not features.
    first_feature : int
        Where their features are numbered from.
    as_whole : bool
        Whether a column is one feature, of its own number, instead of one for each category.
    """
    most = _WHOLE_CATEGORIES if as_whole else _MAX_CATEGORIES
    found: list[CategoryColumn] = []
    for column in columns:
        values = table[:, [column]].toarray()[:, 0] if issparse(table) else table[:, column]
        categories, which, counts = _distinct(np.asarray(values, dtype=np.float64))
        if weights.shape[0]:
            # Sums of whole numbers, exact as floats.
            counts = np.bincount(which, weights=weights).astype(np.int64)
        kept = np.flatnonzero(counts >= fewest_rows)
        if kept.shape[0] > most:
            kept = np.sort(kept[np.argsort(-counts[kept], kind="stable")[:most]])
        for first in range(0, max(kept.shape[0], 1), _CODES - 1):
            chunk = kept[first : first + _CODES - 1]
            code_of = np.zeros(categories.shape[0], dtype=np.uint8)
            code_of[chunk] = np.arange(1, chunk.shape[0] + 1)
            values = np.concatenate([[np.nan], categories[chunk]])
            feature = int(column) if as_whole else first_feature
            found.append(CategoryColumn(int(column), feature, values, code_of[which], as_whole))
            first_feature = first_feature if as_whole else found[-1].end_feature
    return found


def _distinct(values: F64) -> tuple[F64, I64, I64]:
    """Distinct values ascending, NaN last; the number of each value's; and how often they occur."""
    low = values.min()
    whole = np.isfinite(low) and values.max() - low < _MAX_COUNTED and bool((values == np.rint(values)).all())
    if not whole:
        distinct, which, counts = np.unique(values, return_inverse=True, return_counts=True)
        return distinct, which.astype(np.int64), counts.astype(np.int64)
    shifted = (values - low).astype(np.int64)
    all_counts = np.bincount(shifted)
    present = np.flatnonzero(all_counts)
    number = np.zeros(all_counts.shape[0], dtype=np.int64)
    number[present] = np.arange(present.shape[0])
    return present + low, number[shifted], all_counts[present]
