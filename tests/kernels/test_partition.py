"""The kernels that divide rows, and what they know about the rows of nodes, against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import CELLS, I32, I64, LANES, U8
from tests.kernels import reference
from tests.strategies import Nodes, assert_refused, level_rows, nodes_of, pools, seeds, sums_of, tiles

Level = tuple[U8, I32, Nodes]
Splits = tuple[U8, I64, I32, U8, U8, I64, I64]
# Ranges longer than 16,384 rows are shared by threads.
levels = st.one_of(level_rows, st.sampled_from([16_384, 16_385, 40_000])).flatmap(
    lambda n: st.tuples(tiles(n), nodes_of(n, 2**28)).map(lambda drawn: (*drawn[0], drawn[1]))
)


def partition(pool: _core.Pool, splits: Splits, rows: I32) -> tuple[I32, I64]:
    """Rows after splitting, and how many went left."""
    rows, scratch = rows.copy(), np.full((2, rows.shape[0]), 77, dtype=np.int32)
    n_left = np.full(splits[1].shape[0], 77, dtype=np.int64)
    _core.partition_rows(pool, *splits, rows, scratch, n_left)
    return rows, n_left


def some_splits(level: Level, seed: int) -> Splits:
    """Splits of some of the level's nodes, on any columns and bins."""
    codes, n_bins, nodes = level
    rng = np.random.default_rng(seed)
    kept = np.flatnonzero(rng.random(nodes.begin.shape[0]) < 0.8)
    column = rng.integers(0, n_bins.shape[0], kept.shape[0])
    bin = rng.integers(0, np.maximum(n_bins[column], 1)).astype(np.int32)
    is_category, missing_left = rng.integers(0, 2, (2, kept.shape[0])).astype(np.uint8)
    return codes, column, bin, is_category, missing_left, nodes.begin[kept], nodes.end[kept]


@given(pools, levels, seeds)
def test_partition_rows(pool: _core.Pool, level: Level, seed: int) -> None:
    splits, rows = some_splits(level, seed), level[2].rows
    found, expected = partition(pool, splits, rows), reference.partition_rows(*splits, rows)
    for part, expected_part in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, expected_part)


@given(pools, levels, seeds)
def test_both_sides_keep_their_rows_and_order(pool: _core.Pool, level: Level, seed: int) -> None:
    splits, before = some_splits(level, seed), level[2].rows
    rows, n_left = partition(pool, splits, before)
    place = np.empty(splits[0].shape[1], dtype=np.int64)
    place[before] = np.arange(before.shape[0])
    outside = np.ones(before.shape[0], dtype=np.bool_)
    for b, e, left in zip(splits[5].tolist(), splits[6].tolist(), n_left.tolist(), strict=True):
        outside[b:e] = False
        np.testing.assert_array_equal(np.sort(rows[b:e]), np.sort(before[b:e]))
        for side in (place[rows[b : b + left]], place[rows[b + left : e]]):
            assert (np.diff(side) > 0).all()
    np.testing.assert_array_equal(rows[outside], before[outside], "rows of other nodes stay in place")


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("kind", ["all left", "all right", "halves", "blocks"])
def test_long_ranges_beside_short_ones(size: int, kind: str) -> None:
    n = 120_000
    codes = np.zeros((1, n, LANES), dtype=np.uint8)
    every = np.arange(n)
    column = {"all left": 0 * every, "all right": 0 * every + 9, "halves": every % 2}
    column["blocks"] = every // 20_000
    codes[0, :, 3] = column[kind]
    rows = (every if kind == "blocks" else np.random.default_rng(0).permutation(n)).astype(np.int32)
    begin, end = np.array([5, 10, 60_000, 110_000]), np.array([10, 50_000, 110_000, n])
    two = np.full(4, 3, dtype=np.int64), np.zeros(4, np.int32), np.zeros(4, np.uint8), np.zeros(4, np.uint8)
    splits = (codes, *two, begin, end)
    found, expected = partition(_core.Pool(size), splits, rows), reference.partition_rows(*splits, rows)
    for part, expected_part in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, expected_part)


@pytest.mark.parametrize(
    ("is_category", "missing_left", "expected"),
    [(0, 0, [0, 4, 1, 2, 3, 5]), (0, 1, [0, 3, 4, 1, 2, 5]), (1, 0, [1, 2, 3, 5, 0, 4])],
)
def test_a_known_partition(is_category: int, missing_left: int, expected: list[int]) -> None:
    codes = np.zeros((2, 6, LANES), dtype=np.uint8)
    codes[1, :, 2] = [3, 7, 4, 255, 3, 9]
    flags = np.array([is_category], np.uint8), np.array([missing_left], np.uint8)
    splits = (codes, np.array([10]), np.array([3], np.int32), *flags, np.array([0]), np.array([6]))
    rows, n_left = partition(_core.Pool(1), splits, np.arange(6, dtype=np.int32))
    assert rows.tolist() == expected
    assert n_left.tolist() == [4 if is_category else 2 + missing_left]


@given(pools, level_rows.flatmap(lambda n: nodes_of(n, 2**28)))
def test_node_sums(pool: _core.Pool, nodes: Nodes) -> None:
    out = np.full((nodes.begin.shape[0], 4), 77, dtype=np.int64)
    ranges = (nodes.begin, nodes.end)
    _core.node_sums(pool, nodes.rows, nodes.values, *ranges, nodes.format, out)
    found = [(g * 2**nodes.count_bits + n, (high << 32) + low) for g, n, high, low in out.tolist()]
    assert found == reference.node_sums(nodes.rows, nodes.cells, *ranges, nodes.count_bits)
    assert ((out[:, 3] >> 32) >= 0).all()


