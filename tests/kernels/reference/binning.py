"""Twins of native/binning."""

from __future__ import annotations

import numpy as np

from gtgbm.exact.arrays import (
    F64,
    I32,
    I64,
    U8,
    U16,
    Table,
)
from tests.kernels.reference.layout import MISSING


def gather(table: Table, rows: I64, columns: I64) -> F64:
    """Values of some rows and columns, shape (columns, rows)."""
    return table[np.ix_(rows, columns)].T.astype(np.float64, order="C")


def encode(table: Table, columns: I64, thresholds: F64, n_thresholds: I32, out: U8) -> U8:
    """Codes of whole columns: how many thresholds are below a value, 255 for NaN."""
    out, lanes = out.copy(), out.shape[2]
    for c, column in enumerate(columns.tolist()):
        values = table[:, column].astype(np.float64)
        edges = thresholds[c, : max(int(n_thresholds[c]), 0)]
        below = (edges[None, :] < values[:, None]).sum(axis=1)
        out[c // lanes, :, c % lanes] = np.where(np.isnan(values), MISSING, below)
    return out


def minmax_values(table: Table, rows: I64, columns: I64) -> U16:
    """Sampled values scaled to 0 .. 65535 by each column's finite range, clipped to it; NaN becomes 0."""
    values = gather(table, rows, columns)
    out = np.zeros(values.shape, dtype=np.uint16)
    for c, column in enumerate(values):
        finite = column[np.isfinite(column)]
        if finite.size == 0 or finite.min() / 2 == finite.max() / 2:
            continue
        low, span = finite.min() / 2, finite.max() / 2 - finite.min() / 2
        scaled = np.clip((column / 2 - low) / span, 0.0, 1.0)
        out[c] = np.rint(np.where(np.isnan(column), 0.0, scaled) * 65535.0)
    return out
