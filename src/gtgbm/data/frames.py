"""Converts dataframes (pandas, polars, Arrow) to tables of numbers and stores a schema of their columns.

=====================  =====================================================================
column                 becomes
=====================  =====================================================================
integers, floats       unchanged
decimals               the nearest float
booleans               0 and 1
dates, times           seconds since 1970 (UTC where there is a time zone)
durations, times       seconds
of day
text, categories       integer codes of the categories, sorted by text
missing values         NaN, in columns of every type
=====================  =====================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from gtgbm.data.frame_values import (
    KIND_NAMES,
    UNSEEN,
    Kind,
    category_of,
    codes_of,
    float_type,
    is_plain,
    kind_of_text,
    kind_of_value,
    kinds_of,
    number_of,
    numbers_of,
    single_value,
)
from gtgbm.exact import F64, Table

_SHOWN = 10
"""Most names listed in an error message."""


@dataclass(frozen=True)
class FrameColumn:
    """Name and kind of a dataframe column.

    Attributes
    ----------
    categories : tuple of str
        Categories in the order of their codes, which is sorted order; empty for other kinds.
    """

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class FrameSchema:
    """Columns of the dataframe that a model was trained on.

    Attributes
    ----------
    is_named : bool
        Whether the columns have names; if not, they are identified by position.
    """

    columns: tuple[FrameColumn, ...]
    is_named: bool = True

    @property
    def categorical(self) -> list[int]:
        """Positions of the categorical columns."""
        return [k for k, column in enumerate(self.columns) if column.kind == "category"]

    @property
    def text_names(self) -> list[str]:
        """Names of the categorical columns."""
        return [self.columns[k].name for k in self.categorical]

    def label(self, column: int, code: float) -> Any:
        """Return the category of a code; NaN stands for missing values."""
        if column >= len(self.columns) or self.columns[column].kind != "category" or np.isnan(code):
            return code
        assert code >= 0, "an unseen category has no label"
        return self.columns[column].categories[int(code)]

    def code(self, column: int, label: Any) -> float:
        """Return the code of a category."""
        return float(self.columns[column].categories.index(label) if isinstance(label, str) else label)

    def at(self, columns: Iterable[int]) -> FrameSchema:
        """Return the schema of some columns only."""
        return FrameSchema(tuple(self.columns[k] for k in columns), self.is_named)

    def by_place(self) -> FrameSchema:
        """Rename columns without names by their current positions."""
        if self.is_named:
            return self
        columns = (replace(column, name=str(k)) for k, column in enumerate(self.columns))
        return FrameSchema(tuple(columns), False)

    def check_width(self, frame: nw.DataFrame[Any], what: str = "X") -> None:
        """Raise an error if a dataframe without column names has another number of columns."""
        if not self.is_named and len(frame.columns) != len(self.columns):
            raise ValueError(f"{what} has {len(frame.columns)} columns, {len(self.columns)} are expected")

    def table(self, frame: nw.DataFrame[Any], what: str = "X") -> Table:
        """Return the values of these columns, selected by name, as numbers.

        Parameters
        ----------
        frame : narwhals DataFrame
            May have other columns too, in any order.

        Returns
        -------
        ndarray of float32 or float64, shape (n, columns)
        """
        n_rows, names = len(frame), [column.name for column in self.columns]
        if not names:  # a dataframe without columns would have no rows either
            return np.empty((n_rows, 0))
        absent = lacking(names, frame.columns)
        if absent:
            raise ValueError(f"{what} has no columns {listed(absent)}; it needs {listed(names)}")
        frame = frame if frame.columns == names else frame.select(names)
        if all(column.kind == "number" for column in self.columns):
            at_once = _without_copy(frame)
            if at_once is not None:
                return at_once
        builder = TableBuilder.like(self, n_rows, float_type(frame), what)
        builder.add(frame)
        return builder.finish()[0]

    def row(self, values: Any) -> F64:
        """Return a single row, given as a mapping from names, as numbers, shape (columns,)."""
        names = [column.name for column in self.columns]
        absent = lacking(names, values.keys())
        if absent:
            raise ValueError(f"X has no entries {listed(absent)}; it needs {listed(names)}")
        row = np.empty(len(self.columns))
        for k, column in enumerate(self.columns):
            value = single_value(values[column.name], column.name)
            kind = kind_of_value(value)
            if column.kind == "category":
                row[k] = category_of(value, KnownCodes(column.categories))
                # A number or a time may be a category, if there are others like it.
                if row[k] != UNSEEN or any(kind_of_text(one) == kind for one in column.categories):
                    continue
            if kind is not None and kind != column.kind:
                raise ValueError(other_kind(column, kind, "X"))
            if column.kind != "category":
                row[k] = number_of(value, column.name)
        return row


@dataclass(frozen=True)
class EncodedFrame:
    """A dataframe already converted to numbers, shape (n, columns), and its schema."""

    table: Table
    schema: FrameSchema


class KnownCodes(dict[str, float]):
    """Codes of the categories seen in training; other categories get the code `UNSEEN`."""

    def __init__(self, categories: Sequence[str]) -> None:
        super().__init__((label, float(code)) for code, label in enumerate(categories))

    def __missing__(self, label: str) -> float:
        return UNSEEN


class _NewCodes(dict[str, float]):
    """Codes of categories in the order in which they first occur."""

    def __missing__(self, label: str) -> float:
        self[label] = float(len(self))
        return self[label]


class TableBuilder:
    """Collects the rows of a dataframe, or of parts of one, into a table of numbers.

    Parameters
    ----------
    columns : sequence of FrameColumn
        Their categories are collected from the rows.
    n_rows : int
        Most rows that will be added.
    """

    def __init__(self, columns: Sequence[FrameColumn], n_rows: int, dtype: Any, is_named: bool) -> None:
        self._columns, self._is_named = columns, is_named
        self._known: FrameSchema | None = None
        self._what = "X"
        # In column order, since columns are read one by one. Pages never written to take no memory.
        self._table: Table = np.empty((n_rows, len(columns)), dtype=dtype, order="F")
        self._n_rows = 0
        self._codes: Sequence[dict[str, float]] = [_NewCodes() for _ in columns]

    @classmethod
    def like(cls, schema: FrameSchema, n_rows: int, dtype: Any, what: str) -> TableBuilder:
        """Collect rows with the columns and category codes of an existing schema."""
        builder = cls(schema.columns, n_rows, dtype, schema.is_named)
        builder._known, builder._what = schema, what
        builder._codes = [KnownCodes(column.categories) for column in schema.columns]
        return builder

    def add(self, frame: nw.DataFrame[Any]) -> None:
        """Append rows."""
        rows = slice(self._n_rows, self._n_rows + len(frame))
        if rows.stop > self._table.shape[0]:
            raise ValueError(f"{self._what} has more rows than lines; end every line with a newline")
        dtypes = frame.schema
        if self._known is not None:
            self._check_kinds(frame)
        numeric = [
            k
            for k, column in enumerate(self._columns)
            if column.kind == "number" and is_plain(dtypes[column.name])
        ]
        if numeric:
            # All at once: fetching columns one by one takes longer than copying them.
            self._table[rows, numeric] = frame.select([self._columns[k].name for k in numeric]).to_numpy()
        for k in sorted({*range(len(self._columns))} - {*numeric}):
            column = self._columns[k]
            series = frame[column.name]
            is_category = column.kind == "category"
            self._table[rows, k] = codes_of(series, self._codes[k]) if is_category else numbers_of(series)
        self._n_rows = rows.stop

    def _check_kinds(self, frame: nw.DataFrame[Any]) -> None:
        kinds = kinds_of(frame.select([column.name for column in self._columns]), self._what)
        for column in self._columns:
            kind = kinds[column.name]
            if kind != column.kind and not frame[column.name].is_null().all():
                raise ValueError(other_kind(column, kind, self._what))

    def finish(self) -> tuple[Table, FrameSchema]:
        """Return the table, with codes in the sorted order of the categories, and its schema."""
        table = self._table[: self._n_rows]
        if self._known is not None:
            return table, self._known
        described = []
        for k, column in enumerate(self._columns):
            categories = sorted(self._codes[k])
            described.append(replace(column, categories=tuple(categories)))
            first_seen = [int(self._codes[k][label]) for label in categories]
            if first_seen != list(range(len(categories))):
                code = np.empty(len(categories) + 1)
                code[first_seen] = np.arange(len(categories))
                code[-1] = np.nan  # entry for missing values
                missing = np.isnan(table[:, k])
                table[:, k] = code[np.where(missing, len(categories), table[:, k]).astype(np.int64)]
        return table, FrameSchema(tuple(described), self._is_named)


def as_frame(X: Any, what: str = "X") -> tuple[nw.DataFrame[Any], bool] | None:
    """Return a dataframe and whether its columns have names; None if X is not a dataframe."""
    native, is_named = X, True
    if not isinstance(X, nw.DataFrame) and nw.dependencies.is_pandas_dataframe(X):
        if any(str(dtype).startswith("Sparse") for dtype in set(X.dtypes)):
            return None
        named = [isinstance(name, str) for name in X.columns]
        if not any(named):
            native, is_named = X.set_axis([str(k) for k in range(X.shape[1])], axis=1), False
        elif not all(named):
            raise TypeError(
                f"{what} has column names of several types; give all columns names of type str "
                f"({what}.columns = {what}.columns.astype(str)), or none"
            )
        if len(set(native.columns)) < native.shape[1]:
            duplicates = native.columns[native.columns.duplicated()].unique().tolist()
            raise ValueError(
                f"{what} has several columns of the same name: {listed(duplicates)}; rename them"
            )
    frame = nw.from_native(native, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{what} is a lazy frame: pass {what}.collect()")
    if not isinstance(frame, nw.DataFrame):
        return None
    if len(frame) == 0 or len(frame.columns) == 0:
        raise ValueError(f"{what} has shape {frame.shape}: found 0 rows or columns, at least 1 is required")
    return frame, is_named


def other_kind(column: FrameColumn, kind: Kind, what: str) -> str:
    """Return the message about values of another kind than training had."""
    return (
        f"{what}: column {column.name!r} holds {KIND_NAMES[column.kind]} in the training table, but "
        f"{KIND_NAMES[kind]} here; convert it"
    )


def columns_of(frame: nw.DataFrame[Any], what: str = "X") -> list[FrameColumn]:
    """Return names and kinds of the columns of a dataframe, without their categories."""
    return [FrameColumn(name, kind) for name, kind in kinds_of(frame, what).items()]


def encode_frame(frame: nw.DataFrame[Any], is_named: bool, what: str = "X") -> tuple[Table, FrameSchema]:
    """Convert a training dataframe to a table of numbers, without a copy where it already is one."""
    columns = columns_of(frame, what)
    at_once = _without_copy(frame)
    if at_once is not None:
        return at_once, FrameSchema(tuple(columns), is_named)
    builder = TableBuilder(columns, len(frame), float_type(frame), is_named)
    builder.add(frame)
    return builder.finish()


def as_values(values: Any) -> Any:
    """Return a series of any dataframe library as an array; return other values unchanged."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return values
    if isinstance(series.dtype, nw.Categorical | nw.Enum) and not series.is_null().any():
        return np.array(series.to_list())
    return numbers_of(series) if isinstance(series.dtype, nw.Decimal) else series.to_numpy()


def listed(names: Sequence[Any]) -> str:
    """Format names for an error message; long lists are shortened."""
    return ", ".join(map(repr, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")


def lacking(wanted: Iterable[str], present: Iterable[Any]) -> list[str]:
    """Return the wanted names that are not present, in their order."""
    known = set(present)
    return [name for name in wanted if name not in known]


def repeated(names: Sequence[str]) -> list[str]:
    """Return the names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def _without_copy(frame: nw.DataFrame[Any]) -> Table | None:
    """Return the array behind a pandas dataframe of one numeric dtype; None for other dataframes."""
    native = nw.to_native(frame)
    if not nw.dependencies.is_pandas_dataframe(native):
        return None
    dtypes = list(set(native.dtypes))
    if len(dtypes) != 1 or not isinstance(dtypes[0], np.dtype) or dtypes[0].kind not in "fiu":
        return None
    table: Table = native.to_numpy()
    return table
