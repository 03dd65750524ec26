"""Best splits over many columns: against a plain scan, and against the columns one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import (
    CATEGORICAL,
    CELLS,
    F64,
    FALLING,
    I32,
    I64,
    LANES,
    NEW,
    OWNED,
    RISING,
    SKIPPED,
    U8,
)
from tests.kernels import reference
from tests.kernels.reference import Columns
from tests.strategies import (
    Nodes,
    assert_refused,
    level_rows,
    nodes_of,
    pools,
    rich_level,
    scanned,
    seeds,
    sums_of,
    tiles,
)

Level = tuple[U8, Columns, Nodes]


DIRECTIONS = RISING | FALLING
regularizations = st.sampled_from([0.0, 0.0, 0.7, 12.5, 1e4])


def directed(rng: np.random.Generator, columns: Columns) -> Columns:
    """The same columns, some of the numbers among them with a direction."""
    direction = rng.choice([0, 0, 0, RISING, FALLING], columns.use.shape[0])
    is_number = np.isin(columns.use, [NEW, OWNED])
    return columns._replace(use=np.where(is_number, columns.use | direction, columns.use).astype(np.uint8))


@st.composite
def levels(draw: st.DrawFn, sizes: st.SearchStrategy[int] = level_rows, gradient: int = 8) -> Level:
    """Draw codes, what their columns are to a scan, and nodes."""
    n, rng = draw(sizes), np.random.default_rng(draw(seeds))
    if draw(st.booleans()):
        codes, columns, nodes = rich_level(rng, n, gradient)
    else:
        codes, n_bins = draw(tiles(n))
        columns, nodes = draw(scanned(n_bins)), draw(nodes_of(n, gradient))
    return codes, directed(rng, columns), nodes


def histograms(codes: U8, nodes: Nodes) -> I64:
    """Histograms of all nodes, node k's in slot k."""
    slot = np.arange(nodes.begin.shape[0])
    width = CELLS * nodes.format.width
    hist = np.zeros((slot.shape[0], codes.shape[0], LANES, width), dtype=np.int64)
    ranges = (nodes.rows, nodes.values, nodes.begin, nodes.end, slot, 0, codes.shape[0])
    scratch = np.zeros(nodes.rows.shape[0], np.int64)
    _core.build_histograms(_core.Pool(1), codes, *ranges, nodes.format, scratch, hist)
    return hist


def scan(
    pool: _core.Pool,
    hist: I64,
    columns: Columns,
    slot: I64,
    total: I64,
    cell_format: _core.CellFormat,
    min_leaf: int,
    l2: float = 0.0,
) -> tuple[F64, I32]:
    gain, where = np.full((slot.shape[0], 2), 77.0), np.full((slot.shape[0], 2, 3), 77, np.int32)
    scanned_columns = _core.TileColumns(*columns)
    _core.scan_histograms(pool, scanned_columns, hist, slot, total, cell_format, min_leaf, l2, gain, where)
    return gain, where


@given(pools, st.one_of(levels(), levels(gradient=2**20)), st.sampled_from([1, 2, 5]), regularizations, seeds)
def test_scan_histograms(pool: _core.Pool, level: Level, min_leaf: int, l2: float, seed: int) -> None:
    codes, columns, nodes = level
    hist, bits = histograms(codes, nodes), nodes.count_bits
    slot = np.random.default_rng(seed).permutation(nodes.begin.shape[0])
    gain, where = scan(pool, hist, columns, slot, nodes.sums[slot], nodes.format, min_leaf, l2)
    for k, node in enumerate(slot.tolist()):
        by_column, total = nodes.packed(hist[node]).reshape(-1, CELLS), int(nodes.total[node])
        for side, use in enumerate((OWNED, NEW)):
            best = reference.scan_columns(by_column, columns, use, total, bits, min_leaf, l2)
            assert (float(gain[k, side]), *where[k, side].tolist()) == best[:4]


@given(pools, levels(), st.sampled_from([1, 5]), st.data())
def test_a_new_feature_is_chosen_by_its_gain_after_its_price(
    pool: _core.Pool, level: Level, min_leaf: int, data: st.DataObject
) -> None:
    codes, columns, nodes = level
    hist, bits, m = histograms(codes, nodes), nodes.count_bits, columns.use.shape[0]
    prices = st.one_of(st.sampled_from([0.0, np.inf]), st.floats(0.0, 50.0))
    columns = columns._replace(price=np.array(data.draw(st.lists(prices, min_size=m, max_size=m))))
    slot = np.arange(nodes.begin.shape[0])
    gain, where = scan(pool, hist, columns, slot, nodes.sums, nodes.format, min_leaf)
    for node in slot.tolist():
        by_column, total = nodes.packed(hist[node]).reshape(-1, CELLS), int(nodes.total[node])
        for side, use in enumerate((OWNED, NEW)):
            best = reference.scan_columns(by_column, columns, use, total, bits, min_leaf)
            assert (float(gain[node, side]), *where[node, side].tolist()) == best[:4]


