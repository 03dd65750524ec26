"""Splits of columns whose predictions must not fall, or not rise: the best of those that keep to it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import CELLS, FALLING, I64, LANES, NEW, OWNED, RISING
from tests.kernels import reference
from tests.kernels.reference import Columns, Split
from tests.strategies import sums_of

Kernel: TypeAlias = Callable[[I64, int, int], Split]
directions = st.sampled_from([0, RISING, FALLING])
BITS = 12
PACKED = _core.CellFormat(BITS)
bins = st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 4)), min_size=1, max_size=8)


def packed(drawn: list[tuple[int, int]], missing: tuple[int, int]) -> I64:
    """Cells of bins given as (gradient, rows), missing values last; without rows there is no gradient."""
    cells = np.zeros(CELLS, dtype=np.int64)
    for place, (gradient, rows) in [*enumerate(drawn), (CELLS - 1, missing)]:
        cells[place] = gradient * rows * 2**BITS + rows
    return cells


def by_pairs(cells: I64, n_bins: int, use: int) -> Split:
    gain, bin, side = np.empty(1), np.empty(1, np.int32), np.empty(1, np.int32)
    column = np.array([n_bins], np.int32), np.array([use], np.uint8)
    total = sums_of(np.array([cells.sum()]), BITS)
    _core.scan_pair_histograms(_core.Pool(1), cells[None], *column, total, PACKED, 1, 0.0, gain, bin, side)
    return Split(float(gain[0]), int(bin[0]), int(side[0]))


def by_scan(cells: I64, n_bins: int, use: int, kind: int = OWNED) -> Split:
    hist = np.zeros((1, 1, LANES, CELLS), dtype=np.int64)
    hist[0, 0, 0] = cells
    column = np.array([n_bins], np.int32), np.array([kind | use], np.uint8), np.full(1, -1, np.int32)
    columns = Columns(*column, np.zeros((0, CELLS), np.uint8))
    gain, where = np.empty((1, 2)), np.empty((1, 2, 3), np.int32)
    total = sums_of(np.array([cells.sum()]), BITS)
    scanned = _core.TileColumns(*columns)
    _core.scan_histograms(_core.Pool(1), scanned, hist, np.array([0]), total, PACKED, 1, 0.0, gain, where)
    side = 0 if kind == OWNED else 1
    return Split(float(gain[0, side]), int(where[0, side, 1]), int(where[0, side, 2]))


def by_entries(cells: I64, n_bins: int, use: int) -> Split:
    """By the sparse kernel: one row of that weight for each cell; those of the first bin are not stored."""
    occupied = np.flatnonzero(cells)
    entries = np.flatnonzero(occupied > 0)
    start, codes = np.array([0, entries.shape[0]]), occupied[entries].astype(np.uint8)
    zero = np.zeros(1, dtype=np.int64)
    column = np.array([n_bins], np.int32), np.zeros(1, np.uint8), np.array([NEW | use], np.uint8)
    stored = (start, entries.astype(np.int32), codes, zero, *column, np.empty(0))
    n, total = len(occupied), sums_of(np.full(1, cells.sum(), dtype=np.int64), BITS)
    node = (np.arange(n, dtype=np.int32), zero, zero + n, total, cells[occupied])
    gain, where = np.empty(1), np.empty((1, 3), np.int32)
    _core.search_sparse(_core.Pool(1), *stored, *node, PACKED, 1, 0.0, gain, where)
    return Split(float(gain[0]), int(where[0, 1]), int(where[0, 2]))


def gains(cells: I64, n_bins: int) -> dict[tuple[int, int], tuple[Fraction, int]]:
    """Gain of every split (bin, missing side) of a column, and 1 where the mean rises to the right, else -1.

    Bins without rows offer nothing: what they would separate, the bin before them does.
    """
    rows, sums = cells & (2**BITS - 1), cells >> BITS
    found = {}
    for bin in np.flatnonzero(rows[:n_bins]).tolist():
        for side in (reference.RIGHT, reference.LEFT) if rows[CELLS - 1] else (reference.RIGHT,):
            is_left = np.arange(CELLS) <= bin
            is_left[CELLS - 1] = side == reference.LEFT
            n_left, n_right = int(rows[is_left].sum()), int(rows[~is_left].sum())
            if n_left == 0 or n_right == 0:
                continue
            rise = Fraction(int(sums[~is_left].sum()), n_right) - Fraction(int(sums[is_left].sum()), n_left)
            if rise != 0:
                gain = rise * rise * n_left * n_right / (n_left + n_right)
                # Missing values are neither above nor below all others.
                unordered = side == reference.RIGHT and bin == np.flatnonzero(rows[:n_bins])[-1]
                if not rows[CELLS - 1]:
                    side = reference.larger_side(n_left, n_left + n_right)
                found[bin, side] = gain, 0 if unordered else 1 if rise > 0 else -1
    return found


@pytest.mark.parametrize("kernel", [by_pairs, by_scan, by_entries])
@given(drawn=bins, missing=st.tuples(st.integers(-9, 9), st.sampled_from([0, 0, 1, 3])), use=directions)
def test_the_best_split_that_keeps_the_direction(
    kernel: Kernel, drawn: list[tuple[int, int]], missing: tuple[int, int], use: int
) -> None:
    cells, n_bins = packed(drawn, missing), len(drawn)
    allowed = {0: (1, 0, -1), RISING: (1, 0), FALLING: (0, -1)}[use]
    kept = {split: gain for split, (gain, sign) in gains(cells, n_bins).items() if sign in allowed}
    found = kernel(cells, n_bins, use)
    if not kept:
        assert found == (-np.inf, -1, reference.UNSEEN)
        return
    assert found.gain == pytest.approx(float(max(kept.values())))
    assert kept[found.bin, found.missing_side] == max(kept.values())


@pytest.mark.parametrize("kernel", [by_pairs, by_scan, by_entries])
@given(drawn=bins, missing=st.tuples(st.integers(-9, 9), st.integers(0, 3)))
def test_falling_is_rising_of_the_opposite(
    kernel: Kernel, drawn: list[tuple[int, int]], missing: tuple[int, int]
) -> None:
    opposite = packed([(-gradient, rows) for gradient, rows in drawn], (-missing[0], missing[1]))
    assert kernel(packed(drawn, missing), len(drawn), RISING) == kernel(opposite, len(drawn), FALLING)


@given(bins, st.tuples(st.integers(-9, 9), st.integers(0, 3)), directions)
def test_owned_and_new_columns_have_the_same_directions(
    drawn: list[tuple[int, int]], missing: tuple[int, int], use: int
) -> None:
    cells, n_bins = packed(drawn, missing), len(drawn)
    assert by_scan(cells, n_bins, use, NEW) == by_scan(cells, n_bins, use, OWNED)


@given(bins, st.tuples(st.integers(-9, 9), st.integers(0, 3)))
def test_one_direction_is_the_free_one(drawn: list[tuple[int, int]], missing: tuple[int, int]) -> None:
    """The best split of all rises or falls, so one direction leaves it as it is."""
    cells, n_bins = packed(drawn, missing), len(drawn)
    free = by_pairs(cells, n_bins, 0)
    assume(free.bin >= 0)
    directed = [by_pairs(cells, n_bins, use) for use in (RISING, FALLING)]
    assert max(split.gain for split in directed) == free.gain


def test_known_directions() -> None:
    """Means 0, 6, -3: the fall at the end is worth more than the rise before it."""
    cells = packed([(0, 2), (6, 2), (-3, 2)], (0, 0))
    left, right = reference.LEFT, reference.RIGHT
    for kernel in (by_pairs, by_scan):
        # Sides (0, 6), (-3): means 3 and -3 on four and two rows; sides (0), (6, -3): means 0 and 1.5.
        assert kernel(cells, 3, 0) == kernel(cells, 3, FALLING) == (48.0, 1, left)
        assert kernel(cells, 3, RISING) == (3.0, 0, right)
