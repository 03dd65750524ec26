"""Twins of native/tree: rows of nodes."""

from __future__ import annotations

import numpy as np

from gtgbm.exact.arrays import (
    I32,
    I64,
    LANES,
    U8,
    Bool,
)
from tests.kernels.reference.layout import MISSING


def goes_left(codes: U8, bin: int, is_category: int, missing_left: int) -> Bool:
    """Which rows of a column go left."""
    if is_category:
        return np.asarray(codes != bin)
    return np.where(codes == MISSING, bool(missing_left), codes <= bin)


def partition_rows(
    codes: U8, column: I64, bin: I32, is_category: U8, missing_left: U8, begin: I64, end: I64, rows: I32
) -> tuple[I32, I64]:
    """Rows after splitting row ranges, and how many went left in each."""
    rows, n_left = rows.copy(), np.zeros(column.shape[0], dtype=np.int64)
    for k, c in enumerate(column.tolist()):
        node = rows[begin[k] : end[k]].copy()
        column_codes = codes[c // LANES, node, c % LANES]
        left = goes_left(column_codes, int(bin[k]), int(is_category[k]), int(missing_left[k]))
        n_left[k] = left.sum()
        rows[begin[k] : end[k]] = np.concatenate([node[left], node[~left]])
    return rows, n_left


def node_sums(rows: I32, cells: I64, begin: I64, end: I64, count_bits: int) -> list[tuple[int, int]]:
    """Cell sum and weighted sum of squared gradients of row ranges."""
    sums = []
    for b, e in zip(begin.tolist(), end.tolist(), strict=True):
        node = cells[rows[b:e]].tolist()
        weights = [cell & ((1 << count_bits) - 1) for cell in node]
        gradients = [(cell >> count_bits) // max(w, 1) for cell, w in zip(node, weights, strict=True)]
        sums.append((sum(node), sum(q * q * w for q, w in zip(gradients, weights, strict=True))))
    return sums


def sampled_rows(
    rows: I32, cells: I64, begin: I64, end: I64, position: I32
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Positions and cells of sampled rows, node after node; where each node starts; its cell sum."""
    positions: list[int] = []
    sampled: list[int] = []
    first, total = [0], []
    for b, e in zip(begin.tolist(), end.tolist(), strict=True):
        inside = [row for row in rows[b:e].tolist() if position[row] >= 0]
        positions += [int(position[row]) for row in inside]
        sampled += [int(cells[row]) for row in inside]
        first.append(len(positions))
        total.append(sum(int(cells[row]) for row in inside))
    return positions, sampled, first, total
