"""What kernel tests draw: pools, tables of any layout, rows divided into nodes, and arguments to refuse."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import CATEGORICAL, CELLS, I32, I64, LANES, NEW, OWNED, SKIPPED, U8, Table
from tests.kernels.reference import Columns

FLOATS = (np.float32, np.float64)
INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)

# Tests whose models select nothing, or less than asked for, on purpose: they are warned of that.
selects_few = pytest.mark.filterwarnings("ignore:.* feature.* (is|are) selected:UserWarning")

seeds = st.integers(0, 2**32 - 1)
pools = st.builds(_core.Pool, st.sampled_from([1, 2, 3]))

# Below 30,000 steps of work a pool does not wake its threads, so some tables must be large.
table_rows = st.one_of(st.integers(1, 60), st.sampled_from([1, 2, 257, 513, 1000, 6000]))
level_rows = st.sampled_from([1, 2, 3, 17, 60, 60, 257, 1000, 35_000])


def lay_out(table: Table, layout: str) -> Table:
    """Equal table in another memory layout."""
    n, m = table.shape
    if layout == "strided":
        wide = np.zeros((2 * n, 3 * m), dtype=table.dtype)
        wide[::2, ::3] = table
        return wide[::2, ::3]
    if layout == "reversed":
        return np.ascontiguousarray(table[::-1, ::-1])[::-1, ::-1]
    if layout == "transposed strided":
        return lay_out(table.T, "strided").T
    laid: Table = np.array(table, order="F" if layout == "F" else "C")
    laid.flags.writeable = layout != "read-only"
    return laid


@st.composite
def tables(draw: st.DrawFn, dtypes: Sequence[type[np.number[Any]]] = FLOATS + INTEGERS) -> Table:
    """Draw a table: few distinct values (ties, constant columns) or many, NaN and infinities, any layout."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    rng = np.random.default_rng(draw(seeds))
    shape = draw(table_rows), draw(st.integers(1, 20))
    table = _values(draw, dtype, rng, shape)
    if dtype.kind == "f":
        table[rng.random(shape) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = draw(
            st.sampled_from([np.nan, np.nan, np.inf, -np.inf])
        )
    layouts = ["C", "F", "strided", "reversed", "transposed strided", "read-only"]
    return lay_out(table, draw(st.sampled_from(layouts)))


def _values(draw: st.DrawFn, dtype: np.dtype[Any], rng: np.random.Generator, shape: tuple[int, int]) -> Table:
    if dtype.kind == "f":
        if draw(st.booleans()):
            return rng.normal(size=shape).astype(dtype)
        element = st.floats(width=32 if dtype.itemsize == 4 else 64)
    else:
        limits = np.iinfo(dtype)
        if draw(st.booleans()):
            return rng.integers(limits.min, limits.max, shape, dtype=dtype.type, endpoint=True)
        element = st.integers(int(limits.min), int(limits.max))
    palette = np.array(draw(st.lists(element, min_size=1, max_size=6)), dtype=dtype)
    return palette[rng.integers(len(palette), size=shape)]


@dataclass(frozen=True)
class Nodes:
    """Rows of a tree level: node k owns ``rows[begin[k]:end[k]]``, cells are by row of the table.

    Twins see packed cells. Kernels see the same residuals and weights, packed or wide.
    """

    rows: I32
    cells: I64
    begin: I64
    end: I64
    count_bits: int
    is_wide: bool = False

    @property
    def format(self) -> _core.CellFormat:
        """How kernels are given cells."""
        return _core.CellFormat(self.count_bits, self.is_wide)

    @property
    def values(self) -> I64:
        """Rows as kernels are given them."""
        if not self.is_wide:
            return self.cells
        weights: I64 = self.cells & (2**self.count_bits - 1)
        residuals: I64 = (self.cells >> self.count_bits) // np.maximum(weights, 1)
        values: I64 = residuals * 2**self.count_bits + weights
        return values

    @property
    def sums(self) -> I64:
        """Gradient sum and count of each node, shape (nodes, 2)."""
        return sums_of(self.total, self.count_bits)

    def packed_rows(self, values: I64) -> I64:
        """Return rows as twins see them, of those that kernels return."""
        if not self.is_wide:
            return values
        weights: I64 = values & (2**self.count_bits - 1)
        return (values - weights + 1) * weights

    def packed(self, hist: I64) -> I64:
        """Return histograms as twins see them; their last axis has the numbers of 256 cells."""
        if not self.is_wide:
            return hist
        packed: I64 = hist[..., 0::2] * 2**self.count_bits + hist[..., 1::2]
        return packed

    @property
    def ordered(self) -> I64:
        """Cells in the order of the rows."""
        return self.cells[self.rows]

    @property
    def total(self) -> I64:
        """Cell sum of each node."""
        sums = [self.ordered[b:e].sum() for b, e in zip(self.begin, self.end, strict=True)]
        return np.array(sums, dtype=np.int64)


def sums_of(total: I64, count_bits: int) -> I64:
    """Gradient sums and counts of packed cells, in a last axis of their own."""
    return np.stack([total >> count_bits, total & ((1 << count_bits) - 1)], axis=-1)


@st.composite
def nodes_of(draw: st.DrawFn, n: int, gradient: int = 8) -> Nodes:
    """Divide some of n rows, in random order, into nodes, a few of them empty."""
    rng = np.random.default_rng(draw(seeds))
    rows = rng.permutation(n)[: draw(st.sampled_from([n, n, (n + 1) // 2]))].astype(np.int32)
    cuts = np.sort(rng.integers(0, rows.shape[0], draw(st.integers(0, 14)), endpoint=True))
    edges = np.concatenate([[0], cuts, [rows.shape[0]]]).astype(np.int64)
    count_bits = n.bit_length()
    cells = rng.integers(-gradient, gradient, n, endpoint=True) * 2**count_bits + 1
    return Nodes(rows, cells, edges[:-1].copy(), edges[1:].copy(), count_bits, draw(st.booleans()))


@st.composite
def tiles(draw: st.DrawFn, n: int, bins_of: Sequence[int] = (0, 1, 2, 7, 64, 255)) -> tuple[U8, I32]:
    """Draw codes (tiles, n, 8) and numbers of bins: none (all missing), one, few, or the most there are."""
    rng = np.random.default_rng(draw(seeds))
    n_bins = np.array(draw(st.lists(st.sampled_from(bins_of), min_size=1, max_size=20)), np.int32)
    n_tiles = -(-n_bins.shape[0] // LANES)
    codes = np.zeros((n_tiles, n, LANES), dtype=np.uint8)
    missing = draw(st.sampled_from([0.0, 0.2]))
    for c, bins in enumerate(n_bins.tolist()):
        column = rng.integers(0, max(bins, 1), n)
        is_missing = rng.random(n) < (missing if bins else 1.0)
        codes[c // LANES, :, c % LANES] = np.where(is_missing, CELLS - 1, column)
    return codes, n_bins


def rich_level(rng: np.random.Generator, n: int, gradient: int) -> tuple[U8, Columns, Nodes]:
    """Columns and nodes all by chance, with much to find: draws of hypothesis are often poor.

    Residuals depend on some columns, so that trees grow deep, and equal columns give ties.
    """
    n_bins = rng.choice([0, 1, 2, 3, 7, 64, 255], rng.integers(1, 30)).astype(np.int32)
    if rng.random() < 0.5:
        n_bins = np.clip(n_bins, 1, 64)
    columns, codes = n_bins.shape[0], np.zeros((-(-n_bins.shape[0] // LANES), n, LANES), dtype=np.uint8)
    missing, signal = rng.choice([0.0, 0.2]), np.zeros(n)
    for c, bins in enumerate(n_bins.tolist()):
        column = rng.integers(0, max(bins, 1), n)
        twin = int(rng.integers(c)) if c and rng.random() < 0.2 else c
        if twin != c and n_bins[twin] == bins:
            column = codes[twin // LANES, :, twin % LANES].astype(np.int64)
        else:
            column[rng.random(n) < (missing if bins else 1.0)] = CELLS - 1
        codes[c // LANES, :, c % LANES] = column
        signal += rng.choice([0.0, 1.0]) * (column < rng.integers(0, max(bins, 1), endpoint=True))
    residuals = (signal - signal.mean() + rng.normal(size=n)).clip(-4.0, 4.0) / 4.0
    count_bits = n.bit_length()
    cells = np.rint(residuals * gradient).astype(np.int64) * 2**count_bits + 1
    kinds = [[OWNED], [OWNED, OWNED, CATEGORICAL], [SKIPPED, NEW, OWNED, OWNED, CATEGORICAL]][rng.integers(3)]
    use = rng.choice(kinds, columns).astype(np.uint8)
    category_row = np.where(use == CATEGORICAL, rng.permutation(columns), -1).astype(np.int32)
    category_use = rng.choice([SKIPPED, NEW, OWNED, OWNED], (columns, CELLS)).astype(np.uint8)
    rows = rng.permutation(n)[: n if rng.random() < 0.7 else (n + 1) // 2].astype(np.int32)
    cuts = np.sort(rng.integers(0, rows.shape[0], rng.choice([0, 0, 1, 2, 10]), endpoint=True))
    edges = np.concatenate([[0], cuts, [rows.shape[0]]]).astype(np.int64)
    is_wide = bool(rng.random() < 0.5)
    nodes = Nodes(rows, cells, edges[:-1].copy(), edges[1:].copy(), count_bits, is_wide)
    return codes, Columns(n_bins, use, category_row, category_use), nodes


@st.composite
def scanned(draw: st.DrawFn, n_bins: I32) -> Columns:
    """Draw what columns are to a scan: owned, new, skipped, or categorical with categories of each kind."""
    rng = np.random.default_rng(draw(seeds))
    n_columns = n_bins.shape[0]
    kinds = draw(st.sampled_from([[OWNED], [OWNED, CATEGORICAL], [SKIPPED, NEW, OWNED, CATEGORICAL]]))
    use = rng.choice(kinds, n_columns).astype(np.uint8)
    category_row = np.full(n_columns, -1, dtype=np.int32)
    categorical = np.flatnonzero(use == CATEGORICAL)
    category_row[categorical] = rng.permutation(categorical.shape[0])
    category_use = rng.choice([SKIPPED, NEW, OWNED, OWNED], (categorical.shape[0], CELLS)).astype(np.uint8)
    return Columns(n_bins, use, category_row, category_use)


def assert_refused(
    kernel: Callable[..., object], good: Sequence[object], bad: Mapping[str, Mapping[int, object]]
) -> None:
    """Check that a kernel takes the good arguments, and raises ValueError for each set of replacements."""
    kernel(*good)
    accepted = []
    for what, replacements in bad.items():
        arguments = [replacements.get(position, argument) for position, argument in enumerate(good)]
        try:
            kernel(*arguments)
        except ValueError:
            continue
        accepted.append(what)
    assert not accepted
