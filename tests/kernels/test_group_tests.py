"""Group-test kernels against their twins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import F64, I8, I64, LANES, U8, U16
from gtgbm.search.dealing import GroupTree, divide
from tests.kernels import reference
from tests.strategies import Nodes, assert_refused, nodes_of, pools, seeds

SAME_PRICE: F64 = np.empty((0, 0))
# Often too small to wake a pool's threads, now and then large enough.
test_rows = st.sampled_from([1, 2, 5, 40, 40, 257, 2500])
n_codes_drawn = st.sampled_from([2, 3, 16, 64, 255, 256])


@dataclass(frozen=True)
class Groups:
    """Subsets of features and how they are divided."""

    members: I64
    sign: I8
    tree: GroupTree
    width: int

    def unused_tiles(self, m: int) -> U8:
        """Tiles where nothing is written yet. 255 is beyond most codes: unused lanes must not be counted."""
        shape = (self.members.shape[0], self.tree.n_tiles, m, self.width)
        return np.full(shape, 255, dtype=np.uint8)


@st.composite
def groups(draw: st.DrawFn) -> tuple[int, Groups]:
    """Draw a number of features and subsets of them."""
    rng = np.random.default_rng(draw(seeds))
    d, p, parts = draw(st.integers(1, 40)), draw(st.integers(1, 4)), draw(st.integers(2, LANES))
    size = draw(st.integers(1, d))
    members = np.stack([rng.permutation(d)[:size] for _ in range(p)])
    sign = rng.choice(np.array([-1, 1], dtype=np.int8), d)
    return d, Groups(members, sign, divide(size, parts), 2 if parts == 2 else LANES)


def feature_values(rng: np.random.Generator, d: int, m: int, top: int, dtype: type[Any]) -> Any:
    """Values up to `top`: some features constant, some with few values, some with many."""
    distinct = rng.choice([1, 2, 5, top + 1], d)
    values = (rng.random((d, m)) * distinct[:, None]).astype(np.int64)
    return (values * (top // np.maximum(distinct - 1, 1))[:, None]).clip(0, top).astype(dtype)


def build_codes8(pool: _core.Pool, values: U8, g: Groups, n_codes: int, exact: bool) -> U8:
    tiles = g.unused_tiles(values.shape[1])
    shape = g.tree.native()
    _core.build_group_codes(pool, values, 64, g.members, g.sign, shape, n_codes, exact, tiles)
    return tiles


@given(pools, groups(), test_rows, n_codes_drawn, st.booleans(), seeds)
def test_group_codes_of_bytes(
    pool: _core.Pool, drawn: tuple[int, Groups], m: int, n_codes: int, exact: bool, seed: int
) -> None:
    d, g = drawn
    values: U8 = feature_values(np.random.default_rng(seed), d, m, 63, np.uint8)
    tiles = build_codes8(pool, values, g, n_codes, exact)
    unused = g.unused_tiles(m)
    expected = reference.build_group_codes(values, 64, g.members, g.sign, g.tree, n_codes, exact, unused)
    np.testing.assert_array_equal(tiles, expected)


@given(pools, groups(), test_rows, n_codes_drawn, st.booleans(), seeds)
def test_group_codes_of_wide_values(
    pool: _core.Pool, drawn: tuple[int, Groups], m: int, n_codes: int, exact: bool, seed: int
) -> None:
    d, g = drawn
    values: U16 = feature_values(np.random.default_rng(seed), d, m, 65535, np.uint16)
    tiles = g.unused_tiles(m)
    expected = reference.build_group_codes(values, 65535, g.members, g.sign, g.tree, n_codes, exact, tiles)
    shape = g.tree.native()
    _core.build_group_codes(pool, values, 65535, g.members, g.sign, shape, n_codes, exact, tiles)
    np.testing.assert_array_equal(tiles, expected)


@given(pools, groups(), st.sampled_from([1, 40, 257]), n_codes_drawn, st.booleans(), seeds)
def test_codes_keep_the_order_of_sums(
    pool: _core.Pool, drawn: tuple[int, Groups], m: int, n_codes: int, exact: bool, seed: int
) -> None:
    d, g = drawn
    values: U8 = feature_values(np.random.default_rng(seed), d, m, 63, np.uint8)
    tiles = build_codes8(pool, values, g, n_codes, exact)
    turned = np.where(g.sign[:, None] < 0, 64 - values.astype(int), values)
    for group in np.flatnonzero(g.tree.tile >= 0).tolist():
        child = g.tree.first_child[group]
        inside = g.members[0, g.tree.begin[child] : g.tree.end[child]]
        sums, codes = turned[inside].sum(axis=0), tiles[0, g.tree.tile[group], :, 0].astype(int)
        order = np.argsort(sums, kind="stable")
        assert codes.max() < n_codes
        assert (np.diff(codes[order]) >= 0).all()
        assert (np.diff(codes[order])[np.diff(sums[order]) == 0] == 0).all()


@given(pools, st.integers(1, 40), test_rows, n_codes_drawn, seeds)
def test_sorted_codes(pool: _core.Pool, d: int, m: int, n_codes: int, seed: int) -> None:
    values: U16 = feature_values(np.random.default_rng(seed), d, m, 65535, np.uint16)
    out = np.full((d, m), 77, dtype=np.uint8)
    _core.sorted_codes(pool, values, n_codes, out)
    for column, code in zip(values, out, strict=True):
        np.testing.assert_array_equal(code, reference.codes_by_order(column.astype(np.int64), n_codes))


def search(
    pool: _core.Pool,
    tiles: U8,
    codes: U8,
    g: Groups,
    n_codes: int,
    nodes: Nodes,
    leaf: tuple[int, int],
    kept: int,
    price: F64 = SAME_PRICE,
) -> tuple[I64, F64]:
    """Candidates of all nodes; `leaf` holds the fewest rows and the regularization of a side."""
    shape = (nodes.begin.shape[0], kept)
    feature, gain = np.full(shape, -7, dtype=np.int64), np.full(shape, 77.0)
    _core.search_groups(
        pool,
        tiles,
        codes,
        g.members,
        price,
        g.tree.native(),
        n_codes,
        nodes.rows,
        nodes.values[nodes.rows],
        nodes.begin,
        nodes.end,
        nodes.format,
        leaf[0],
        float(leaf[1]),
        feature,
        gain,
    )
    return feature, gain


# Few rows and small gradients: every number of the comparison is exact, and so is the way down.
small_nodes = st.sampled_from([1, 2, 5, 40]).flatmap(lambda m: st.tuples(st.just(m), nodes_of(m)))
# Many rows and fine gradients: ties are as good as impossible.
large_nodes = st.just(2500).flatmap(lambda m: st.tuples(st.just(m), nodes_of(m, 2**20)))


@given(
    pools, groups(), st.one_of(small_nodes, small_nodes, large_nodes), st.sampled_from([2, 16, 64]),
    st.tuples(st.sampled_from([1, 4]), st.sampled_from([0, 0, 3])), st.integers(1, 8), seeds,
)  # fmt: skip
def test_search_groups(
    pool: _core.Pool,
    drawn: tuple[int, Groups],
    rows: tuple[int, Nodes],
    n_codes: int,
    leaf: tuple[int, int],
    most: int,
    seed: int,
) -> None:
    (d, g), (m, nodes) = drawn, rows
    kept = min(most, g.members.shape[0])
    codes: U8 = feature_values(np.random.default_rng(seed), d, m, n_codes - 1, np.uint8)
    tiles = build_codes8(pool, codes, g, n_codes, exact=False)
    prices = np.random.default_rng(seed).choice([0.0, 2.5, 300.0, np.inf], g.members.shape)
    price = prices if seed % 2 else SAME_PRICE
    feature, gain = search(pool, tiles, codes, g, n_codes, nodes, leaf, kept, price)
    expected_feature, expected_gain = reference.search_groups(
        tiles,
        codes,
        g.members,
        g.tree,
        nodes.rows,
        nodes.ordered,
        nodes.begin,
        nodes.end,
        nodes.count_bits,
        *leaf,
        kept,
        price,
    )
    np.testing.assert_array_equal(feature, expected_feature)
    np.testing.assert_allclose(gain, expected_gain, rtol=0 if m <= 40 else 1e-12)


def test_search_finds_the_feature_that_matters() -> None:
    rng, d, m = np.random.default_rng(0), 64, 2000
    codes = rng.integers(0, 64, (d, m)).astype(np.uint8)
    cells = np.where(codes[37] > 30, 100, -100) * 2**11 + 1
    nodes = Nodes(np.arange(m, dtype=np.int32), cells, np.array([0]), np.array([m]), 11)
    g = Groups(np.stack([rng.permutation(d) for _ in range(3)]), np.ones(d, np.int8), divide(d, LANES), LANES)
    feature, gain = search(
        _core.Pool(2), build_codes8(_core.Pool(2), codes, g, 64, False), codes, g, 64, nodes, (1, 0), 3
    )
    assert feature.tolist() == [[37, 37, 37]]
    # The feature explains the gradients wholly.
    q = cells >> 11
    np.testing.assert_allclose(gain, ((q - q.mean()) ** 2).sum(), rtol=1e-9)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("exact", [False, True])
def test_threads_have_scratch_space_of_their_own(size: int, exact: bool) -> None:
    # Long enough for threads to work side by side.
    rng, d, m = np.random.default_rng(0), 300, 3000
    values: U16 = feature_values(rng, d, m, 65535, np.uint16)
    g = Groups(np.stack([rng.permutation(d) for _ in range(4)]), np.ones(d, np.int8), divide(d, LANES), LANES)
    cells, edges = rng.integers(-1000, 1000, m) * 2**12 + 1, np.arange(0, m + 1, 300)
    nodes = Nodes(rng.permutation(m).astype(np.int32), cells, edges[:-1].copy(), edges[1:].copy(), 12)
    results = []
    for pool in (_core.Pool(1), *[_core.Pool(size)] * 3):
        tiles, codes = g.unused_tiles(m), np.empty((d, m), dtype=np.uint8)
        _core.build_group_codes(pool, values, 65535, g.members, g.sign, g.tree.native(), 64, exact, tiles)
        _core.sorted_codes(pool, values, 64, codes)
        # Searches are quick: only many of them meet a thread on the same space for sure.
        found = [search(pool, tiles, codes, g, 64, nodes, (1, 0), g.members.shape[0]) for _ in range(30)]
        results.append((tiles, codes, np.stack([f for f, _ in found]), np.stack([f for _, f in found])))
    for parallel in results[1:]:
        for part, serial_part in zip(parallel, results[0], strict=True):
            np.testing.assert_array_equal(part, serial_part)


@given(pools, st.sampled_from([1, 63, 64, 65, 200]), st.sampled_from([1, 255, 256, 257, 900]), seeds)
def test_correlate(pool: _core.Pool, d: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 256, (d, m), dtype=np.uint8)
    weight = rng.integers(-(2**15), 2**15, m).astype(np.int16)
    # The largest products there are: partial sums must not overflow.
    codes[0], weight[: m // 2] = 255, -(2**15)
    out = np.full(d, 77, dtype=np.int64)
    _core.correlate(pool, codes, weight, out)
    np.testing.assert_array_equal(out, reference.correlate(codes, weight))


def shape_of(**changes: list[int]) -> _core.GroupShape:
    """Four features halved twice, with some arrays replaced."""
    arrays = {
        "begin": [0, 0, 2, 0, 1, 2, 3],
        "end": [4, 2, 4, 1, 2, 3, 4],
        "first_child": [1, 3, 5, 0, 0, 0, 0],
        "n_children": [2, 2, 2, 0, 0, 0, 0],
        "tile": [0, -1, -1, -1, -1, -1, -1],
    } | changes
    return _core.GroupShape(*(np.array(values, dtype=np.int64) for values in arrays.values()))


def bad_shapes(position: int) -> dict[str, dict[int, object]]:
    """Shapes to refuse as the argument at a position."""
    shapes = {
        "no groups": shape_of(begin=[], end=[], first_child=[], n_children=[], tile=[]),
        "lengths": shape_of(end=[4, 2, 4, 1, 2, 3]),
        "beyond the subset": shape_of(end=[5, 2, 4, 1, 2, 3, 4]),
        "an empty group": shape_of(begin=[0, 2, 2, 0, 1, 2, 3]),
        "a child before its parent": shape_of(first_child=[1, 0, 5, 0, 0, 0, 0]),
        "a child that is not there": shape_of(first_child=[1, 3, 6, 0, 0, 0, 0]),
        "too many children": shape_of(n_children=[9, 2, 2, 0, 0, 0, 0]),
        "fewer than no children": shape_of(n_children=[-1, 2, 2, 0, 0, 0, 0]),
        "more children than features": shape_of(n_children=[2, 3, 2, 0, 0, 0, 0]),
        "tile beyond the tiles": shape_of(tile=[1, -1, -1, -1, -1, -1, -1]),
    }
    return {what: {position: shape} for what, shape in shapes.items()}


def test_wrong_shapes_are_refused() -> None:
    pool, i64, u8 = _core.Pool(2), np.int64, np.uint8
    members, tiles, sign = np.tile(np.arange(4), (2, 1)), np.zeros((2, 1, 6, 2), u8), np.ones(5, np.int8)
    beyond = members + 2
    for dtype in (u8, np.uint16):
        bad: dict[str, dict[int, object]] = {
            "member": {3: beyond},
            "signs": {4: sign[:4].copy()},
            "few codes": {6: 1},
            "many codes": {6: 257},
            "subsets": {8: tiles[:1].copy()},
            "rows": {8: np.zeros((2, 1, 5, 2), u8)},
            "width": {8: np.zeros((2, 1, 6, 1), u8)},
        }
        good = (pool, np.zeros((5, 6), dtype), 64, members, sign, shape_of(), 8, True, tiles)
        assert_refused(_core.build_group_codes, good, bad | bad_shapes(5))
    values = np.zeros((5, 6), np.uint16)
    assert_refused(
        _core.sorted_codes,
        (pool, values, 8, np.zeros((5, 6), u8)),
        {"few": {2: 1}, "many": {2: 257}, "shape": {3: np.zeros((6, 5), u8)}},
    )
    weight, sums = np.zeros(6, np.int16), np.zeros(5, i64)
    assert_refused(
        _core.correlate,
        (pool, np.zeros((5, 6), u8), weight, sums),
        {"weight": {2: weight[:5].copy()}, "out": {3: np.zeros(6, i64)}},
    )


def test_wrong_searches_are_refused() -> None:
    members, tiles, codes = (
        np.tile(np.arange(4), (2, 1)),
        np.zeros((2, 1, 6, 2), np.uint8),
        np.zeros((5, 6), np.uint8),
    )
    positions, cells = np.arange(6, dtype=np.int32), np.ones(6, np.int64)
    begin, end, found = np.array([0, 2, 4]), np.array([2, 4, 6]), np.zeros((3, 2), np.int64)
    rows = (positions, cells, begin, end, _core.CellFormat(4), 1, 0.0)
    good = (
        _core.Pool(2),
        tiles,
        codes,
        members,
        np.zeros((2, 4)),
        shape_of(),
        8,
        *rows,
        found,
        np.zeros((3, 2)),
    )
    bad: dict[str, dict[int, object]] = {
        "subsets": {1: tiles[:1].copy()},
        "tile rows": {1: np.zeros((2, 1, 5, 2), np.uint8)},
        "width": {1: np.zeros((2, 1, 6, 4), np.uint8)},
        "member": {3: members + 2},
        "prices": {4: np.zeros((1, 4))},
        "members of prices": {4: np.zeros((2, 3))},
        "few codes": {6: 1},
        "many codes": {6: 257},
        "more positions than codes": {7: np.zeros(7, np.int32), 8: np.ones(7, np.int64)},
        "cells": {8: np.ones(5, np.int64)},
        "before": {9: np.array([-1, 2, 4])},
        "backwards": {9: np.array([0, 2, 7])},
        "beyond": {10: np.array([2, 4, 7])},
        "ends": {10: end[:2].copy()},
        "feature": {14: found.T.copy()},
        "gain": {15: np.zeros((2, 3))},
    }
    assert_refused(_core.search_groups, good, bad | bad_shapes(5))
