"""Dataframes (pandas, polars, Arrow) become tables of numbers; what each column holds is remembered.

=====================  =====================================================================
column                 becomes
=====================  =====================================================================
integers, floats       themselves
decimals               the nearest float
booleans               0 and 1
dates, times           seconds since 1970 (UTC where there is a time zone)
durations, times       seconds
of day
text, categories       codes of their categories, sorted by text
missing values         NaN, of every kind
=====================  =====================================================================
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import narwhals as nw
import numpy as np

from gtgbm.arrays import F64, Table

Kind = Literal["number", "time", "category"]

UNSEEN = -1.0
"""Code of a category that training did not see: it goes where rare ones go."""
_MICROSECONDS = 1e6
_SHOWN = 10
"""Names listed in an error message."""


@dataclass(frozen=True)
class FrameColumn:
    """What a column of a dataframe holds.

    Attributes
    ----------
    categories : tuple of str
        Categories in the order of their codes, sorted.
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
        Whether the columns have names; if not, they are known by their places.
    """

    columns: tuple[FrameColumn, ...]
    is_named: bool = True

    @property
    def categorical(self) -> list[int]:
        """Columns that hold codes of categories."""
        return [k for k, column in enumerate(self.columns) if column.kind == "category"]

    def label(self, column: int, code: float) -> Any:
        """Return the category of a code; NaN stands for missing values."""
        if column >= len(self.columns) or self.columns[column].kind != "category" or np.isnan(code):
            return code
        return self.columns[column].categories[int(code)]

    def code(self, column: int, label: Any) -> float:
        """Return the code of a category."""
        return float(self.columns[column].categories.index(label) if isinstance(label, str) else label)

    def at(self, columns: Iterable[int]) -> FrameSchema:
        """Keep some columns only."""
        return FrameSchema(tuple(self.columns[k] for k in columns), self.is_named)

    def table(self, frame: nw.DataFrame[Any], what: str = "X") -> Table:
        """Return the values of these columns, found by name, as numbers.

        Parameters
        ----------
        frame : narwhals DataFrame
            May have other columns too, in any order.

        Returns
        -------
        ndarray of float32 or float64, shape (n, columns)
        """
        frame = self._own(frame, what)
        at_once = _without_copy(frame)
        if at_once is not None and not self.categorical:
            return at_once
        table: Table = np.empty((len(frame), len(self.columns)), dtype=_dtype(frame), order="F")
        for k, column in enumerate(self.columns):
            series = frame[column.name]
            kind = kind_of(series)
            if not series.is_null().all():
                _check_kind(column, kind, what)
            if column.kind == "category":
                table[:, k] = codes_of(series, _Known(column.categories))
            else:
                table[:, k] = numbers_of(series)
        return table

    def row(self, values: Any) -> F64:
        """Return a single row, given as a mapping from names, as numbers, shape (columns,)."""
        names = [column.name for column in self.columns]
        absent = [name for name in names if name not in values.keys()]  # noqa: SIM118
        if absent:
            raise ValueError(f"X has no entries {listed(absent)}; needed are {listed(names)}")
        found = np.empty(len(self.columns))
        for k, column in enumerate(self.columns):
            value = values[column.name]
            if column.kind != "category":
                found[k] = _number(value)
            elif isinstance(value, str):
                found[k] = column.categories.index(value) if value in column.categories else UNSEEN
            else:
                found[k] = np.nan if _is_missing(value) else UNSEEN
        return found

    def _own(self, frame: nw.DataFrame[Any], what: str) -> nw.DataFrame[Any]:
        if not self.is_named and len(frame.columns) != len(self.columns):
            raise ValueError(f"{what} has {len(frame.columns)} columns, {len(self.columns)} are expected")
        names = [column.name for column in self.columns]
        present = set(frame.columns)
        absent = [name for name in names if name not in present]
        if absent:
            raise ValueError(f"{what} has no columns {listed(absent)}; needed are {listed(names)}")
        return frame if frame.columns == names else frame.select(names)


@dataclass(frozen=True)
class EncodedFrame:
    """The rows of a dataframe as numbers already, shape (n, columns), and what its columns hold."""

    table: Table
    schema: FrameSchema


class _Known(dict[str, float]):
    """Codes of the categories that training saw."""

    def __init__(self, categories: Sequence[str]) -> None:
        super().__init__((label, float(code)) for code, label in enumerate(categories))

    def __missing__(self, label: str) -> float:
        return UNSEEN


class _Growing(dict[str, float]):
    """Codes of categories in the order in which they turn up."""

    def __missing__(self, label: str) -> float:
        self[label] = float(len(self))
        return self[label]


class TableBuilder:
    """Collects the rows of a dataframe, or of the parts of one, in a table of numbers.

    Parameters
    ----------
    columns : sequence of (name, kind)
    n_rows : int
        At most so many rows will come.
    known : FrameSchema or None
        Codes of categories as another table has them; None: of the categories that turn up.
    """

    def __init__(
        self,
        columns: Sequence[tuple[str, Kind]],
        n_rows: int,
        dtype: Any,
        is_named: bool,
        known: FrameSchema | None = None,
    ) -> None:
        self._columns, self._is_named, self._known = columns, is_named, known
        # Column by column in memory: that is how columns are read. Pages not written to take no memory.
        self._table: Table = np.empty((n_rows, len(columns)), dtype=dtype, order="F")
        self._n_rows = 0
        self._codes: Sequence[dict[str, float]] = [_Growing() for _ in columns]
        if known is not None:
            for given, column in zip(columns, known.columns, strict=True):
                _check_kind(column, given[1], "the table")
            self._codes = [_Known(column.categories) for column in known.columns]

    def add(self, frame: nw.DataFrame[Any]) -> None:
        """Append rows."""
        rows = slice(self._n_rows, self._n_rows + len(frame))
        dtypes = frame.schema
        numeric = [k for k, (name, _) in enumerate(self._columns) if _is_plain(dtypes[name])]
        if numeric:
            # All at once: asking for columns one by one takes longer than copying them.
            self._table[rows, numeric] = frame.select([self._columns[k][0] for k in numeric]).to_numpy()
        for k in sorted({*range(len(self._columns))} - {*numeric}):
            name, kind = self._columns[k]
            if kind == "category":
                self._table[rows, k] = codes_of(frame[name], self._codes[k])
            else:
                self._table[rows, k] = numbers_of(frame[name])
        self._n_rows = rows.stop

    def finish(self) -> tuple[Table, FrameSchema]:
        """Return the table, whose codes are in the order of the categories, and what its columns are."""
        table = self._table[: self._n_rows]
        if self._known is not None:
            return table, self._known
        described = []
        for k, (name, kind) in enumerate(self._columns):
            categories = sorted(self._codes[k])
            described.append(FrameColumn(name, kind, tuple(categories)))
            first_seen = [int(self._codes[k][label]) for label in categories]
            if kind == "category" and first_seen != list(range(len(categories))):
                code = np.empty(len(categories) + 1)
                code[first_seen] = np.arange(len(categories))
                code[-1] = np.nan  # missing values come last
                missing = np.isnan(table[:, k])
                table[:, k] = code[np.where(missing, len(categories), table[:, k]).astype(np.int64)]
        return table, FrameSchema(tuple(described), self._is_named)


def as_frame(X: Any, what: str = "X") -> tuple[nw.DataFrame[Any], bool] | None:
    """Return a dataframe and whether its columns have names; None for what is no dataframe."""
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
            twice = native.columns[native.columns.duplicated()].unique().tolist()
            raise ValueError(f"{what} has several columns of the same name: {listed(twice)}; rename them")
    frame = nw.from_native(native, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TypeError(f"{what} is a lazy frame: give {what}.collect()")
    if not isinstance(frame, nw.DataFrame):
        return None
    if len(frame) == 0 or len(frame.columns) == 0:
        raise ValueError(f"{what} has shape {frame.shape}: found 0 rows or columns, at least 1 is required")
    return frame, is_named


def encode_frame(frame: nw.DataFrame[Any], is_named: bool, what: str = "X") -> tuple[Table, FrameSchema]:
    """Turn a dataframe to train on into a table of numbers, without a copy where it is one already."""
    columns = [(name, kind_of(frame[name], what)) for name in frame.columns]
    at_once = _without_copy(frame)
    if at_once is not None:
        return at_once, FrameSchema(tuple(FrameColumn(*column) for column in columns), is_named)
    builder = TableBuilder(columns, len(frame), _dtype(frame), is_named)
    builder.add(frame)
    return builder.finish()


def as_values(values: Any) -> Any:
    """Return a series of any dataframe library as an array; leave anything else as it is."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return values
    if isinstance(series.dtype, nw.Categorical | nw.Enum) and not series.is_null().any():
        return np.array(series.to_list())
    return series.to_numpy()


