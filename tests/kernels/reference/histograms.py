"""Twins of native/tree: histograms and the best splits in them."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np

from gtgbm.exact.arrays import CATEGORICAL, CELLS, F64, FALLING, I32, I64, LANES, NEW, RISING, U8
from tests.kernels.reference.layout import LEFT, RIGHT, UNSEEN


def histogram(codes: U8, cells: I64) -> I64:
    """Cell sum of each of the 256 codes."""
    hist = np.zeros(CELLS, dtype=np.int64)
    np.add.at(hist, codes, cells)
    return hist


def build_histograms(
    codes: U8,
    rows: I32,
    cells: I64,
    begin: I64,
    end: I64,
    slot: I64,
    first_tile: int,
    last_tile: int,
    hist: I64,
) -> I64:
    """Histograms of row ranges, job k's in slot[k], for some tiles; cells are by row of the table."""
    hist = hist.copy()
    for b, e, s in zip(begin.tolist(), end.tolist(), slot.tolist(), strict=True):
        for tile in range(first_tile, last_tile):
            for lane in range(LANES):
                hist[s, tile, lane] = histogram(codes[tile, rows[b:e], lane], cells[rows[b:e]])
    return hist


def subtract_histograms(parents: I64, parent: I64, sibling: I64, slot: I64, n_cells: int, hist: I64) -> I64:
    """Histograms of the rows that a parent has and a sibling has not."""
    hist = hist.copy()
    for p, other, s in zip(parent.tolist(), sibling.tolist(), slot.tolist(), strict=True):
        hist[s, :n_cells] = parents[p, :n_cells] - hist[other, :n_cells]
    return hist


def build_pair_histograms(codes: U8, column: I64, rows: I32, cells: I64, begin: I64, end: I64) -> I64:
    """Histogram of one column over one row range, for each pair; cells are by row of the table."""
    pairs = zip(column.tolist(), begin.tolist(), end.tolist(), strict=True)
    hists = [histogram(codes[c, rows[b:e]], cells[rows[b:e]]) for c, b, e in pairs]
    return np.array(hists, dtype=np.int64).reshape(-1, CELLS)


class Split(NamedTuple):
    """A split: rows with code <= bin go left."""

    gain: float
    bin: int
    missing_side: int


def gain_of(cells: I64, split: tuple[int, int], total: int, count_bits: int, l2: float = 0.0) -> float:
    """Fall of the squared error by the split (bin, side of missing values), -inf if a side is empty.

    By the definition, in fractions that do not round: with regularization, the squared error of a side is
    that of its shrunken mean, plus l2 times the square of this mean.
    """
    n, g = total & ((1 << count_bits) - 1), total >> count_bits
    left: int = sum(cells[: split[0] + 1].tolist())
    if split[1] == LEFT:
        left += total - sum(cells.tolist())
    n_left, g_left = left & ((1 << count_bits) - 1), left >> count_bits
    if n_left in (0, n):
        return -np.inf
    penalty = Fraction(l2)
    sides = [(g_left, n_left), (g - g_left, n - n_left)]
    return float(sum(Fraction(s * s) / (m + penalty) for s, m in sides) - Fraction(g * g) / (n + penalty))


def direction_of(use: int) -> int:
    """1 where the mean must not fall from left to right, -1 where it must not rise, 0 where it may."""
    if use & RISING:
        return 1
    return -1 if use & FALLING else 0


def best_split(
    cells: I64, total: int, count_bits: int, min_leaf: int, direction: int = 0, l2: int = 0
) -> Split:
    """Best of all bins: first with missing values on the right, then on the left; equals keep the first.

    Splits against the direction do not count, except values against missing ones; nor do bins without rows:
    what they would separate, the bin before them does. Python's integers do not round, so equal splits are
    really equal.
    """
    n, g = total & ((1 << count_bits) - 1), total >> count_bits
    best, best_fraction = Split(-np.inf, -1, UNSEEN), (0, 1)
    both = n + 2 * l2
    missing = total - sum(cells.tolist())
    for side in (RIGHT, LEFT) if missing else (RIGHT,):
        left = missing if side == LEFT else 0
        for b, cell in enumerate(cells.tolist()):
            left += cell
            n_left = left & ((1 << count_bits) - 1)
            if cell == 0 or min(n_left, n - n_left) < max(min_leaf, 1):
                continue
            d = (left >> count_bits) * both - g * (n_left + l2)
            fraction = d * d, (n_left + l2) * (n - n_left + l2)
            allowed = d * direction <= 0 or left + missing == total
            if allowed and fraction[0] * best_fraction[1] > best_fraction[0] * fraction[1]:
                at = side if missing else larger_side(n_left, n)
                gain = fraction[0] / fraction[1] / both - loss_of_two(g, both, l2)
                best, best_fraction = Split(gain, b, at), fraction
    return best if best.gain > 0.0 else Split(-np.inf, -1, UNSEEN)


