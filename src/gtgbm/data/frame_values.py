"""Converts the values of dataframe columns, of any library and type, to numbers."""

from __future__ import annotations

import datetime
import numbers
from typing import Any, Literal

import narwhals as nw
import numpy as np

from gtgbm.exact import F64

Kind = Literal["number", "time", "category"]

KIND_NAMES: dict[Kind, str] = {"number": "numbers", "time": "times", "category": "categories"}
UNSEEN = -1.0
"""Code of a category that training did not see: it is treated like rare categories."""

_MICROSECOND = datetime.timedelta(microseconds=1)
_MICROSECONDS = 1e6
_EPOCH = datetime.datetime(1970, 1, 1)
_TIMES = (datetime.date, datetime.time, datetime.timedelta)
_SINGLE = (nw.Float32, nw.Int8, nw.Int16, nw.UInt8, nw.UInt16, nw.Boolean)
"""Types whose values are all exact in float32."""


def kinds_of(frame: nw.DataFrame[Any], what: str = "X") -> dict[str, Kind]:
    """Return the kind of each column, by name."""
    kinds = {}
    for name, dtype in frame.schema.items():
        kind = _kind_of_type(dtype)
        kinds[name] = kind if kind is not None else _kind_of_values(frame[name], what)
    return kinds


def _kind_of_type(dtype: nw.dtypes.DType) -> Kind | None:
    if dtype.is_numeric() or isinstance(dtype, nw.Boolean):
        return "number"
    if dtype.is_temporal():
        return "time"
    return "category" if isinstance(dtype, nw.String | nw.Categorical | nw.Enum) else None


def _kind_of_values(series: nw.Series[Any], what: str) -> Kind:
    remedy = "make it numbers, times or text, or leave it out"
    if not isinstance(series.dtype, nw.Object):
        if series.is_null().all():
            return "number"
        native = getattr(series.to_native(), "dtype", None) or getattr(series.to_native(), "type", "")
        raise TypeError(f"{what}: column {series.name!r} has type {native or series.dtype}; {remedy}")
    types = {type(value) for value in series.drop_nulls().to_list()}
    if all(issubclass(kind, numbers.Number | np.bool_) for kind in types):  # includes decimals
        return "number"
    if all(issubclass(kind, str) for kind in types):
        return "category"
    if all(issubclass(kind, _TIMES) for kind in types):
        return "time"
    listed = ", ".join(sorted(kind.__name__ for kind in types))
    raise TypeError(f"{what}: column {series.name!r} holds objects of type {listed}; {remedy}")


def is_plain(dtype: nw.dtypes.DType) -> bool:
    """Whether values of a type are numbers that need no conversion."""
    return dtype.is_numeric() and not isinstance(dtype, nw.Decimal)


def float_type(frame: nw.DataFrame[Any]) -> Any:
    """Return float32 if it is exact for all columns of a dataframe, else float64."""
    return np.float32 if all(isinstance(dtype, _SINGLE) for dtype in frame.schema.values()) else np.float64


def numbers_of(series: nw.Series[Any]) -> F64:
    """Return the values of a numeric or time column, NaN where they are missing."""
    dtype = series.dtype
    if isinstance(dtype, nw.Object | nw.Time | nw.Decimal):
        # One by one: the casts of some libraries round decimals wrongly in the last bit.
        return np.array([number_of(value, series.name) for value in series.to_list()], dtype=np.float64)
    if isinstance(dtype, nw.Date):
        series = series.cast(nw.Datetime("us"))
    if isinstance(dtype, nw.Date | nw.Datetime):
        return _floats(series.dt.timestamp("us")) / _MICROSECONDS
    if isinstance(dtype, nw.Duration):
        values = series.to_numpy()
        if values.dtype.kind == "m":  # as integers: through floats some values would be off by one
            whole = values.astype("timedelta64[us]").astype(np.int64)
            return np.where(np.isnat(values), np.nan, whole / _MICROSECONDS)
        return _floats(series.dt.total_microseconds()) / _MICROSECONDS
    if dtype.is_numeric() or isinstance(dtype, nw.Boolean):
        return _floats(series)
    return np.full(len(series), np.nan)  # a column without a single value


def codes_of(series: nw.Series[Any], codes: dict[str, float]) -> F64:
    """Return the codes of a categorical column; NaN where values are missing."""
    if not isinstance(series.dtype, nw.Object):
        series = series.cast(nw.String)  # Arrow has several string types; this leaves one
    # Sorted, so that new codes do not depend on the order in which the library lists categories.
    labels = sorted(series.drop_nulls().unique().to_list())
    if not labels:
        return np.full(len(series), np.nan)
    coded = series.replace_strict(labels, [codes[label] for label in labels], return_dtype=nw.Float64)
    return np.asarray(coded.to_numpy(), dtype=np.float64)


def number_of(value: Any, name: str) -> float:
    """Return a single value of a numeric or time column as a number; NaN if it is missing."""
    value = plain(value)
    if is_missing(value):
        return float("nan")
    if isinstance(value, numbers.Number):
        return float(value)  # type: ignore[arg-type]
    if isinstance(value, datetime.timedelta):
        return (value // _MICROSECOND) / _MICROSECONDS
    if isinstance(value, datetime.datetime):
        moment = value.astimezone(datetime.timezone.utc).replace(tzinfo=None) if value.tzinfo else value
        return ((moment - _EPOCH) // _MICROSECOND) / _MICROSECONDS
    if isinstance(value, datetime.date):
        return float((value - _EPOCH.date()).days * 86_400)
    if isinstance(value, datetime.time):
        return value.hour * 3600.0 + value.minute * 60.0 + value.second + value.microsecond / _MICROSECONDS
    raise TypeError(f"X: {name!r} is {value!r}, which is neither a number nor a time: convert it")


def category_of(value: Any, categories: dict[str, float]) -> float:
    """Return the code of a single value of a categorical column; NaN if it is missing."""
    value = plain(value)
    return float("nan") if is_missing(value) else categories[str(value)]


def plain(value: Any) -> Any:
    """Convert numpy and Arrow scalars to Python objects."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        kind = "datetime64[us]" if isinstance(value, np.datetime64) else "timedelta64[us]"
        return value.astype(kind).item()
    if isinstance(value, np.generic):
        return value.item()
    return value.as_py() if hasattr(value, "as_py") else value


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, or pandas' NA or NaT."""
    # NaN and NaT do not equal themselves, and comparing pandas' NA gives neither True nor False.
    return value is None or (value == value) is not True


def _floats(series: nw.Series[Any]) -> F64:
    return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
