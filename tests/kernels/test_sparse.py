"""Kernels of sparse tables: each does what the dense kernel does with the same table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import CELLS, F64, FALLING, I32, I64, LANES, NEW, RISING, SKIPPED, U8, Table
from tests.kernels import reference
from tests.strategies import FLOATS, INTEGERS, Nodes, assert_refused, nodes_of, pools, seeds

SAME_PRICE: F64 = np.empty(0)


@dataclass(frozen=True)
class Sparse:
    """A table stored by columns, and the same one as an ordinary array."""

    start: I64
    rows: I32
    values: Table
    dense: Table


def random_sparse(rng: np.random.Generator, n: int, m: int, dtype: np.dtype[np.generic]) -> Sparse:
    """Columns empty, thin, or full; explicit zeros of both signs, NaN, infinities; entries in any order."""
    density = rng.choice([0.0, 0.02, 0.3, 1.0], m, p=[0.2, 0.3, 0.4, 0.1])
    stored = rng.random((n, m)) < density
    if dtype.kind == "f":
        coarse = rng.choice([-2.0, -0.0, 0.0, 1.0, 3.0], (n, m))
        values = np.where(rng.random(m) < 0.5, coarse, rng.normal(size=(n, m)) + rng.choice([0.0, 5.0], m))
        values[rng.random((n, m)) < rng.choice([0.0, 0.1, 1.0], m, p=[0.6, 0.3, 0.1])] = np.nan
        values[rng.random((n, m)) < rng.choice([0.0, 0.05], m)] = rng.choice([-np.inf, np.inf])
        values = values.astype(dtype)
    else:
        values = rng.integers(0, rng.choice([1, 2, 5, 100]), (n, m), endpoint=True).astype(dtype)
    order = [rng.permutation(np.flatnonzero(column)) for column in stored.T]
    entries = [values[rows, c] for c, rows in enumerate(order)]
    start = np.concatenate([[0], np.cumsum([len(rows) for rows in order], dtype=np.int64)])
    rows = np.concatenate([*order, np.empty(0, np.int64)]).astype(np.int32)
    flat = np.concatenate([*entries, np.empty(0, dtype)])[:, None]
    return Sparse(start, rows, flat, np.where(stored, values, dtype.type(0)))


sparse_tables = st.builds(
    lambda n, m, dtype, seed: random_sparse(np.random.default_rng(seed), n, m, np.dtype(dtype)),
    st.sampled_from([1, 2, 30, 300, 2000]),
    st.sampled_from([1, 7, 33, 100]),
    st.sampled_from((*FLOATS * 3, *INTEGERS)),
    seeds,
)
max_bins = st.sampled_from([2, 3, 17, 64, 255])


def some_columns(rng: np.random.Generator, table: Sparse) -> I64:
    """Some of the columns, in any order."""
    m = table.dense.shape[1]
    return rng.permutation(m)[: int(rng.integers(0, m, endpoint=True))]


def dense_thresholds(table: Sparse, rows: I64, columns: I64, bins: int) -> tuple[F64, I32]:
    values = np.ascontiguousarray(reference.gather(table.dense, rows, columns))
    thresholds, counts = np.full((columns.shape[0], bins - 1), 77.0), np.full(columns.shape[0], 77, np.int32)
    _core.find_thresholds(_core.Pool(1), values, bins, thresholds, counts)
    return thresholds, counts


def dense_codes(table: Sparse, columns: I64, edges: tuple[F64, I32], lanes: int, fill: int) -> U8:
    out = np.full((-(-columns.shape[0] // lanes), table.dense.shape[0], lanes), fill, dtype=np.uint8)
    _core.encode(_core.Pool(1), table.dense, columns, *edges, out)
    return out


@given(pools, sparse_tables, max_bins, seeds)
def test_find_sparse_thresholds(pool: _core.Pool, table: Sparse, bins: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns = some_columns(rng, table)
    in_sample = (rng.random(table.dense.shape[0]) < rng.choice([0.0, 0.5, 1.0])).astype(np.uint8)
    expected = dense_thresholds(table, np.flatnonzero(in_sample), columns, bins)
    found = np.full_like(expected[0], 77.0), np.full_like(expected[1], 77)
    _core.find_sparse_thresholds(
        pool, table.start, table.rows, table.values, columns, in_sample, bins, *found
    )
    for part, expected_part in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, expected_part)


@given(pools, sparse_tables, max_bins, st.sampled_from([1, 3, LANES]), seeds)
def test_encode_sparse(pool: _core.Pool, table: Sparse, bins: int, lanes: int, seed: int) -> None:
    columns = some_columns(np.random.default_rng(seed), table)
    edges = dense_thresholds(table, np.arange(table.dense.shape[0]), columns, bins)
    expected = dense_codes(table, columns, edges, lanes, 77)
    out = np.full_like(expected, 77)
    _core.encode_sparse(pool, table.start, table.rows, table.values, columns, *edges, out)
    np.testing.assert_array_equal(out, expected)


def entry_codes(pool: _core.Pool, table: Sparse, columns: I64, edges: tuple[F64, I32]) -> tuple[U8, U8]:
    codes, zero = np.full(table.rows.shape[0], 77, np.uint8), np.full(columns.shape[0], 77, np.uint8)
    _core.code_entries(pool, table.start, table.values, columns, *edges, codes, zero)
    return codes, zero


@given(pools, sparse_tables, max_bins, seeds)
def test_code_entries(pool: _core.Pool, table: Sparse, bins: int, seed: int) -> None:
    columns = some_columns(np.random.default_rng(seed), table)
    edges = dense_thresholds(table, np.arange(table.dense.shape[0]), columns, bins)
    codes, zero = entry_codes(pool, table, columns, edges)
    expected = np.full_like(codes, 77)
    dense = dense_codes(table, columns, edges, 1, 77)[:, :, 0]
    for c, column in enumerate(columns.tolist()):
        entries = slice(table.start[column], table.start[column + 1])
        expected[entries] = dense[c, table.rows[entries]]
        assert zero[c] == (edges[0][c, : max(edges[1][c], 0)] < 0.0).sum()
    np.testing.assert_array_equal(codes, expected, "entries of other columns stay as they are")


def search(
    pool: _core.Pool,
    table: Sparse,
    columns: I64,
    use: U8,
    edges: tuple[F64, I32],
    nodes: Nodes,
    leaf: int,
    l2: float = 0.0,
    price: F64 = SAME_PRICE,
) -> tuple[F64, I32]:
    """Best splits by the sparse kernel."""
    codes, zero = entry_codes(_core.Pool(1), table, columns, edges)
    k = nodes.begin.shape[0]
    gain, where = np.full(k, 77.0), np.full((k, 3), 77, dtype=np.int32)
    stored = (table.start, table.rows, codes, columns, edges[1] + 1, zero, use, price)
    ranges = (nodes.rows, nodes.begin, nodes.end, nodes.sums, nodes.values)
    _core.search_sparse(pool, *stored, *ranges, nodes.format, leaf, l2, gain, where)
    return gain, where


def dense_search(
    table: Sparse,
    columns: I64,
    use: U8,
    edges: tuple[F64, I32],
    nodes: Nodes,
    leaf: int,
    l2: float = 0.0,
    price: F64 = SAME_PRICE,
) -> tuple[F64, I32]:
    """Best splits by the dense kernels, whose twins are in reference.py."""
    codes, k, m = dense_codes(table, columns, edges, LANES, 0), nodes.begin.shape[0], columns.shape[0]
    hist = np.zeros((k, codes.shape[0], LANES, CELLS * nodes.format.width), dtype=np.int64)
    ranges = (nodes.rows, nodes.values, nodes.begin, nodes.end, np.arange(k), 0, codes.shape[0])
    scratch = np.zeros(nodes.rows.shape[0], np.int64)
    _core.build_histograms(_core.Pool(1), codes, *ranges, nodes.format, scratch, hist)
    none = np.full(m, -1, np.int32), np.zeros((0, CELLS), np.uint8)
    gain, where = np.full((k, 2), 77.0), np.full((k, 2, 3), 77, dtype=np.int32)
    scanned = _core.TileColumns(edges[1] + 1, use, *none, price)
    at_nodes = (np.arange(k), nodes.sums, nodes.format, leaf, l2)
    _core.scan_histograms(_core.Pool(1), scanned, hist, *at_nodes, gain, where)
    return gain[:, 1], where[:, 1]


def some_uses(rng: np.random.Generator, m: int, skipped: float) -> U8:
    """New columns, some of them with a direction, some skipped."""
    use = NEW | rng.choice([0, 0, RISING, FALLING], m)
    return np.where(rng.random(m) < skipped, SKIPPED, use).astype(np.uint8)


@given(pools, sparse_tables, max_bins, st.sampled_from([1, 1, 2, 5]), seeds, st.data())
def test_search_sparse(
    pool: _core.Pool, table: Sparse, bins: int, leaf: int, seed: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    n = table.dense.shape[0]
    columns = some_columns(rng, table)
    use = some_uses(rng, columns.shape[0], rng.choice([0.0, 0.3, 1.0], p=[0.6, 0.3, 0.1]))
    nodes = data.draw(nodes_of(n, int(rng.choice([2, 2**20]))))
    edges = dense_thresholds(table, np.arange(n), columns, bins)
    l2 = float(rng.choice([0.0, 0.7, 12.5]))
    price = rng.choice([0.0, 3.5, 20.0, np.inf], columns.shape[0]) if rng.random() < 0.5 else SAME_PRICE
    found = search(pool, table, columns, use, edges, nodes, leaf, l2, price)
    dense = dense_search(table, columns, use, edges, nodes, leaf, l2, price)
    for part, expected in zip(found, dense, strict=True):
        np.testing.assert_array_equal(part, expected)


@pytest.mark.parametrize("seed", range(10))
def test_any_number_of_threads_finds_the_same(seed: int) -> None:
    """Tables large enough for all threads; many columns are equal, so that ties stretch over blocks."""
    rng = np.random.default_rng(seed)
    n, m = 3000, 200
    one = random_sparse(rng, n, 40, np.dtype(np.float64))
    rows, values = np.tile(one.rows, 5), np.tile(one.values, (5, 1))
    start = np.concatenate([[0], np.cumsum(np.tile(np.diff(one.start), 5))])
    table = Sparse(start, rows, values, np.tile(one.dense, 5))
    columns = rng.permutation(m)
    use = some_uses(rng, m, 0.2)
    edges = dense_thresholds(table, np.arange(n), columns, 30)
    cells = rng.integers(-(2**20), 2**20, n) * 2**12 + 1
    order, cuts = rng.permutation(n).astype(np.int32), np.array([0, 1000, 1000, 1900, 2999, 3000])
    nodes = Nodes(order, cells, cuts[:-1].copy(), cuts[1:].copy(), 12)
    expected = dense_search(table, columns, use, edges, nodes, 3)
    assert (expected[0][[0, 2, 3]] > 0.0).all()
    for size in (1, 2, 3):
        found = search(_core.Pool(size), table, columns, use, edges, nodes, 3)
        for part, expected_part in zip(found, expected, strict=True):
            np.testing.assert_array_equal(part, expected_part)


BAD_STARTS = {
    "no start": np.zeros(0, np.int64),
    "not from 0": np.array([1, 2, 3]),
    "not to the end": np.array([0, 2, 2]),
    "beyond the end": np.array([0, 2, 4]),
    "decreasing": np.array([0, 4, 3]),
}


def test_wrong_tables_are_refused() -> None:
    pool, i32, u8 = _core.Pool(2), np.int32, np.uint8
    start, rows, values = np.array([0, 2, 3]), np.array([0, 3, 1], i32), np.ones((3, 1))
    columns, edges, counts = np.array([1, 0]), np.zeros((2, 2)), np.full(2, 2, i32)
    starts: dict[str, dict[int, object]] = {what: {1: bad} for what, bad in BAD_STARTS.items()}
    row: dict[str, dict[int, object]] = {
        "row": {2: np.array([0, 4, 1], i32)},
        "no row": {2: np.array([0, -1, 1], i32)},
    }
    lengths: dict[str, dict[int, object]] = {"rows": {2: rows[:2].copy()}, "values": {3: np.ones((4, 1))}}
    dtype: dict[str, dict[int, object]] = {"dtype": {3: np.ones((3, 1), np.float16)}}
    column: dict[str, dict[int, object]] = {"column": {4: np.array([0, 2])}, "none": {4: np.array([0, -1])}}
    table: dict[str, dict[int, object]] = {**starts, **row, **lengths, **dtype, **column}
    bad: dict[str, dict[int, object]] = {
        "sample": {5: np.ones(3, u8)},
        "few bins": {6: 1, 7: np.zeros((2, 0))},
        "many bins": {6: 256, 7: np.zeros((2, 255))},
        "width": {7: np.zeros((2, 3))},
        "columns": {7: np.zeros((1, 2))},
        "counts": {8: np.zeros(1, i32)},
    }
    good = (pool, start, rows, values, columns, np.ones(4, u8), 3, edges, counts.copy())
    assert_refused(_core.find_sparse_thresholds, good, {**table, **bad})
    bad = {
        "thresholds": {5: np.zeros((1, 2))},
        "the missing code": {5: np.zeros((2, 255))},
        "counts": {6: np.zeros(1, i32)},
        "more than given": {6: np.full(2, 3, i32)},
        "tiles": {7: np.zeros((1, 4, 1), u8)},
        "few rows": {7: np.zeros((1, 3, 2), u8)},
    }
    good_out = (pool, start, rows, values, columns, edges, counts, np.zeros((1, 4, 2), u8))
    assert_refused(_core.encode_sparse, good_out, {**table, **bad})
    without_rows = {
        what: {k - (k > 2): value for k, value in change.items()}
        for what, change in {**starts, **lengths, **dtype, **column, **bad}.items()
        if what not in ("rows", "tiles", "few rows")
    }
    without_rows |= {"codes": {6: np.zeros(2, u8)}, "zeros": {7: np.zeros(1, u8)}}
    good_entries = (pool, start, values, columns, edges, counts, np.zeros(3, u8), np.zeros(2, u8))
    assert_refused(_core.code_entries, good_entries, without_rows)


def test_wrong_searches_are_refused() -> None:
    i32, i64, u8 = np.int32, np.int64, np.uint8
    stored = (np.array([0, 2, 3]), np.array([0, 3, 1], i32), np.zeros(3, u8), np.array([1, 0]))
    by_column = (np.full(2, 3, i32), np.array([0, 2], u8), np.full(2, NEW, u8), np.zeros(2))
    ranges, total = (np.array([0, 2]), np.array([2, 4])), np.full((2, 2), 2, i64)
    nodes = (np.arange(4, dtype=i32), *ranges, total, np.ones(4, i64), _core.CellFormat(3))
    good = (_core.Pool(2), *stored, *by_column, *nodes, 1, 0.0, np.zeros(2), np.zeros((2, 3), i32))
    bad: dict[str, dict[int, object]] = {
        **{what: {1: start} for what, start in BAD_STARTS.items()},
        "rows": {2: np.zeros(2, i32)},
        "row of an entry": {2: np.array([0, 4, 1], i32)},
        "no row of an entry": {2: np.array([0, -1, 1], i32)},
        "codes": {3: np.zeros(4, u8)},
        "column": {4: np.array([0, 2])},
        "no column": {4: np.array([0, -1])},
        "bins of columns": {5: np.full(1, 3, i32)},
        "many bins": {5: np.full(2, 256, i32)},
        "zeros": {6: np.zeros(1, u8)},
        "zero beyond the bins": {6: np.array([0, 3], u8)},
        "uses": {7: np.full(1, NEW, u8)},
        "prices": {8: np.zeros(1)},
        "node row": {9: np.array([0, 1, 2, 4], i32)},
        "no node row": {9: np.array([0, -1, 2, 3], i32)},
        "few node rows": {9: np.arange(3, dtype=i32)},
        "before": {10: np.array([-1, 2])},
        "backwards": {10: np.array([3, 2])},
        "beyond": {11: np.array([2, 5])},
        "ends": {11: np.array([2])},
        "totals": {12: total[:1].copy()},
        "gradient and count": {12: total[:, :1].copy()},
        "cells": {13: np.ones(3, i64)},
        "gain": {17: np.zeros(1)},
        "where": {18: np.zeros((1, 3), i32)},
        "entries of where": {18: np.zeros((2, 2), i32)},
    }
    assert_refused(_core.search_sparse, good, bad)
