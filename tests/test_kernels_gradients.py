"""Residuals, fixed point and leaf sums against their twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.arrays import F64
from tests import reference
from tests.strategies import Nodes, assert_refused, level_rows, nodes_of, pools, seeds

values_of_any_size = st.lists(st.floats(-1e6, 1e6), max_size=60).map(lambda v: np.array(v, dtype=np.float64))
scales = st.integers(-10, 30).map(lambda exponent: 2.0**exponent)
block_sizes = st.sampled_from([1, 8191, 8192, 8193, 20_000])  # blocks of rows have 8,192
leaves = level_rows.flatmap(lambda n: st.tuples(st.just(n), nodes_of(n)))


def logistic(pool: _core.Pool, scores: F64, y: F64) -> tuple[F64, F64, float]:
    residuals, curvatures = np.full_like(scores, 77.0), np.full_like(scores, 77.0)
    loss = _core.logistic_residuals(pool, scores, y, residuals, curvatures)
    return residuals, curvatures, loss


@given(pools, st.sampled_from([0, 1, 2, 1000, 8192, 8193, 20_000]), st.floats(0.0, 800.0), seeds)
def test_logistic_residuals(pool: _core.Pool, n: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, y = rng.uniform(-spread, spread, n), rng.integers(0, 2, n).astype(np.float64)
    residuals, curvatures, loss = logistic(pool, scores, y)
    expected_residuals, expected_curvatures, expected_loss = reference.logistic_residuals(scores, y)
    np.testing.assert_allclose(residuals, expected_residuals, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(curvatures, expected_curvatures, rtol=1e-12, atol=1e-15)
    assert loss == pytest.approx(expected_loss, rel=1e-12)


def test_logistic_residuals_at_extreme_scores() -> None:
    scores = np.array([-1e308, -800.0, 0.0, 800.0, 1e308])
    residuals, curvatures, loss = logistic(_core.Pool(1), scores, np.array([0.0, 0.0, 1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(residuals, [0.0, 0.0, 0.5, 0.0, 0.0])
    np.testing.assert_array_equal(curvatures, [0.0, 0.0, 0.25, 0.0, 0.0])
    assert loss == pytest.approx(np.log(2.0))


def test_loss_is_the_same_for_every_pool() -> None:
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=100_000), rng.integers(0, 2, 100_000).astype(np.float64)
    assert len({logistic(_core.Pool(size), scores, y)[2] for size in (1, 2, 3)}) == 1


@given(pools, values_of_any_size, scales)
def test_fixed_point_sum(pool: _core.Pool, values: F64, scale: float) -> None:
    assert _core.fixed_point_sum(pool, values, scale) == reference.fixed_point_sum(values, scale)


@given(pools, block_sizes, seeds, scales)
def test_fixed_point_sum_of_many(pool: _core.Pool, n: int, seed: int, scale: float) -> None:
    values = np.random.default_rng(seed).normal(size=n)
    assert _core.fixed_point_sum(pool, values, scale) == reference.fixed_point_sum(values, scale)


@given(pools, st.lists(st.floats(allow_nan=False), min_size=1, max_size=60), block_sizes, seeds)
def test_min_max(pool: _core.Pool, some: list[float], n: int, seed: int) -> None:
    values = np.random.default_rng(seed).permutation(np.resize(np.array(some), max(n, len(some))))
    assert _core.min_max(pool, values) == (values.min(), values.max())


def test_nothing_has_no_least_value() -> None:
    with pytest.raises(ValueError, match="no values"):
        _core.min_max(_core.Pool(1), np.empty(0))


@given(
    pools, seeds, st.one_of(st.integers(0, 60), block_sizes), st.floats(-9.0, 9.0), st.integers(1, 28),
    st.integers(15, 17),
)  # fmt: skip
def test_pack_cells(
    pool: _core.Pool, seed: int, n: int, centre: float, gradient_bits: int, count_bits: int
) -> None:
    residuals = centre + np.random.default_rng(seed).uniform(-1.0, 1.0, n)
    cells, scale = np.full(n, 77, dtype=np.int64), 2.0**gradient_bits
    total, high, low = _core.pack_cells(pool, residuals, centre, scale, count_bits, cells)
    expected, expected_total, squares = reference.pack_cells(residuals, centre, scale, count_bits)
    np.testing.assert_array_equal(cells, expected)
    assert total == expected_total
    assert (high << 32) + low == squares
    # A sum of cells gives back the sum of gradients and the number of rows.
    assert total >> count_bits == reference.fixed_point_sum(residuals - centre, scale)
    assert total & ((1 << count_bits) - 1) == n


@given(pools, leaves, seeds, scales)
def test_leaf_sums(pool: _core.Pool, drawn: tuple[int, Nodes], seed: int, scale: float) -> None:
    n, nodes = drawn
    values = np.random.default_rng(seed).normal(size=n)
    out = np.full(nodes.begin.shape[0], 77, dtype=np.int64)
    _core.leaf_sums(pool, nodes.rows, nodes.begin, nodes.end, values, scale, out)
    expected = reference.leaf_sums(nodes.rows, nodes.begin, nodes.end, values, scale)
    np.testing.assert_array_equal(out, expected)


@given(pools, leaves, seeds)
def test_add_to_leaves(pool: _core.Pool, drawn: tuple[int, Nodes], seed: int) -> None:
    n, nodes = drawn
    rng = np.random.default_rng(seed)
    scores, step = rng.normal(size=n), rng.normal(size=len(nodes.begin))
    expected = reference.add_to_leaves(nodes.rows, nodes.begin, nodes.end, step, scores)
    _core.add_to_leaves(pool, nodes.rows, nodes.begin, nodes.end, step, scores)
    np.testing.assert_array_equal(scores, expected)


def test_wrong_shapes_are_refused() -> None:
    pool, three, two = _core.Pool(2), np.zeros(3), np.zeros(2)
    lengths = {f"array {k}": {k: two} for k in range(1, 5)}
    assert_refused(_core.logistic_residuals, (pool, three, three, three.copy(), three.copy()), lengths)
    cells, rows = np.zeros(3, np.int64), np.arange(3, dtype=np.int32)
    assert_refused(
        _core.pack_cells,
        (pool, three, 0.0, 1.0, 8, cells),
        {"cells": {5: cells[:2].copy()}, "no bits": {4: 0}, "bits": {4: 32}},
    )
    begin, end = np.array([0, 2]), np.array([2, 3])
    ranges: dict[str, dict[int, object]] = {
        "one end": {3: end[:1].copy()},
        "before": {2: np.array([-1, 2])},
        "beyond": {3: np.array([2, 4])},
        "backwards": {2: np.array([0, 3]), 3: np.array([2, 2])},
    }
    sums: dict[str, dict[int, object]] = {"values": {4: two}, "out": {6: np.zeros(3, np.int64)}}
    assert_refused(
        _core.leaf_sums, (pool, rows, begin, end, three, 1.0, np.zeros(2, np.int64)), {**ranges, **sums}
    )
    steps = {"scores": {5: two.copy()}, "step": {4: three}}
    assert_refused(_core.add_to_leaves, (pool, rows, begin, end, two, three), {**ranges, **steps})


@pytest.mark.parametrize("cells", [np.zeros(3, np.int32), np.zeros(6, np.int64)[::2]])
def test_cells_are_never_packed_into_a_copy(cells: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    with pytest.raises(TypeError):
        _core.pack_cells(_core.Pool(1), np.ones(3), 0.0, 1.0, 8, cells)
