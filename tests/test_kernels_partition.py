"""The partition kernel against its twin."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.arrays import I32, I64, LANES, U8
from tests import reference
from tests.strategies import Nodes, assert_refused, level_rows, nodes_of, pools, seeds, tiles

Level = tuple[U8, I32, Nodes]
levels = level_rows.flatmap(
    lambda n: st.tuples(tiles(n), nodes_of(n, 2**28)).map(lambda drawn: (*drawn[0], drawn[1]))
)


def partition(
    pool: _core.Pool, codes: U8, column: I64, bin: I32, missing_left: U8, nodes: Nodes
) -> tuple[I32, I64, I64]:
    """Rows, cells and statistics after splitting every node."""
    rows, cells = nodes.rows.copy(), nodes.cells.copy()
    row_scratch = np.full((2, rows.shape[0]), 77, dtype=np.int32)
    cell_scratch = np.full((2, rows.shape[0]), 77, dtype=np.int64)
    stats = np.full((column.shape[0], 4), 77, dtype=np.int64)
    _core.partition_rows(
        pool,
        codes,
        column,
        bin,
        missing_left,
        nodes.begin,
        nodes.end,
        nodes.count_bits,
        rows,
        cells,
        row_scratch,
        cell_scratch,
        stats,
    )
    return rows, cells, stats


def some_splits(level: Level, seed: int) -> tuple[U8, I64, I32, U8, Nodes]:
    """Splits of some of the level's nodes, on any columns and bins."""
    codes, n_bins, nodes = level
    rng = np.random.default_rng(seed)
    kept = np.flatnonzero(rng.random(nodes.begin.shape[0]) < 0.8)
    column = rng.integers(0, n_bins.shape[0], kept.shape[0])
    bin = rng.integers(0, np.maximum(n_bins[column], 1)).astype(np.int32)
    missing_left = rng.integers(0, 2, kept.shape[0]).astype(np.uint8)
    split = Nodes(nodes.rows, nodes.cells, nodes.begin[kept], nodes.end[kept], nodes.count_bits)
    return codes, column, bin, missing_left, split


@given(pools, levels, seeds)
def test_partition_rows(pool: _core.Pool, level: Level, seed: int) -> None:
    codes, column, bin, missing_left, nodes = some_splits(level, seed)
    found = partition(pool, codes, column, bin, missing_left, nodes)
    expected = reference.partition_rows(
        codes,
        column,
        bin,
        missing_left,
        nodes.begin,
        nodes.end,
        nodes.count_bits,
        nodes.rows,
        nodes.cells,
    )
    for part, expected_part in zip(found, expected, strict=True):
        np.testing.assert_array_equal(part, expected_part)


@given(pools, levels, seeds)
def test_both_sides_keep_their_rows_and_order(pool: _core.Pool, level: Level, seed: int) -> None:
    codes, column, bin, missing_left, nodes = some_splits(level, seed)
    rows, cells, stats = partition(pool, codes, column, bin, missing_left, nodes)
    place = np.empty(codes.shape[1], dtype=np.int64)
    place[nodes.rows] = np.arange(nodes.rows.shape[0])
    np.testing.assert_array_equal(cells, nodes.cells[place[rows]], "cells travel with their rows")
    for k in range(column.shape[0]):
        b, e = int(nodes.begin[k]), int(nodes.end[k])
        middle = b + int(stats[k, 0])
        assert sorted(rows[b:e].tolist()) == sorted(nodes.rows[b:e].tolist())
        for side in (place[rows[b:middle]], place[rows[middle:e]]):
            assert (np.diff(side) > 0).all()
        squares = sum(q * q for q in (cells[b:middle] >> nodes.count_bits).tolist())
        assert (int(stats[k, 2]) << 32) + int(stats[k, 3]) == squares
        assert stats[k, 1] == cells[b:middle].sum()


def test_a_known_partition() -> None:
    codes = np.zeros((2, 6, LANES), dtype=np.uint8)
    codes[1, :, 2] = [3, 7, 4, 255, 3, 9]
    rows, cells = np.arange(6, dtype=np.int32), (np.arange(6) - 2) * 16 + 1
    nodes = Nodes(rows, cells, np.array([0]), np.array([6]), 4)
    column, bin = np.array([10]), np.array([3], dtype=np.int32)
    for missing_left, expected in ((0, [0, 4, 1, 2, 3, 5]), (1, [0, 3, 4, 1, 2, 5])):
        order, _, stats = partition(
            _core.Pool(1), codes, column, bin, np.array([missing_left], np.uint8), nodes
        )
        assert order.tolist() == expected
        assert stats[0, 0] == 2 + missing_left


def test_wrong_shapes_are_refused() -> None:
    pool, i32, i64 = _core.Pool(2), np.int32, np.int64
    codes, two = np.zeros((1, 4, LANES), np.uint8), np.array([0, 1])
    begin, end = np.array([0, 2]), np.array([2, 4])
    good = (
        pool,
        codes,
        two,
        two.astype(i32),
        two.astype(np.uint8),
        begin,
        end,
        4,
        np.arange(4, dtype=i32),
        np.ones(4, i64),
        np.zeros((2, 4), i32),
        np.zeros((2, 4), i64),
        np.zeros((2, 4), i64),
    )
    bad: dict[str, dict[int, object]] = {
        "lanes": {1: np.zeros((1, 4, 4), np.uint8)},
        "more rows than codes": {1: np.zeros((1, 3, LANES), np.uint8)},
        "column": {2: np.array([0, 8])},
        "columns": {2: two[:1].copy()},
        "bins": {3: np.zeros(3, i32)},
        "sides": {4: np.zeros(1, np.uint8)},
        "begins": {5: begin[:1].copy()},
        "before": {5: np.array([-1, 2])},
        "backwards": {5: np.array([3, 2])},
        "beyond": {6: np.array([2, 5])},
        "rows": {8: np.arange(3, dtype=i32)},
        "cells": {9: np.ones(5, i64)},
        "row scratch": {10: np.zeros((1, 4), i32)},
        "cell scratch": {11: np.zeros((2, 3), i64)},
        "stats": {12: np.zeros((2, 3), i64)},
    }
    assert_refused(_core.partition_rows, good, bad)