@given(level_rows.flatmap(lambda n: st.tuples(st.just(n), nodes_of(n))), st.floats(0.0, 1.0), seeds)
def test_sampled_rows(drawn: tuple[int, Nodes], share: float, seed: int) -> None:
    n, nodes = drawn
    rng = np.random.default_rng(seed)
    position = np.where(rng.random(n) < share, rng.permutation(n), -1).astype(np.int32)
    ranges = (nodes.begin, nodes.end, position)
    expected = reference.sampled_rows(nodes.rows, nodes.cells, *ranges)
    given_rows = (nodes.rows, nodes.values, *ranges, nodes.format)
    count, n_nodes = expected[2][-1], nodes.begin.shape[0]
    room = count + int(rng.integers(0, 3))
    positions, cells = np.full(room, 77, dtype=np.int32), np.full(room, 77, dtype=np.int64)
    first, total = np.full(n_nodes + 1, 77, dtype=np.int64), np.full((n_nodes, 2), 77, dtype=np.int64)
    _core.sampled_rows(*given_rows, positions, cells, first, total)
    found = positions[:count].tolist(), nodes.packed_rows(cells[:count]).tolist(), first.tolist()
    assert found == expected[:3]
    np.testing.assert_array_equal(total, sums_of(np.array(expected[3]), nodes.count_bits))
    assert (positions[count:] == 77).all()
    assert (cells[count:] == 77).all()
    if count:
        with pytest.raises(ValueError, match="more sampled rows than places"):
            _core.sampled_rows(*given_rows, positions[: count - 1], cells[: count - 1], first, total)


RANGES: dict[str, tuple[list[int], list[int]]] = {
    "before": ([-1, 2], [2, 4]),
    "backwards": ([3, 2], [2, 4]),
    "beyond": ([0, 2], [2, 5]),
    "fewer ends": ([0, 2], [2]),
    "fewer begins": ([0], [2, 4]),
}


def bad_ranges(begin: int, end: int) -> dict[str, dict[int, object]]:
    """Wrong ranges of four rows, as replacements of two arguments."""
    return {what: {begin: np.array(b), end: np.array(e)} for what, (b, e) in RANGES.items()}


def test_wrong_splits_are_refused() -> None:
    i32, u8 = np.int32, np.uint8
    codes, two = np.zeros((1, 4, LANES), u8), np.array([0, 1])
    flags = two.astype(u8), two.astype(u8)
    splits = (codes, two, two.astype(i32), *flags, np.array([0, 2]), np.array([2, 4]))
    good = (_core.Pool(2), *splits, np.arange(4, dtype=i32), np.zeros((2, 4), i32), np.zeros(2, np.int64))
    bad: dict[str, dict[int, object]] = {
        "lanes": {1: np.zeros((1, 4, 4), u8)},
        "more rows than codes": {1: np.zeros((1, 3, LANES), u8)},
        "column": {2: np.array([0, 8])},
        "no column": {2: np.array([0, -1])},
        "columns": {2: two[:1].copy()},
        "bins": {3: np.zeros(3, i32)},
        "categories": {4: np.zeros(1, u8)},
        "sides": {5: np.zeros(1, u8)},
        "rows": {8: np.arange(3, dtype=i32)},
        "half the scratch": {9: np.zeros((1, 4), i32)},
        "short scratch": {9: np.zeros((2, 3), i32)},
        "n_left": {10: np.zeros(1, np.int64)},
    }
    assert_refused(_core.partition_rows, good, {**bad, **bad_ranges(6, 7)})


def test_wrong_nodes_are_refused() -> None:
    i32, i64 = np.int32, np.int64
    rows, cells, begin, end = np.arange(4, dtype=i32), np.ones(5, i64), np.array([0, 2]), np.array([2, 4])
    bad: dict[str, dict[int, object]] = {
        "cells": {2: cells[:3].copy()},
        "out": {6: np.zeros((1, 4), i64)},
        "sums": {6: np.zeros((2, 3), i64)},
    }
    good = (_core.Pool(2), rows, cells, begin, end, _core.CellFormat(3), np.zeros((2, 4), i64))
    assert_refused(_core.node_sums, good, {**bad, **bad_ranges(3, 4)})
    outputs = (np.zeros(5, i32), np.zeros(5, i64), np.zeros(3, i64), np.zeros((2, 2), i64))
    bad = {
        "row": {0: np.array([0, 1, 2, 5], i32)},
        "no row": {0: np.array([0, 1, 2, -1], i32)},
        "cells": {1: cells[:4].copy()},
        "positions": {4: np.zeros(4, i32)},
        "out positions": {6: np.zeros(4, i32)},
        "out cells": {7: np.zeros(4, i64)},
        "first": {8: np.zeros(2, i64)},
        "total": {9: np.zeros((3, 2), i64)},
        "gradient and count": {9: np.zeros((2, 1), i64)},
        "places": {6: np.zeros(3, i32), 7: np.zeros(3, i64)},
    }
    good_sample = (rows, cells, begin, end, np.zeros(5, i32), _core.CellFormat(3), *outputs)
    assert_refused(_core.sampled_rows, good_sample, {**bad, **bad_ranges(2, 3)})


def test_a_category_is_any_code() -> None:
    codes = np.zeros((1, CELLS, LANES), dtype=np.uint8)
    codes[0, :, 0] = np.arange(CELLS)
    for code in (0, 1, 254):
        flags = np.ones(1, np.uint8), np.ones(1, np.uint8)
        splits = (codes, np.array([0]), np.array([code], np.int32), *flags, np.array([0]), np.array([CELLS]))
        rows, n_left = partition(_core.Pool(1), splits, np.arange(CELLS, dtype=np.int32))
        assert n_left.tolist() == [CELLS - 1]
        assert rows[-1] == code