def loss_of_two(g: float, both: float, l2: float) -> float:
    """What a node loses because each of its two sides is regularized; 0 without regularization."""
    return g * g * l2 / ((both - l2) * both)


def larger_side(n_left: int, n: int) -> int:
    """Where missing values go that a node has none of."""
    return LEFT if n_left >= n - n_left else RIGHT


class Columns(NamedTuple):
    """What a scan knows about its columns; category c of column j is ``category_use[category_row[j], c]``."""

    n_bins: I32
    use: U8
    category_row: I32
    category_use: U8
    price: F64 = np.empty(0)


class Found(NamedTuple):
    """Best split over some columns, and the cell sum of its left side."""

    gain: float = -np.inf
    column: int = -1
    bin: int = -1
    missing_side: int = UNSEEN
    left: int = 0


Offer: TypeAlias = tuple[int, int, int]


def offered(cells: list[int], total: int, category_use: list[int] | None, use: int) -> list[Offer]:
    """Splits (left, bin, missing side) a column offers to a search among owned or among new features.

    Bins without rows offer nothing: what they would separate, the bin before them does.
    """
    if category_use is not None:
        codes = [code for code in range(len(cells)) if category_use[code] == use]
        return [(total - cells[code], code, UNSEEN) for code in codes]
    occupied = [b for b, cell in enumerate(cells) if cell != 0]
    below = list(itertools.accumulate(cells[b] for b in occupied))
    missing = total - sum(cells)
    if missing == 0:
        return [(left, b, UNSEEN) for b, left in zip(occupied, below, strict=True)]
    right = [(left, b, RIGHT) for b, left in zip(occupied, below, strict=True)]
    return right + [(left + missing, b, LEFT) for left, b, _ in right]


def first_best(
    offers: list[Offer], total: int, count_bits: int, min_leaf: int, direction: int = 0, l2: float = 0.0
) -> Found:
    """First of the best splits, in doubles and in the kernel's order of operations: equal to the bit."""
    mask = (1 << count_bits) - 1
    n, g = float(total & mask), float(total >> count_bits)
    both = n + 2.0 * l2
    best, top, bottom = Found(), 0.0, 1.0
    # All values against the missing ones, which are neither above nor below them.
    free = max((bin for _, bin, side in offers if side == RIGHT), default=-1)
    for left, bin, side in offers:
        n_left = float(left & mask)
        if min(n_left, n - n_left) < min_leaf:
            continue
        d = float(left >> count_bits) * both - g * (n_left + l2)
        numerator, denominator = d * d, (n_left + l2) * (both - (n_left + l2))
        allowed = d * direction <= 0.0 or (side == RIGHT and bin == free)
        if allowed and numerator * bottom > top * denominator:
            top, bottom = numerator, denominator
            best = Found(top / bottom / both - loss_of_two(g, both, l2), -1, bin, side, left)
    return best if best.gain > 0.0 else Found()


def scan_columns(
    hist: I64, columns: Columns, use: int, total: int, count_bits: int, min_leaf: int, l2: float = 0.0
) -> Found:
    """Best split of one node, hist (columns, 256), among features of one use; equals keep the first."""
    best, best_net = Found(), -np.inf
    for c, column_use in enumerate(columns.use.tolist()):
        is_category = column_use == CATEGORICAL
        if column_use & ~(RISING | FALLING) != use and not is_category:
            continue
        uses = columns.category_use[columns.category_row[c]].tolist() if is_category else None
        cells = hist[c, : max(int(columns.n_bins[c]), 0)].tolist()
        offers, direction = offered(cells, total, uses, use), direction_of(column_use)
        found = first_best(offers, total, count_bits, min_leaf, direction, l2)
        if found.missing_side == UNSEEN and not is_category and found.bin >= 0:
            mask = (1 << count_bits) - 1
            found = found._replace(missing_side=larger_side(found.left & mask, total & mask))
        price = float(columns.price[c]) if columns.price.shape[0] and use == NEW else 0.0
        if found.gain - price > best_net:
            best, best_net = found._replace(column=c), found.gain - price
    return best
