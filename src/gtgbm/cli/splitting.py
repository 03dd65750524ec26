"""Rows that ``--valid 0.2`` holds out: drawn by ``gtgbm fit``, and once more by ``gtgbm report``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.cli.errors import UserError
from gtgbm.exact import Bool


def held_out(n_rows: int, qid: NDArray[Any] | None, fraction: float, seed: int) -> Bool:
    """Draw rows to hold out, shape (n,); of rankings, whole queries."""
    rng = np.random.default_rng(seed)
    rows = np.arange(n_rows)
    units, of_row = (rows, rows) if qid is None else np.unique(qid, return_inverse=True)
    n_taken = round(fraction * units.shape[0])
    if not 0 < n_taken < units.shape[0]:
        raise UserError(f"a fraction of {fraction} of {units.shape[0]} rows or queries leaves one part empty")
    return np.isin(of_row, rng.choice(units.shape[0], n_taken, replace=False))


@dataclass(frozen=True)
class Split:
    """How the rows of a fit were divided, as the model file remembers it.

    Attributes
    ----------
    valid : str
        What ``--valid`` said: a fraction or a file.
    seed : int
        Of the rows drawn.
    n_rows : int
        Rows of the training file, held-out rows included: with other rows the draw would be another.
    """

    valid: str
    seed: int
    n_rows: int

    @classmethod
    def of(cls, about: Mapping[str, str]) -> Split | None:
        """Read what a model file says; None if nothing was held out, or the file is of an older version."""
        try:
            return cls(about["valid"], int(about["valid_seed"]), int(about["rows"]))
        except (KeyError, ValueError):
            return None

    def about(self) -> dict[str, str]:
        """Return what goes into the model file."""
        return {"valid": self.valid, "valid_seed": str(self.seed), "rows": str(self.n_rows)}

    @property
    def fraction(self) -> float | None:
        """The share of rows held out; None if a file was."""
        try:
            return float(self.valid)
        except ValueError:
            return None

    @property
    def file(self) -> Path | None:
        """The file of held-out rows; None if a share of the table was held out."""
        return Path(self.valid) if self.fraction is None else None