@given(pools, levels(gradient=2**20), st.sampled_from([1, 5]))
def test_the_best_is_the_best_of_single_columns(pool: _core.Pool, level: Level, min_leaf: int) -> None:
    codes, columns, nodes = level
    hist, slot = histograms(codes, nodes), np.arange(nodes.begin.shape[0])
    gain, where = scan(pool, hist, columns, slot, nodes.sums, nodes.format, min_leaf)
    best = np.full(gain.shape, -np.inf)
    best_where = np.tile(np.array([-1, -1, reference.UNSEEN], dtype=np.int32), (*gain.shape, 1))
    for c in range(columns.use.shape[0]):
        alone = columns._replace(use=np.where(np.arange(columns.use.shape[0]) == c, columns.use, SKIPPED))
        found, there = scan(_core.Pool(1), hist, alone, slot, nodes.sums, nodes.format, min_leaf)
        better = found > best
        best[better], best_where[better] = found[better], there[better]
    np.testing.assert_array_equal(gain, best)
    np.testing.assert_array_equal(where, best_where)


@given(pools, levels(), st.sampled_from([1, 5]))
def test_numbers_are_scanned_like_pairs(pool: _core.Pool, level: Level, min_leaf: int) -> None:
    codes, columns, nodes = level
    hist, bins = histograms(codes, nodes), columns.n_bins
    slot, n_nodes = np.arange(nodes.begin.shape[0]), nodes.begin.shape[0]
    for c in range(bins.shape[0]):
        direction = int(columns.use[c]) & DIRECTIONS
        only = np.where(np.arange(bins.shape[0]) == c, NEW | direction, SKIPPED).astype(np.uint8)
        gain, where = scan(pool, hist, columns._replace(use=only), slot, nodes.sums, nodes.format, min_leaf)
        pairs = np.ascontiguousarray(hist[:, c // LANES, c % LANES])
        pair_gain = np.empty(n_nodes)
        bin, side = np.empty(n_nodes, dtype=np.int32), np.empty(n_nodes, dtype=np.int32)
        same = np.full(n_nodes, bins[c], dtype=np.int32)
        use = np.full(n_nodes, direction, dtype=np.uint8)
        _core.scan_pair_histograms(
            pool, pairs, same, use, nodes.sums, nodes.format, min_leaf, 0.0, pair_gain, bin, side
        )
        np.testing.assert_array_equal(gain[:, 1], pair_gain)
        np.testing.assert_array_equal(where[:, 1, 1:], np.stack([bin, side], axis=1))
        assert (gain[:, 0] == -np.inf).all(), "nothing is owned"


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("use", [OWNED, NEW])
def test_equal_columns_give_the_first(size: int, use: int) -> None:
    """Forty equal columns, over several tiles and threads."""
    hist = np.zeros((30, 5, LANES, CELLS), dtype=np.int64)
    hist[..., :3] = np.array([-3, 0, 3]) * 256 + np.array([2, 2, 2])
    total = sums_of(hist[:, 0, 0].sum(axis=1), 8)
    for first in (0, 7, 8, 39):
        uses = np.where(np.arange(40) < first, SKIPPED, use).astype(np.uint8)
        columns = Columns(
            np.full(40, 3, np.int32), uses, np.full(40, -1, np.int32), np.zeros((0, CELLS), np.uint8)
        )
        gain, where = scan(_core.Pool(size), hist, columns, np.arange(30), total, _core.CellFormat(8), 1)
        side = 0 if use == OWNED else 1
        assert where[:, side].tolist() == [[first, 0, reference.RIGHT]] * 30
        assert gain[:, 1 - side].tolist() == [-np.inf] * 30
        assert where[:, 1 - side].tolist() == [[-1, -1, reference.UNSEEN]] * 30


def test_known_categories() -> None:
    """The middle code differs from both others: no threshold separates it, one category does."""
    hist = np.zeros((1, 1, LANES, CELLS), dtype=np.int64)
    hist[0, 0, :, :3] = np.array([-1, 2, -1]) * 16 + 1
    hist[0, 0, 1, CELLS - 1] = 16 + 1  # a missing value: it goes with all others, to the left
    n_bins, rows = np.full(2, 3, np.int32), np.array([0, 1], dtype=np.int32)
    uses = np.zeros((2, CELLS), dtype=np.uint8)
    uses[:, :3] = [[NEW, OWNED, NEW], [OWNED, SKIPPED, OWNED]]
    total = int(hist[0, 0, 0].sum())

    def scan_one(use: list[int], total: int) -> tuple[list[float], list[list[int]]]:
        columns = Columns(n_bins, np.array(use, np.uint8), rows, uses)
        sums = sums_of(np.array([total]), 4)
        gain, where = scan(_core.Pool(1), hist, columns, np.array([0]), sums, _core.CellFormat(4), 1)
        return gain[0].tolist(), where[0].tolist()

    unseen = reference.UNSEEN
    # Sides (2), (-1, -1): the squared error falls by all of 6; sides (-1), (2, -1): by 1.5.
    gains, where = scan_one([CATEGORICAL, SKIPPED], total)
    assert gains == pytest.approx([6.0, 1.5])
    assert where == [[0, 1, unseen], [0, 0, unseen]]
    gains, where = scan_one([SKIPPED, CATEGORICAL], total + 16 + 1)
    assert where == [[1, 0, unseen], [-1, -1, unseen]]
    # Sides (-1) and (2, -1, 1): sums -1 and 2 of 1 and 3 rows.
    assert gains == [pytest.approx(1.0 + 4.0 / 3.0 - 1.0 / 4.0), -np.inf]
    gains, where = scan_one([OWNED, SKIPPED], total)
    assert where[0] == [0, 0, reference.RIGHT]


def test_wrong_shapes_are_refused() -> None:
    i32, i64, u8 = np.int32, np.int64, np.uint8
    hist, slot, total = np.zeros((2, 2, LANES, CELLS), i64), np.array([1, 0]), np.full((2, 2), 4, i64)
    n_bins, use, category_row = np.full(9, 2, i32), np.full(9, OWNED, u8), np.full(9, -1, i32)
    use[3], category_row[3] = CATEGORICAL, 0
    category_use = np.full((1, CELLS), NEW, u8)
    many = 17
    bad: dict[str, dict[int, object]] = {
        "directed category": {3: np.full(9, CATEGORICAL | RISING, u8), 4: np.full(9, -1, i32)},
        "few lanes": {1: np.zeros((2, 2, 4, CELLS), i64)},
        "few cells": {1: np.zeros((2, 2, LANES, 255), i64)},
        "columns": {2: np.full(many, 2, i32), 3: np.full(many, OWNED, u8), 4: np.full(many, -1, i32)},
        "bins": {2: np.full(9, 256, i32)},
        "uses": {3: use[:8].copy()},
        "use": {3: np.full(9, 16, u8)},
        "category rows": {4: category_row[:8].copy()},
        "category row": {4: np.full(9, 1, i32)},
        "no category row": {4: np.full(9, -1, i32)},
        "category uses": {5: np.zeros((0, CELLS), u8)},
        "categories": {5: category_use[:, :255].copy()},
        "prices": {6: np.zeros(8)},
        "slot": {7: np.array([0, 2])},
        "no slot": {7: np.array([0, -1])},
        "slots": {7: np.array([0])},
        "total": {8: total[:1].copy()},
        "gradient and count": {8: total[:, :1].copy()},
        "packed cells": {9: _core.CellFormat(3, is_wide=True)},
        "gain": {12: np.zeros((1, 2))},
        "gains": {12: np.zeros((2, 3))},
        "where": {13: np.zeros((1, 2, 3), i32)},
        "sides of where": {13: np.zeros((2, 1, 3), i32)},
        "entries of where": {13: np.zeros((2, 2, 2), i32)},
    }
    columns = (n_bins, use, category_row, category_use, np.zeros(9))
    outputs = (np.zeros((2, 2)), np.zeros((2, 2, 3), i32))

    def scan_them(pool: _core.Pool, hist: I64, *given: Any) -> None:
        _core.scan_histograms(pool, _core.TileColumns(*given[:5]), hist, *given[5:])

    nodes = (slot, total, _core.CellFormat(4))
    assert_refused(scan_them, (_core.Pool(2), hist, *columns, *nodes, 1, 0.0, *outputs), bad)
