"""How many features a model can have, and the sizes that are cross-validated by default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

_LARGEST = 85
"""Largest size by default, if the table has more columns."""
_STEP = 4 / 3
"""Ratio of a size to the next smaller one by default."""


class SizeBounds(NamedTuple):
    """Numbers of features that a model of a table can have.

    Attributes
    ----------
    least : int
        1, or the number of fixed features.
    most : int or None
        None: not known, because categories are features.
    """

    least: int
    most: int | None

    def sizes(self, given: Sequence[int] | None = None) -> list[int]:
        """Return valid sizes in ascending order, each once; about 15 by default."""
        if given is None:
            return list(self._default_sizes())
        asked = np.asarray(given)
        if asked.ndim != 1 or asked.shape[0] == 0 or asked.dtype.kind not in "iu":
            raise ValueError(f"sizes={given!r} must be a list of whole numbers, such as [5, 10, 20]")
        least, most = self
        if asked.min() < least:
            why = "" if least == 1 else f", but {least} are fixed_features, which count too"
            raise ValueError(f"sizes has {asked.min()}{why}: give numbers of at least {least}")
        if most is not None and asked.max() > most:
            raise ValueError(
                f"sizes has {asked.max()}, but X has {most} columns or groups that may be selected: give "
                f"numbers from {least} to {most}"
            )
        return [int(size) for size in np.unique(asked)]

    def _default_sizes(self) -> Iterator[int]:
        most = max(self.least, _LARGEST if self.most is None else min(self.most, _LARGEST))
        size = self.least
        while size <= most:
            yield size
            size = max(size + 1, round(size * _STEP))
