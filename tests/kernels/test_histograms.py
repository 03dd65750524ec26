"""Histogram kernels against their twins; sums over rows are exact, so most comparisons are of equal bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import CELLS, FALLING, I32, I64, LANES, RISING, U8
from tests.kernels import reference
from tests.strategies import Nodes, assert_refused, level_rows, nodes_of, pools, seeds, sums_of, tiles

Level = tuple[U8, I32, Nodes]


def levels(gradient: int = 8) -> st.SearchStrategy[Level]:
    """Draw codes, bins of the columns, and nodes."""
    return level_rows.flatmap(
        lambda n: st.tuples(tiles(n), nodes_of(n, gradient)).map(lambda drawn: (*drawn[0], drawn[1]))
    )


def untouched(*shape: int) -> I64:
    return np.full(shape, 77, dtype=np.int64)


def build(pool: _core.Pool, codes: U8, nodes: Nodes) -> I64:
    """Histograms of all nodes, node k's in slot k."""
    hist = untouched(nodes.begin.shape[0], codes.shape[0], LANES, CELLS * nodes.format.width)
    slots = np.arange(nodes.begin.shape[0])
    ranges = (nodes.rows, nodes.values, nodes.begin, nodes.end, slots, 0, codes.shape[0])
    _core.build_histograms(pool, codes, *ranges, nodes.format, untouched(nodes.rows.shape[0]), hist)
    return hist


@given(pools, levels(2**20), seeds)
def test_build_histograms(pool: _core.Pool, level: Level, seed: int) -> None:
    codes, _, nodes = level
    rng = np.random.default_rng(seed)
    n_nodes, n_tiles = len(nodes.begin), codes.shape[0]
    slot = rng.permutation(n_nodes + 2)[:n_nodes]
    first, last = np.sort(rng.integers(0, n_tiles, 2, endpoint=True)).tolist()
    hist = untouched(n_nodes + 2, n_tiles + 1, LANES, CELLS * nodes.format.width)
    jobs = (nodes.begin, nodes.end, slot, first, last)
    expected = reference.build_histograms(codes, nodes.rows, nodes.cells, *jobs, nodes.packed(hist))
    scratch = untouched(nodes.rows.shape[0])
    _core.build_histograms(pool, codes, nodes.rows, nodes.values, *jobs, nodes.format, scratch, hist)
    np.testing.assert_array_equal(nodes.packed(hist), expected)


@given(pools, levels(2**20), seeds)
def test_a_parent_is_the_sum_of_its_children(pool: _core.Pool, level: Level, seed: int) -> None:
    codes, _, nodes = level
    whole = replace(nodes, begin=nodes.begin[:1], end=nodes.end[-1:])
    children = build(pool, codes, nodes)
    parent = build(pool, codes, whole)
    np.testing.assert_array_equal(parent[0], children.sum(axis=0))
    # Nor does the order of the rows matter.
    order = np.random.default_rng(seed).permutation(nodes.rows.shape[0])
    mixed = replace(whole, rows=nodes.rows[order])
    np.testing.assert_array_equal(parent, build(pool, codes, mixed))


@given(pools, levels(2**20), seeds)
def test_subtract_histograms(pool: _core.Pool, level: Level, seed: int) -> None:
    codes, _, nodes = level
    rng = np.random.default_rng(seed)
    n_nodes = len(nodes.begin)
    built = build(pool, codes, nodes)
    hist = np.concatenate([built, untouched(n_nodes, *built.shape[1:])])
    hist = hist.reshape(2 * n_nodes, -1)
    parents = rng.integers(-(2**60), 2**60, (3, hist.shape[1] + 5))
    n_cells = [0, 1, hist.shape[1], int(rng.integers(hist.shape[1]))][rng.integers(4)]
    sibling, slot = rng.permutation(n_nodes), n_nodes + rng.permutation(n_nodes)
    arguments = (parents, rng.integers(0, 3, n_nodes), sibling, slot, n_cells)
    expected = reference.subtract_histograms(*arguments, hist)
    _core.subtract_histograms(pool, *arguments, hist)
    np.testing.assert_array_equal(hist, expected)


