"""The array types of the library, each defined once.

Row ids are int32 (tables have fewer than 2**31 rows), packed histogram cells int64, codes uint8.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

F64: TypeAlias = NDArray[np.float64]
I64: TypeAlias = NDArray[np.int64]
I32: TypeAlias = NDArray[np.int32]
I16: TypeAlias = NDArray[np.int16]
I8: TypeAlias = NDArray[np.int8]
U16: TypeAlias = NDArray[np.uint16]
U8: TypeAlias = NDArray[np.uint8]
Bool: TypeAlias = NDArray[np.bool_]
Table: TypeAlias = NDArray[Any]
"""A dense (rows, columns) array of any native float or integer dtype, in either memory order."""

LANES = 8
"""Columns interleaved in one tile of codes."""

CELLS = 256
"""Histogram cells of one column: up to 255 bins of values, and the missing values in the last cell."""

SKIPPED, NEW, OWNED, CATEGORICAL = 0, 1, 2, 3
"""What a column, or a category of a categorical column, is to a scan of histograms (native/scan.hpp)."""

OFFERED = 16
"""A category that other tasks own: kernels pass over it, and it is scanned apart, since its price differs."""

RISING, FALLING = 4, 8
"""Added to NEW or OWNED where predictions must not fall, or not rise, with a column's values."""
