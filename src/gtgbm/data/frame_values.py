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
_WHOLE = 2.0**63
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
    native = series.to_native()
    if isinstance(series.dtype, nw.Categorical) and hasattr(native, "cat") and hasattr(native.cat, "codes"):
        # pandas: by value, since the text that it makes of one depends on the others.
        labels, at = native.cat.categories.tolist(), native.cat.codes.to_numpy()
        code: F64 = np.full(len(labels) + 1, np.nan)  # missing values are -1
        for k in np.unique(at[at >= 0]).tolist():
            code[k] = category_of(labels[k], codes)
        return np.asarray(code[at])
    if isinstance(series.dtype, nw.Categorical) and _is_arrow_without_text(native):
        return np.array([category_of(value, codes) for value in series.to_list()], dtype=np.float64)
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


def single_value(value: Any, name: str) -> Any:
    """Return an entry of a row by name, after checking that it is one value and not a column."""
    value = plain(value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value)
    # Tuples may be categories.
    if hasattr(value, "__len__") and not isinstance(value, str | bytes | tuple):
        raise ValueError(
            f"X: {name!r} holds several values ({type(value).__name__}), but a mapping is a single row by "
            "name: give a dataframe for several rows"
        )
    return value


def category_of(value: Any, categories: dict[str, float]) -> float:
    """Return the code of a single value of a categorical column; NaN if it is missing."""
    value = plain(value)
    if is_missing(value):
        return float("nan")
    text = category_text(value)
    # Whole numbers were written as floats once, and model files may have them so.
    if isinstance(value, float) and text not in categories and repr(value) in categories:
        return categories[repr(value)]
    return categories[text]


def category_text(value: Any) -> str:
    """Write a category, the same for equal values: 1 and 1.0, a date and its midnight."""
    if isinstance(value, str | bool):
        return str(value)
    if isinstance(value, numbers.Number):
        number = float(value)  # type: ignore[arg-type]
        return str(int(value)) if number.is_integer() and abs(number) < _WHOLE else repr(number)  # type: ignore[call-overload]
    if isinstance(value, datetime.datetime):
        moment = value.astimezone(datetime.timezone.utc) if value.tzinfo else value
        is_day = moment.tzinfo is None and moment.time() == datetime.time()
        return str(moment.date()) if is_day else str(moment)
    return datetime.timedelta.__str__(value) if isinstance(value, datetime.timedelta) else str(value)


def kind_of_value(value: Any) -> Kind | None:
    """Return what a single value would be in a column of its own; None for what is missing."""
    value = plain(value)
    if is_missing(value):
        return None
    if isinstance(value, numbers.Number):
        return "number"
    return "time" if isinstance(value, _TIMES) else "category"


def kind_of_text(label: str) -> Kind:
    """Return what a category was before it became text, as far as that can be told."""
    if label in ("True", "False"):
        return "number"
    for kind, read in (("number", float), ("time", datetime.datetime.fromisoformat)):
        try:
            read(label)
        except ValueError:
            continue
        return kind  # type: ignore[return-value]
    return "category"


def _is_arrow_without_text(native: Any) -> bool:
    """Whether a column is a dictionary of Arrow's, within pandas or not, of something else than text."""
    arrow_type = getattr(getattr(native, "dtype", None), "pyarrow_dtype", getattr(native, "type", None))
    return "string" not in str(getattr(arrow_type, "value_type", "string"))


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
