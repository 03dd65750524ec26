"""The array types of the library, each defined once, and the constants that Python and the kernels share.

Row ids are int32 (tables have fewer than 2**31 rows), packed histogram cells int64, codes uint8.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gtgbm import _core

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

LANES = _core.LANES
"""Number of columns interleaved in one tile of codes."""

CELLS = _core.CELLS
"""Histogram cells of one column: up to 255 bins of values, and the missing values in the last cell."""

SKIPPED, NEW, OWNED, CATEGORICAL = _core.SKIPPED, _core.NEW, _core.OWNED, _core.CATEGORICAL
"""How a histogram scan uses a column, or a category of a categorical column (native/tree/scan.hpp)."""

OTHER_TASKS = 16
"""A category that other tasks own. Kernels skip it: its price differs, so it is scanned separately."""

RISING, FALLING = _core.RISING, _core.FALLING
"""Monotone constraint, added to NEW or OWNED: predictions must not fall, or not rise, with the column."""

MISSING_LEFT, MISSING_UNSEEN = _core.MISSING_LEFT, _core.MISSING_UNSEEN
"""Side of a split that gets missing values. Unseen: there is no split, or it is on a category."""
