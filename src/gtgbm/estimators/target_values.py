"""Targets as users hand them over: values that would be misread, or fail later, are refused by name."""

from __future__ import annotations

import datetime
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.data import as_values, is_missing

_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def target_values(y: Any, name: str, *, is_numeric: bool) -> Any:
    """Return targets as an array where they are a series or a list, and as they are otherwise.

    Parameters
    ----------
    name : str
        What errors call them.
    is_numeric : bool
        Whether they have to be numbers; if not, they are labels of classes.
    """
    if np.ma.isMaskedArray(y):
        masked = np.flatnonzero(np.ma.getmaskarray(y))
        if masked.shape[0]:
            raise ValueError(f"{name} is masked in row {masked[0]}: leave rows without a target out")
        return np.ma.getdata(y)
    values = as_values(y)
    is_like_array = hasattr(values, "__array__") and getattr(values, "ndim", 0) == 1  # an index of pandas
    if _is_list(values) or is_like_array:
        array = np.asarray(values, dtype=object if _is_mixed(values) else None)
    else:
        array = values
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        return values
    if array.dtype.kind == "O":
        _check_objects(array, name, is_numeric)
        if array.shape[0] and all(isinstance(one, bool | np.bool_) for one in array):
            return array.astype(np.bool_)
    elif is_numeric and array.dtype.kind in "Mm":
        raise _no_number(name, array[0], 0)
    elif is_numeric and array.dtype.kind in "US":
        _check_text(array, name)
    return values


def _is_list(values: Any) -> bool:
    return isinstance(values, list | tuple) and all(np.ndim(one) == 0 for one in values[:1])


def _is_mixed(values: Any) -> bool:
    """Whether numpy would turn values of a list into text."""
    return _is_list(values) and any(isinstance(one, str) for one in values)


def _check_objects(array: NDArray[Any], name: str, is_numeric: bool) -> None:
    families: dict[str, Any] = {}
    for row, one in enumerate(array):
        if is_missing(one):
            raise ValueError(f"{name} holds {one!r} in row {row}: leave rows without a target out")
        if is_numeric and isinstance(one, _TIMES):
            raise _no_number(name, one, row)
        family = "number" if isinstance(one, numbers.Number | np.bool_) else type(one).__name__
        families.setdefault(family, one)
    if is_numeric:
        _check_text(array, name)
    elif len(families) > 1:
        some = " and ".join(repr(one) for one in list(families.values())[:2])
        raise ValueError(
            f"{name} holds labels of several types, such as {some}: make them all text, as in "
            f"[str(one) for one in {name}], or all numbers"
        )


def _check_text(array: NDArray[Any], name: str) -> None:
    try:
        array.astype(np.float64)
    except (TypeError, ValueError):
        row = next(row for row, one in enumerate(array) if not _is_number(one))
        raise _no_number(name, array[row], row) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _no_number(name: str, value: Any, row: int) -> ValueError:
    if isinstance(value, _TIMES):
        return ValueError(
            f"{name} holds dates or times ({value!s} in row {row}), which have no unit of their own: give "
            "numbers, such as the days since a date"
        )
    shown = value.item() if isinstance(value, np.generic) else value
    return ValueError(
        f"{name} holds {shown!r} in row {row}, which is no number: convert it, or use a classifier"
    )
