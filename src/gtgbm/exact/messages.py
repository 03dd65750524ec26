"""Arrays as messages between workers."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray


def bytes_of(values: NDArray[Any]) -> bytes:
    """Return an array of numbers, booleans or text as a message; text in objects becomes fixed-width text."""
    if values.dtype.kind == "O":
        values = values.astype(str)
    file = io.BytesIO()
    np.save(file, values, allow_pickle=False)
    return file.getvalue()


def array_of(message: bytes) -> NDArray[Any]:
    """Return the array of a message."""
    array: NDArray[Any] = np.load(io.BytesIO(message), allow_pickle=False)
    return array
