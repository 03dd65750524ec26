"""Categorical columns: one column of codes, whose categories are features of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gtgbm.data.input import AnyTable, issparse
from gtgbm.exact import CELLS, F64, I64, U8, Bool

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
    is_usable : ndarray of bool, shape (codes,)
        False for categories with too few rows to be a side of any split, and for code 0.
    is_whole : bool
        Whether the column is one feature, bought with all its categories.
    """

    column: int
    first_feature: int
    values: F64
    codes: U8
    is_usable: Bool
    is_whole: bool = False

    def of_column(self, column: int) -> CategoryColumn:
        """Say which column of the table it is."""
        return replace(self, column=column, first_feature=column if self.is_whole else self.first_feature)

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
    """Encode the categorical columns of a table; see `encode_categories_of_tasks`."""
    rows = slice(0, table.shape[0])
    given = table, columns, weights, [rows], [fewest_rows], first_feature, as_whole
    return encode_categories_of_tasks(*given)[0]


def encode_categories_of_tasks(
    table: AnyTable,
    columns: Sequence[int],
    weights: I64,
    tasks: Sequence[slice],
    fewest_rows: Sequence[int],
    first_feature: int,
    as_whole: bool = False,
) -> list[list[CategoryColumn]]:
    """Encode the categorical columns of the rows of several tasks: a category is the same feature for all.

    Parameters
    ----------
    columns : sequence of int
    weights : ndarray of int64, shape (n,), or empty where all rows weigh 1
    tasks : sequence of slice
        The rows of each task.
    fewest_rows : sequence of int
        Categories that have fewer rows in each task could not be a side of any split and are not features.
    first_feature : int
        Where their features are numbered from.
    as_whole : bool
        Whether a column is one feature, of its own number, instead of one for each category.

    Returns
    -------
    list of list of CategoryColumn
        Those of each task.
    """
    most = _WHOLE_CATEGORIES if as_whole else _MAX_CATEGORIES
    found: list[list[CategoryColumn]] = [[] for _ in tasks]
    for column in columns:
        values = table[:, [column]].toarray()[:, 0] if issparse(table) else table[:, column]
        categories, which, counts = _distinct(np.asarray(values, dtype=np.float64))
        if weights.shape[0] or len(tasks) > 1:
            weigh = weights if weights.shape[0] else np.ones(which.shape[0])
            # Sums of whole numbers, exact as floats.
            n = categories.shape[0]
            by_task = np.stack([np.bincount(which[at], weigh[at], n).astype(np.int64) for at in tasks])
        else:
            by_task = counts[None]
        is_usable, counts = by_task >= np.array(fewest_rows)[:, None], by_task.sum(axis=0)
        kept = np.flatnonzero(is_usable.any(axis=0))
        if kept.shape[0] > most:
            kept = np.sort(kept[np.argsort(-counts[kept], kind="stable")[:most]])
        for first in range(0, max(kept.shape[0], 1), _CODES - 1):
            chunk = kept[first : first + _CODES - 1]
            code_of = np.zeros(categories.shape[0], dtype=np.uint8)
            code_of[chunk] = np.arange(1, chunk.shape[0] + 1)
            values = np.concatenate([[np.nan], categories[chunk]])
            codes, feature = code_of[which], int(column) if as_whole else first_feature
            for k, at in enumerate(tasks):
                usable = np.concatenate([[False], is_usable[k, chunk]])
                found[k].append(CategoryColumn(int(column), feature, values, codes[at], usable, as_whole))
            first_feature += 0 if as_whole else int(values.shape[0])
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