def _check_kind(column: FrameColumn, kind: Kind, what: str) -> None:
    if kind != column.kind:
        raise ValueError(
            f"{what}: column {column.name!r} holds {_KINDS[column.kind]} in the training table, but "
            f"{_KINDS[kind]} here; convert it"
        )


_KINDS = {"number": "numbers", "time": "times", "category": "categories"}


def kind_of(series: nw.Series[Any], what: str = "X") -> Kind:
    """Return what a column holds."""
    dtype = series.dtype
    if dtype.is_numeric() or isinstance(dtype, nw.Boolean):
        return "number"
    if dtype.is_temporal():
        return "time"
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        return "category"
    if isinstance(dtype, nw.Object):
        types = {type(value) for value in series.drop_nulls().to_list()}
        if all(issubclass(one, numbers.Number) for one in types):  # booleans and decimals are numbers too
            return "number"
        if all(issubclass(one, str) for one in types):
            return "category"
        if all(issubclass(one, _TIMES) for one in types):
            return "time"
        raise TypeError(
            f"{what}: column {series.name!r} holds objects of type {', '.join(sorted(map(_name, types)))}; "
            "make it numbers, times or text, or leave it out"
        )
    if series.is_null().all():
        return "number"
    raise TypeError(
        f"{what}: column {series.name!r} has type {dtype}; make it numbers, times or text, or leave it out"
    )


