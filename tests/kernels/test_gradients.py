"""What is computed row by row, against its twins; sums over rows are in test_kernels_weights.py."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import F64
from tests.kernels import reference
from tests.strategies import Nodes, assert_refused, level_rows, nodes_of, pools, seeds

block_sizes = st.sampled_from([1, 8191, 8192, 8193, 20_000])  # blocks of rows have 8,192
leaves = level_rows.flatmap(lambda n: st.tuples(st.just(n), nodes_of(n)))
BAD_LEAVES: dict[str, dict[int, object]] = {
    "one end": {3: np.array([2])},
    "before": {2: np.array([-1, 2])},
    "beyond": {3: np.array([2, 4])},
    "backwards": {2: np.array([0, 3]), 3: np.array([2, 2])},
}


def logistic(pool: _core.Pool, scores: F64, y: F64) -> tuple[F64, F64, F64]:
    residuals, curvatures, losses = (np.full_like(scores, 77.0) for _ in range(3))
    _core.logistic_residuals(pool, scores, y, residuals, curvatures, losses)
    return residuals, curvatures, losses


@given(pools, st.sampled_from([0, 1, 2, 1000, 8192, 8193, 20_000]), st.floats(0.0, 800.0), seeds)
def test_logistic_residuals(pool: _core.Pool, n: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, y = rng.uniform(-spread, spread, n), rng.integers(0, 2, n).astype(np.float64)
    residuals, curvatures, losses = logistic(pool, scores, y)
    expected_residuals, expected_curvatures, expected_losses = reference.logistic_residuals(scores, y)
    np.testing.assert_allclose(residuals, expected_residuals, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(curvatures, expected_curvatures, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-14, atol=1e-299)


def test_logistic_residuals_at_extreme_scores() -> None:
    scores = np.array([-1e308, -800.0, 0.0, 800.0, 1e308])
    residuals, curvatures, losses = logistic(_core.Pool(1), scores, np.array([0.0, 0.0, 1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(residuals, [0.0, 0.0, 0.5, 0.0, 0.0])
    np.testing.assert_array_equal(curvatures, [0.0, 0.0, 0.25, 0.0, 0.0])
    np.testing.assert_allclose(losses, [0.0, 0.0, np.log(2.0), 0.0, 0.0], rtol=1e-15)


def test_losses_do_not_depend_on_other_rows() -> None:
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=20_000), rng.integers(0, 2, 20_000).astype(np.float64)
    whole = logistic(_core.Pool(2), scores, y)[2]
    for first, last in ((0, 1), (1, 700), (511, 514), (8_000, 20_000)):
        part = logistic(_core.Pool(1), scores[first:last], y[first:last])[2]
        np.testing.assert_array_equal(part, whole[first:last])


@given(pools, st.lists(st.floats(), max_size=60), block_sizes, seeds)
def test_exponentials(pool: _core.Pool, some: list[float], n: int, seed: int) -> None:
    many = np.random.default_rng(seed).uniform(-700.0, 700.0, n)
    values, out = np.concatenate([some, many]), np.full(len(some) + n, 77.0)
    _core.exponentials(pool, values, out)
    # Both are right to about an ulp of 2.2e-16, not to the bit.
    np.testing.assert_allclose(out, reference.exponentials(values), rtol=1e-15, atol=0.0)


def test_exponentials_at_the_ends() -> None:
    inside = np.nextafter(690.0, 0.0)
    values = np.array([-np.inf, -1e308, -690.0, -inside, -0.0, 0.0, inside, 690.0, 1e308, np.inf, np.nan])
    out = np.empty_like(values)
    _core.exponentials(_core.Pool(1), values, out)
    expected = [0.0, 0.0, 0.0, np.exp(-inside), 1.0, 1.0, np.exp(inside), np.inf, np.inf, np.inf, np.nan]
    np.testing.assert_allclose(out, expected, rtol=1e-15, atol=0.0)


def test_exponentials_are_the_same_for_every_pool() -> None:
    values = np.random.default_rng(0).uniform(-700.0, 700.0, 100_000)
    found = np.empty((3, values.shape[0]))
    for size in (1, 2, 3):
        _core.exponentials(_core.Pool(size), values, found[size - 1])
    np.testing.assert_array_equal(found[1:], found[:2])


@given(pools, st.lists(st.floats(allow_nan=False), min_size=1, max_size=60), block_sizes, seeds)
def test_min_max(pool: _core.Pool, some: list[float], n: int, seed: int) -> None:
    values = np.random.default_rng(seed).permutation(np.resize(np.array(some), max(n, len(some))))
    assert _core.min_max(pool, values) == (values.min(), values.max())


def test_extremes_of_nothing_and_of_nan() -> None:
    assert _core.min_max(_core.Pool(1), np.empty(0)) == (np.inf, -np.inf)
    for place in (0, 1, 9_000):
        values = np.zeros(10_000)
        values[place] = np.nan
        assert _core.min_max(_core.Pool(2), values) == (-np.inf, np.inf)


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
    lengths = {f"array {k}": {k: two} for k in range(1, 6)}
    assert_refused(_core.logistic_residuals, (pool, three, three, *(three.copy() for _ in range(3))), lengths)
    assert_refused(_core.exponentials, (pool, three, three.copy()), {"out": {2: two}})
    rows, begin, end = np.arange(3, dtype=np.int32), np.array([0, 2]), np.array([2, 3])
    steps = {"scores": {5: two.copy()}, "step": {4: three}}
    assert_refused(_core.add_to_leaves, (pool, rows, begin, end, two, three), {**BAD_LEAVES, **steps})


def test_wrong_weights_are_refused() -> None:
    pool, i64, three, two = _core.Pool(2), np.int64, np.zeros(3), np.zeros(2)
    few, weights, cells = np.ones(2, i64), np.ones(3, i64), np.zeros(3, i64)
    assert_refused(_core.fixed_point_sum, (pool, three, weights, 1.0), {"weights": {2: few}})
    assert_refused(_core.signed_sums, (pool, three, weights, 0.0, 1.0), {"weights": {2: few}})
    assert_refused(
        _core.pack_cells,
        (pool, three, weights, 0.0, 1.0, _core.CellFormat(8), cells),
        {
            "weights": {2: few},
            "cells": {6: cells[:2].copy()},
            "no bits": {5: _core.CellFormat(0)},
            "bits": {5: _core.CellFormat(32)},
        },
    )
    leaves = (pool, np.arange(3, dtype=np.int32), np.array([0, 2]), np.array([2, 3]), three)
    by_row: dict[str, dict[int, object]] = {"values": {4: two}, "weights": {5: few}, **BAD_LEAVES}
    sums = {"out": {7: np.zeros(3, i64)}}
    assert_refused(_core.leaf_sums, (*leaves, weights, 1.0, np.zeros(2, i64)), {**by_row, **sums})
    quantiles = {"out": {7: np.zeros(3)}}
    assert_refused(_core.leaf_quantiles, (*leaves, weights, 0.5, np.zeros(2)), {**by_row, **quantiles})


@pytest.mark.parametrize("cells", [np.zeros(3, np.int32), np.zeros(6, np.int64)[::2]])
def test_cells_are_never_packed_into_a_copy(cells: np.ndarray[tuple[int], np.dtype[np.int64]]) -> None:
    packed = _core.CellFormat(8)
    with pytest.raises(TypeError):
        _core.pack_cells(_core.Pool(1), np.ones(3), np.ones(3, np.int64), 0.0, 1.0, packed, cells)
