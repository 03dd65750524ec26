"""Sums and quantiles of rows that weigh whole numbers: against their twins, and against repeated rows.

A row of weight 2 must be two rows, and a row of weight 0 none, to the bit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import F64, I64
from tests.kernels import reference
from tests.strategies import Nodes, level_rows, nodes_of, pools, seeds

NONE: I64 = np.empty(0, dtype=np.int64)
kinds = st.sampled_from(["none", "small", "large", "nothing"])
few_kinds = st.sampled_from(["small", "nothing"])
scales = st.integers(-10, 20).map(lambda exponent: 2.0**exponent)
shares = st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]))
sizes = st.one_of(st.integers(0, 60), st.sampled_from([8191, 8192, 8193, 20_000]))  # blocks have 8,192 rows
leaves = level_rows.flatmap(lambda n: st.tuples(st.just(n), nodes_of(n)))


def random_weights(rng: np.random.Generator, n: int, kind: str) -> I64:
    """No weights, small ones with many a 0, larger ones, or nothing but 0."""
    if kind == "none":
        return NONE
    largest = {"small": 3, "large": min(1000, 2**21 // max(n, 1)), "nothing": 0}[kind]
    return rng.integers(0, largest, n, endpoint=True)


def some_values(rng: np.random.Generator, n: int) -> F64:
    """Values with ties, or without."""
    return rng.choice([-2.5, 0.0, 1.0, 1e6], n) if rng.random() < 0.5 else rng.normal(size=n)


def weighed(nodes: Nodes, weights: I64) -> Nodes:
    """The same nodes of rows that weigh; gradients lose bits where sums would not fit into a cell."""
    weights = reference.each_weight(weights, nodes.cells.shape[0])
    gradients, count_bits = nodes.cells >> nodes.count_bits, max(int(weights.sum()).bit_length(), 1)
    bits = int(np.abs(gradients).max(initial=0)).bit_length() + 2 * count_bits
    gradients >>= max(bits - 62, 0)
    return replace(nodes, cells=(gradients * 2**count_bits + 1) * weights, count_bits=count_bits)


def repeated(nodes: Nodes, weights: I64) -> tuple[Nodes, I64]:
    """Nodes with rows of weight 1, each as often as it weighs, and which row each of them was."""
    gradients = (nodes.cells >> nodes.count_bits) // np.maximum(weights, 1)
    source = np.repeat(np.arange(weights.shape[0]), weights)
    first = np.cumsum(weights) - weights
    rows = [np.arange(first[row], first[row] + weights[row]) for row in nodes.rows]
    place = np.concatenate([[0], np.cumsum(weights[nodes.rows])])
    return Nodes(
        np.concatenate([*rows, NONE]).astype(np.int32),
        gradients[source] * 2**nodes.count_bits + 1,
        place[nodes.begin],
        place[nodes.end],
        nodes.count_bits,
        nodes.is_wide,
    ), source


@given(pools, sizes, kinds, seeds, scales)
def test_fixed_point_sum(pool: _core.Pool, n: int, kind: str, seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    values, weights = some_values(rng, n), random_weights(rng, n, kind)
    expected = reference.fixed_point_sum(values, weights, scale)
    assert _core.fixed_point_sum(pool, values, weights, scale) == expected


@given(pools, sizes, kinds, seeds, scales, st.floats(-3.0, 3.0))
def test_signed_sums(pool: _core.Pool, n: int, kind: str, seed: int, scale: float, centre: float) -> None:
    rng = np.random.default_rng(seed)
    values, weights = some_values(rng, n), random_weights(rng, n, kind)
    found = _core.signed_sums(pool, values, weights, centre, scale)
    assert found == reference.signed_sums(values, weights, centre, scale)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 5)), max_size=60), scales)
def test_fixed_point_sum_of_repeated_rows(drawn: list[tuple[float, int]], scale: float) -> None:
    values = np.array([value for value, _ in drawn], dtype=np.float64)
    weights = np.array([weight for _, weight in drawn], dtype=np.int64)
    expected = _core.fixed_point_sum(_core.Pool(1), np.repeat(values, weights), NONE, scale)
    if drawn:  # no weights at all mean 1
        assert _core.fixed_point_sum(_core.Pool(1), values, weights, scale) == expected


def pack(
    pool: _core.Pool, residuals: F64, weights: I64, centre: float, scale: float, count_bits: int
) -> tuple[I64, int, int]:
    """Packed cells, their sum, and the sum of squares; wide ones have the same sums."""
    cells, wide = np.full((2, residuals.shape[0]), 77, dtype=np.int64)
    given_rows, form = (pool, residuals, weights, centre, scale), _core.CellFormat(count_bits)
    gradient, count, high, low = _core.pack_cells(*given_rows, form, cells)
    form = _core.CellFormat(count_bits, is_wide=True)
    assert _core.pack_cells(*given_rows, form, wide) == (gradient, count, high, low)
    each = reference.each_weight(weights, residuals.shape[0])
    residual = reference.fixed_point(residuals - centre, scale)
    np.testing.assert_array_equal(wide, residual * 2**count_bits + each)
    return cells, (gradient << count_bits) + count, (high << 32) + low


@given(
    pools, sizes, kinds, seeds, st.floats(-9.0, 9.0), st.integers(1, 28), st.integers(0, 2)
)  # fmt: skip
def test_pack_cells(
    pool: _core.Pool, n: int, kind: str, seed: int, centre: float, gradient_bits: int, spare_bits: int
) -> None:
    rng = np.random.default_rng(seed)
    residuals, weights = centre + rng.uniform(-1.0, 1.0, n), random_weights(rng, n, kind)
    weight = int(reference.each_weight(weights, n).sum())
    count_bits = max(weight.bit_length(), 1) + spare_bits
    # A cell holds the sign, a sum of gradients and a count.
    scale = 2.0 ** min(gradient_bits, 62 - weight.bit_length() - count_bits)
    cells, total, squares = pack(pool, residuals, weights, centre, scale, count_bits)
    expected = reference.pack_cells(residuals, weights, centre, scale, count_bits)
    np.testing.assert_array_equal(cells, expected[0])
    assert (total, squares) == expected[1:]
    # A sum of cells gives back the sum of gradients and of weights.
    assert total >> count_bits == reference.fixed_point_sum(residuals - centre, weights, scale)
    assert total & ((1 << count_bits) - 1) == weight


@given(pools, st.sampled_from([1, 60, 5000]), few_kinds, seeds, st.integers(1, 28))
def test_cells_of_repeated_rows(pool: _core.Pool, n: int, kind: str, seed: int, bits: int) -> None:
    rng = np.random.default_rng(seed)
    residuals, weights = rng.uniform(-1.0, 1.0, n), random_weights(rng, n, kind)
    cells, *sums = pack(pool, residuals, weights, 0.1, 2.0**bits, 15)
    single, *expected = pack(pool, np.repeat(residuals, weights), NONE, 0.1, 2.0**bits, 15)
    assert sums == expected
    for cell, rows in zip(cells, np.split(single, np.cumsum(weights)[:-1]), strict=True):
        assert cell == rows.sum()


@given(pools, leaves, kinds, seeds, scales)
def test_leaf_sums(pool: _core.Pool, drawn: tuple[int, Nodes], kind: str, seed: int, scale: float) -> None:
    (n, nodes), rng = drawn, np.random.default_rng(seed)
    values, weights = some_values(rng, n), random_weights(rng, n, kind)
    out = np.full(nodes.begin.shape[0], 77, dtype=np.int64)
    ranges = (nodes.rows, nodes.begin, nodes.end)
    _core.leaf_sums(pool, *ranges, values, weights, scale, out)
    np.testing.assert_array_equal(out, reference.leaf_sums(*ranges, values, weights, scale))


@given(pools, leaves, kinds, seeds, shares)
def test_leaf_quantiles(
    pool: _core.Pool, drawn: tuple[int, Nodes], kind: str, seed: int, share: float
) -> None:
    (n, nodes), rng = drawn, np.random.default_rng(seed)
    values, weights = some_values(rng, n), random_weights(rng, n, kind)
    out = np.full(nodes.begin.shape[0], 77.0)
    ranges = (nodes.rows, nodes.begin, nodes.end)
    _core.leaf_quantiles(pool, *ranges, values, weights, share, out)
    np.testing.assert_array_equal(out, reference.leaf_quantiles(*ranges, values, weights, share))


@given(pools, leaves, few_kinds, seeds, shares)
def test_leaves_of_repeated_rows(
    pool: _core.Pool, drawn: tuple[int, Nodes], kind: str, seed: int, share: float
) -> None:
    (n, nodes), rng = drawn, np.random.default_rng(seed)
    values, weights = some_values(rng, n), random_weights(rng, n, kind)
    more, source = repeated(weighed(nodes, weights), weights)
    few_sums, many_sums = np.full((2, nodes.begin.shape[0]), 77, dtype=np.int64)
    few_quantiles, many_quantiles = np.full((2, nodes.begin.shape[0]), 77.0)
    few, many = (nodes.rows, nodes.begin, nodes.end), (more.rows, more.begin, more.end)
    _core.leaf_sums(pool, *few, values, weights, 2.0**20, few_sums)
    _core.leaf_sums(pool, *many, values[source], NONE, 2.0**20, many_sums)
    np.testing.assert_array_equal(few_sums, many_sums)
    _core.leaf_quantiles(pool, *few, values, weights, share, few_quantiles)
    _core.leaf_quantiles(pool, *many, values[source], NONE, share, many_quantiles)
    np.testing.assert_array_equal(few_quantiles, many_quantiles)


@pytest.mark.parametrize(
    ("share", "expected"), [(0.0, 1.0), (0.25, 1.0), (0.5, 3.0), (0.6, 5.0), (0.75, 7.0), (1.0, 9.0)]
)
def test_known_quantiles(share: float, expected: float) -> None:
    """Values 1, 1, 5, 9 of which the last but one stands in the table twice, once with weight 0."""
    values, weights = np.array([5.0, 1.0, 9.0, 5.0]), np.array([1, 2, 1, 0])
    rows, begin, end = np.array([3, 2, 1, 0], np.int32), np.array([0, 0, 1]), np.array([4, 0, 1])
    out = np.full(3, 77.0)
    _core.leaf_quantiles(_core.Pool(1), rows, begin, end, values, weights, share, out)
    assert out.tolist() == [expected, 0.0, 0.0]


def node_sums(pool: _core.Pool, nodes: Nodes) -> list[tuple[int, int]]:
    out = np.full((nodes.begin.shape[0], 4), 77, dtype=np.int64)
    _core.node_sums(pool, nodes.rows, nodes.values, nodes.begin, nodes.end, nodes.format, out)
    return [((g << nodes.count_bits) + n, (high << 32) + low) for g, n, high, low in out.tolist()]


@given(pools, level_rows.flatmap(lambda n: nodes_of(n, 2**28)), kinds, seeds)
def test_node_sums(pool: _core.Pool, nodes: Nodes, kind: str, seed: int) -> None:
    weights = random_weights(np.random.default_rng(seed), nodes.cells.shape[0], kind)
    nodes = weighed(nodes, weights)
    ranges = (nodes.rows, nodes.cells, nodes.begin, nodes.end, nodes.count_bits)
    assert node_sums(pool, nodes) == reference.node_sums(*ranges)


@given(pools, level_rows.flatmap(lambda n: nodes_of(n, 2**28)), few_kinds, seeds)
def test_node_sums_of_repeated_rows(pool: _core.Pool, nodes: Nodes, kind: str, seed: int) -> None:
    weights = random_weights(np.random.default_rng(seed), nodes.cells.shape[0], kind)
    nodes = weighed(nodes, weights)
    assert node_sums(pool, nodes) == node_sums(pool, repeated(nodes, weights)[0])