def numbers_of(series: nw.Series[Any]) -> F64:
    """Values of a column of numbers or times, NaN where they are missing."""
    dtype = series.dtype
    if isinstance(dtype, nw.Object | nw.Time | nw.Decimal):
        # One by one: a library's own cast of decimals may be off by a bit.
        return np.array([_number(value) for value in series.to_list()], dtype=np.float64)
    if isinstance(dtype, nw.Date):
        series = series.cast(nw.Datetime("us"))
    if isinstance(dtype, nw.Date | nw.Datetime):
        return _floats(series.dt.timestamp("us")) / _MICROSECONDS
    if isinstance(dtype, nw.Duration):
        return _floats(series.dt.total_microseconds()) / _MICROSECONDS
    if dtype.is_numeric() or isinstance(dtype, nw.Boolean):
        return _floats(series)
    return np.full(len(series), np.nan)  # a column without a single value


def codes_of(series: nw.Series[Any], codes: dict[str, float]) -> F64:
    """Return the codes of a column of categories."""
    if not isinstance(series.dtype, nw.String | nw.Object):
        series = series.cast(nw.String)
    # Sorted, so that codes do not depend on the library.
    labels = sorted(series.drop_nulls().unique().to_list())
    if not labels:
        return np.full(len(series), np.nan)
    found = series.replace_strict(labels, [codes[label] for label in labels], return_dtype=nw.Float64)
    return np.asarray(found.to_numpy(), dtype=np.float64)


def listed(names: Sequence[Any]) -> str:
    """Return some names for a message."""
    return ", ".join(map(repr, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")


_TIMES = (datetime.date, datetime.time, datetime.timedelta)


def _number(value: Any) -> float:
    if isinstance(value, Decimal | numbers.Number):
        return float(value)  # type: ignore[arg-type]
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)).timestamp()
    if isinstance(value, datetime.date):
        return float((value - datetime.date(1970, 1, 1)).days * 86_400)
    if isinstance(value, datetime.time):
        return value.hour * 3600.0 + value.minute * 60.0 + value.second + value.microsecond / _MICROSECONDS
    return float("nan")


def _is_missing(value: Any) -> bool:
    # NaN differs from itself, and pandas' NA is neither.
    return value is None or not bool(np.asarray(value == value, dtype=object).item() is True)


def _floats(series: nw.Series[Any]) -> F64:
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)


def _is_plain(dtype: nw.dtypes.DType) -> bool:
    """Whether values of a type are numbers as they are."""
    return dtype.is_numeric() and not isinstance(dtype, nw.Decimal)


_HALF = (nw.Float32, nw.Int8, nw.Int16, nw.UInt8, nw.UInt16, nw.Boolean)
"""Types whose values all are floats of 32 bits."""


def _dtype(frame: nw.DataFrame[Any]) -> Any:
    return np.float32 if all(isinstance(one, _HALF) for one in frame.schema.values()) else np.float64


def _without_copy(frame: nw.DataFrame[Any]) -> Table | None:
    """Return the one array that a pandas dataframe of numbers consists of."""
    native = nw.to_native(frame)
    if not nw.dependencies.is_pandas_dataframe(native):
        return None
    dtypes = list(set(native.dtypes))
    if len(dtypes) != 1 or not isinstance(dtypes[0], np.dtype) or dtypes[0].kind not in "fiu":
        return None
    table: Table = native.to_numpy()
    return table


def _name(kind: type) -> str:
    return kind.__name__