@given(pools, seeds, st.sampled_from([1, 255, 8191, 8192, 8193, 40_000]), st.booleans())
def test_long_histograms_are_subtracted_in_pieces(
    pool: _core.Pool, seed: int, n_cells: int, in_place: bool
) -> None:
    rng = np.random.default_rng(seed)
    hist, parents = rng.integers(-(2**60), 2**60, (2, 3, 40_000))
    # A histogram may take the place of the sibling it is found by.
    slot = np.array([1, 2]) if in_place else np.array([0, 2])
    arguments = (parents, np.array([2, 0]), np.array([1, 2 if in_place else 1]), slot, n_cells)
    expected = reference.subtract_histograms(*arguments, hist)
    _core.subtract_histograms(pool, *arguments, hist)
    np.testing.assert_array_equal(hist, expected)


@given(pools, levels())
def test_a_subtracted_sibling_is_the_built_one(pool: _core.Pool, level: Level) -> None:
    codes, _, nodes = level
    middle = int(nodes.begin[-1])
    two = replace(nodes, begin=np.array([0, middle]), end=np.array([middle, nodes.rows.shape[0]]))
    whole = replace(nodes, begin=nodes.begin[:1], end=nodes.end[-1:])
    hist, parent = build(pool, codes, two).reshape(2, -1), build(pool, codes, whole).reshape(1, -1)
    expected = hist[1].copy()
    zero, one = np.array([0]), np.array([1])
    _core.subtract_histograms(pool, parent, zero, zero, one, hist.shape[1], hist)
    np.testing.assert_array_equal(hist[1], expected)


