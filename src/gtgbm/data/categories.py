"""Categorical columns: a column of codes, in which each category is a feature of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gtgbm.data.input import AnyTable
from gtgbm.data.values import values_of
from gtgbm.exact import ALONE, CELLS, F64, I64, U8, Bool, Communicator, union

_CODES = CELLS - 1
"""Number of codes of one column: the last cell of a histogram is reserved for missing values."""
_MAX_CATEGORIES = 16 * (_CODES - 1)
"""Most categories of one column that can be features; the most frequent are kept. Each 254 of them take one
byte per row."""
_WHOLE_CATEGORIES = _CODES - 1
"""Most categories of a column that is one feature, since it has only one column of codes."""
_MAX_COUNTED = 1 << 16
"""Columns of integers with a smaller range than this are counted instead of sorted, which is faster."""


@dataclass(frozen=True)
class CategoryColumn:
    """Codes of up to 254 categories of a column; code 0 stands for all others.

    Attributes
    ----------
    column : int
        Column of the table.
    first_feature : int
        The category of code c is feature ``first_feature + c``. If the column is one feature, all its
        categories are ``first_feature``.
    values : ndarray of float64, shape (codes,)
        Category of each code. NaN stands for missing values, which are a category like any other.
    codes : ndarray of uint8, shape (n,)
    is_usable : ndarray of bool, shape (codes,)
        False for categories with too few rows to be a side of any split, and for code 0.
    is_whole : bool
        Whether the column is one feature, selected with all its categories.
    """

    column: int
    first_feature: int
    values: F64
    codes: U8
    is_usable: Bool
    is_whole: bool = False

    def of_column(self, column: int) -> CategoryColumn:
        """Return the same codes as those of another column of the table."""
        return replace(self, column=column, first_feature=column if self.is_whole else self.first_feature)

    @property
    def end_feature(self) -> int:
        """One more than the number of its last feature."""
        return self.first_feature + (1 if self.is_whole else int(self.values.shape[0]))


def columns_of_features(n_columns: int, categorical: Sequence[CategoryColumn]) -> tuple[I64, Bool]:
    """Return the column of each feature.

    Parameters
    ----------
    n_columns : int
        Columns of the table; the feature of a numeric column has the number of the column.

    Returns
    -------
    column : ndarray of int64, shape (features,)
    is_feature : ndarray of bool, shape (features,)
        False for the number of a column whose categories are features instead.
    """
    n_features = max([n_columns, *(column.end_feature for column in categorical)])
    columns: I64 = np.arange(n_features, dtype=np.int64)
    is_feature: Bool = np.ones(n_features, dtype=np.bool_)
    for column in categorical:
        columns[column.first_feature : column.end_feature] = column.column
        is_feature[column.column] = column.is_whole
    return columns, is_feature


def encode_categories(
    table: AnyTable,
    columns: Sequence[int],
    weights: I64,
    fewest_rows: int,
    first_feature: int,
    as_whole: bool = False,
    communicator: Communicator = ALONE,
) -> list[CategoryColumn]:
    """Encode the categorical columns of a table; see `encode_categories_of_tasks`."""
    rows = slice(0, table.shape[0])
    return encode_categories_of_tasks(
        table, columns, weights, [rows], [fewest_rows], first_feature, as_whole, communicator
    )[0]


def encode_categories_of_tasks(
    table: AnyTable,
    columns: Sequence[int],
    weights: I64,
    tasks: Sequence[slice],
    fewest_rows: Sequence[int],
    first_feature: int,
    as_whole: bool = False,
    communicator: Communicator = ALONE,
) -> list[list[CategoryColumn]]:
    """Encode the categorical columns of several tasks; a category is the same feature for all tasks.

    Parameters
    ----------
    table : ndarray or scipy.sparse.csc_matrix, shape (n, d)
    columns : sequence of int
        The categorical columns.
    weights : ndarray of int64, shape (n,), or empty where all rows weigh 1
    tasks : sequence of slice
        The rows of each task.
    fewest_rows : sequence of int
        Fewest rows of a leaf in each task. A category with fewer rows in every task cannot be a side of any
        split, so it is not a feature.
    first_feature : int
        Number of the first feature.
    as_whole : bool
        Whether a column is one feature, with the number of the column, instead of one per category.
    communicator : Communicator
        Combines the categories of all workers.

    Returns
    -------
    list of list of CategoryColumn
        The encoded columns of each task.
    """
    most = _WHOLE_CATEGORIES if as_whole else _MAX_CATEGORIES
    encoded: list[list[CategoryColumn]] = [[] for _ in tasks]
    for column in columns:
        values = values_of(table, np.array([column]))[:, 0]
        categories, which, counts = _distinct_of_all(np.asarray(values, dtype=np.float64), communicator)
        if weights.shape[0] or len(tasks) > 1:
            row_weights = weights if weights.shape[0] else np.ones(which.shape[0])
            # Sums of integers are exact in floats.
            n = categories.shape[0]
            by_task = np.stack([np.bincount(which[at], row_weights[at], n).astype(np.int64) for at in tasks])
        else:
            by_task = counts[None]
        communicator.sum(by_task)
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
                encoded[k].append(CategoryColumn(int(column), feature, values, codes[at], usable, as_whole))
            first_feature += 0 if as_whole else int(values.shape[0])
    return encoded


def _distinct_of_all(values: F64, communicator: Communicator) -> tuple[F64, I64, I64]:
    """Return the distinct values of all workers, the index of each row's value, and this worker's counts."""
    values = values + 0.0  # minus zero is zero
    if communicator.world == 1:
        return _distinct(values)
    own, which, own_counts = (
        _distinct(values) if values.shape[0] else (values, *np.zeros((2, 0), dtype=np.int64))
    )
    distinct = union(own, communicator)
    place = np.searchsorted(distinct, own).astype(np.int64)
    counts = np.zeros(distinct.shape[0], dtype=np.int64)
    counts[place] = own_counts
    return distinct, place[which], counts


def _distinct(values: F64) -> tuple[F64, I64, I64]:
    """Return distinct values, ascending with NaN last, the index of each row's value, and their counts."""
    low = values.min()
    is_countable = (
        np.isfinite(low) and values.max() - low < _MAX_COUNTED and bool((values == np.rint(values)).all())
    )
    if not is_countable:
        distinct, which, counts = np.unique(values, return_inverse=True, return_counts=True)
        return distinct, which.astype(np.int64), counts.astype(np.int64)
    shifted = (values - low).astype(np.int64)
    all_counts = np.bincount(shifted)
    present = np.flatnonzero(all_counts)
    number = np.zeros(all_counts.shape[0], dtype=np.int64)
    number[present] = np.arange(present.shape[0])
    return present + low, number[shifted], all_counts[present]