@given(pools, levels(), st.sampled_from([1, 2, 5]), st.sampled_from([0, 0, 3]), seeds)
def test_scan_pair_histograms(pool: _core.Pool, level: Level, min_leaf: int, l2: int, seed: int) -> None:
    codes, n_bins, nodes = level
    rng = np.random.default_rng(seed)
    n_pairs = 3 * n_bins.shape[0]
    node, column = rng.integers(0, len(nodes.begin), n_pairs), rng.integers(0, n_bins.shape[0], n_pairs)
    hist = build(pool, codes, nodes)[node, column // LANES, column % LANES]
    gain, bin, side = np.empty(n_pairs), np.empty(n_pairs, np.int32), np.empty(n_pairs, np.int32)
    total, bits = nodes.total[node], nodes.count_bits
    use = rng.choice([0, 0, RISING, FALLING], n_pairs).astype(np.uint8)
    limits = (nodes.sums[node], nodes.format, min_leaf, float(l2))
    _core.scan_pair_histograms(pool, hist, n_bins[column], use, *limits, gain, bin, side)
    hist = nodes.packed(hist)
    exact = nodes.rows.shape[0] <= 60  # then every product of the comparison fits into a double
    for k in range(n_pairs):
        cells = hist[k, : n_bins[column[k]]]
        direction = reference.direction_of(int(use[k]))
        best = reference.best_split(cells, int(total[k]), bits, min_leaf, direction, l2)
        if exact or best.bin < 0:
            assert reference.Split(float(gain[k]), int(bin[k]), int(side[k])) == best
        else:
            # Rounding may choose between splits that are as good as equal, but nothing worse.
            np.testing.assert_allclose(gain[k], best.gain, rtol=1e-12)
            chosen = (int(bin[k]), int(side[k]))
            found = reference.gain_of(cells, chosen, int(total[k]), bits, l2)
            np.testing.assert_allclose(found, gain[k], rtol=1e-12)


@given(pools, levels(2**20), seeds)
def test_pair_histograms(pool: _core.Pool, level: Level, seed: int) -> None:
    codes, _, nodes = level
    # Pairs read single columns, here the first lane of each tile.
    columns = np.ascontiguousarray(codes[:, :, 0])
    column = np.random.default_rng(seed).integers(0, len(columns), len(nodes.begin))
    hist = untouched(column.shape[0], CELLS * nodes.format.width)
    pairs, ranges = (columns, column, nodes.rows), (nodes.begin, nodes.end)
    _core.build_pair_histograms(pool, *pairs, nodes.values, *ranges, nodes.format, hist)
    expected = reference.build_pair_histograms(*pairs, nodes.cells, *ranges)
    np.testing.assert_array_equal(nodes.packed(hist), expected)


def scan_one(
    cells: list[tuple[int, int]], missing: tuple[int, int], min_leaf: int = 1, l2: float = 0.0
) -> reference.Split:
    """Best split of one column given as (gradient sum, rows) of each bin."""
    packed = np.zeros((1, CELLS), dtype=np.int64)
    for b, (gradient, rows) in enumerate([*cells, missing]):
        packed[0, b if b < len(cells) else CELLS - 1] = gradient * 2**16 + rows
    gain, bin, side = np.empty(1), np.empty(1, np.int32), np.empty(1, np.int32)
    n_bins, total = np.array([len(cells)], np.int32), sums_of(packed.sum(axis=1), 16)
    free, form = np.zeros(1, dtype=np.uint8), _core.CellFormat(16)
    node = (packed, n_bins, free, total)
    _core.scan_pair_histograms(_core.Pool(1), *node, form, min_leaf, l2, gain, bin, side)
    return reference.Split(float(gain[0]), int(bin[0]), int(side[0]))


def test_known_splits() -> None:
    none = (0, 0)
    # Means -1 and 1 on two rows each: the squared error falls from 4 to 0.
    assert scan_one([(-2, 2), (2, 2)], none) == (4.0, 0, reference.LEFT)
    assert scan_one([(-2, 2), none, (2, 2)], none) == (4.0, 0, reference.LEFT), "ties to the lower bin"
    assert scan_one([(-2, 2), (2, 3)], none)[1:] == (0, reference.RIGHT), "missing ones to the larger side"
    assert scan_one([(-2, 2), (2, 2)], none, min_leaf=3).bin == -1
    assert scan_one([(0, 2), (0, 2)], none) == (-np.inf, -1, reference.UNSEEN), "no gain is no split"
    assert scan_one([(3, 3)], none).bin == -1, "a constant column"
    assert scan_one([], (3, 3)).bin == -1, "a column without a value"
    # Missing values go where they fit, and may be a side of their own.
    assert scan_one([(-2, 2), (2, 2)], (2, 2))[1:] == (0, reference.RIGHT)
    assert scan_one([(-2, 2), (2, 2)], (-2, 2))[1:] == (0, reference.LEFT)
    assert scan_one([(-2, 2), (-2, 2)], (4, 2))[1:] == (1, reference.RIGHT)


def test_known_regularized_splits() -> None:
    none = (0, 0)
    # Sums -2 and 2 of two rows each: 4 / (2 + 2) for each side, nothing for the node.
    assert scan_one([(-2, 2), (2, 2)], none, l2=2.0) == (2.0, 0, reference.LEFT)
    # 1 / 2 + 9 / 2 for the sides, 16 / 3 for the node: two leaves are shrunk more than one.
    assert scan_one([(1, 1), (3, 1)], none, l2=0.0).gain == 2.0
    assert scan_one([(1, 1), (3, 1)], none, l2=1.0) == (-np.inf, -1, reference.UNSEEN)


@given(pools, levels(2**20), st.floats(0.0, 1e6), seeds)
def test_gains_are_those_of_the_definition(pool: _core.Pool, level: Level, l2: float, seed: int) -> None:
    """A regularized gain is the fall of the regularized squared error, and not above the one without."""
    codes, n_bins, nodes = level
    rng, column = np.random.default_rng(seed), np.arange(n_bins.shape[0])
    node = rng.integers(0, len(nodes.begin), column.shape[0])
    hist = build(pool, codes, nodes)[node, column // LANES, column % LANES]
    total, bits, use = nodes.total[node], nodes.count_bits, np.zeros(column.shape[0], dtype=np.uint8)
    found = []
    for penalty in (0.0, l2):
        gain = np.empty(column.shape[0])
        bin, side = np.empty(column.shape[0], np.int32), np.empty(column.shape[0], np.int32)
        at_nodes = (nodes.sums[node], nodes.format, 1, penalty)
        _core.scan_pair_histograms(pool, hist, n_bins, use, *at_nodes, gain, bin, side)
        found.append(gain)
    hist = nodes.packed(hist)
    assert (found[1] <= found[0] * (1.0 + 1e-12)).all()
    for k in np.flatnonzero(found[1] > 0.0).tolist():
        cells, split = hist[k, : n_bins[k]], (int(bin[k]), int(side[k]))
        # The gain is a difference of numbers as large as the one without regularization.
        tolerance = 1e-9 * found[0][k]
        definition = reference.gain_of(cells, split, int(total[k]), bits, l2)
        np.testing.assert_allclose(found[1][k], definition, rtol=0, atol=tolerance)


def test_wrong_shapes_are_refused() -> None:
    pool, i32, i64 = _core.Pool(2), np.int32, np.int64
    codes, rows, cells = np.zeros((2, 4, LANES), np.uint8), np.arange(4, dtype=i32), np.ones(4, i64)
    begin, end, slot = np.array([0, 2]), np.array([2, 4]), np.array([1, 0])
    hist = np.zeros((2, 2, LANES, CELLS), i64)
    few_codes = np.zeros((2, 3, LANES), np.uint8)
    ranges: dict[str, dict[int, object]] = {
        "cells": {3: cells[:3].copy()},
        "one end": {5: end[:1].copy()},
        "before": {4: np.array([-1, 2])},
        "beyond": {5: np.array([2, 5])},
        "backwards": {4: np.array([3, 2])},
        "more rows than codes": {1: few_codes},
    }
    bad: dict[str, dict[int, object]] = {
        "lanes": {1: np.zeros((2, 4, 4), np.uint8)},
        "slots": {6: slot[:1].copy()},
        "slot": {6: np.array([0, 2])},
        "first tile": {7: -1},
        "tiles backwards": {7: 2, 8: 1},
        "last tile": {8: 3},
        "scratch": {10: cells[:3].copy()},
        "few tiles": {11: np.zeros((2, 1, LANES, CELLS), i64)},
        "few lanes": {11: np.zeros((2, 2, 4, CELLS), i64)},
        "few cells": {11: np.zeros((2, 2, LANES, 255), i64)},
        "packed cells": {9: _core.CellFormat(3, is_wide=True)},
    }
    packed = _core.CellFormat(3)
    good = (pool, codes, rows, cells, begin, end, slot, 0, 2, packed, cells.copy(), hist)
    assert_refused(_core.build_histograms, good, {**ranges, **bad})
    zero, flat = np.array([0]), hist.reshape(2, -1)
    bad = {
        "parents' cells": {1: flat[:, :-1].copy()},
        "parent": {2: np.array([2])},
        "sibling": {3: np.array([-1])},
        "slot": {4: np.array([2])},
        "lengths": {3: slot},
        "parent lengths": {2: slot},
        "cells": {5: flat.shape[1] + 1, 1: np.zeros((2, 9999), i64)},
        "negative cells": {5: -1},
    }
    good_flat = (pool, flat, zero, zero, np.array([1]), flat.shape[1], flat)
    assert_refused(_core.subtract_histograms, good_flat, bad)
    n_bins, total = np.full(2, 2, i32), np.full((2, 2), 4, i64)
    single, pair_hist = np.zeros((2, 4), np.uint8), np.zeros((2, CELLS), i64)
    pair_ranges = {
        what: {k + (k >= 2): value for k, value in change.items()}
        for what, change in ranges.items()
        if what != "more rows than codes"
    }
    bad = {
        "more rows than codes": {1: np.zeros((2, 3), np.uint8)},
        "column": {2: np.array([0, 2])},
        "columns": {2: np.array([0])},
        "pairs": {8: pair_hist[:1].copy()},
        "few cells": {8: np.zeros((2, 255), i64)},
        "packed cells": {7: _core.CellFormat(3, is_wide=True)},
    }
    good_pairs = (pool, single, slot, rows, cells, begin, end, packed, pair_hist)
    assert_refused(_core.build_pair_histograms, good_pairs, {**pair_ranges, **bad})
    one_long: dict[int, object] = {3: np.zeros(1, np.uint8), 4: np.zeros((1, 2), i64), 8: np.zeros(1)}
    bad = {f"array {k}": {k: one_long.get(k, np.zeros(1, i32))} for k in (2, 3, 4, 8, 9, 10)}
    bad["few cells"] = {1: np.zeros((2, 255), i64)}
    bad["packed cells"] = {5: _core.CellFormat(3, is_wide=True)}
    bad["totals"] = {4: np.zeros((2, 1), i64)}
    bad["many bins"] = {2: np.full(2, 256, i32)}
    outputs = (np.zeros(2), np.zeros(2, i32), np.zeros(2, i32))
    columns = (n_bins, np.zeros(2, np.uint8))
    good_scan = (pool, pair_hist, *columns, total, packed, 1, 0.0, *outputs)
    assert_refused(_core.scan_pair_histograms, good_scan, bad)
