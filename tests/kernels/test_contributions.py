"""Contributions of columns against Shapley values by their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import F64, I64, Table
from tests.kernels import reference
from tests.kernels.packed_trees import Trees, random_trees, stump
from tests.strategies import assert_refused, pools, seeds, tables


def covers(rng: np.random.Generator, trees: Trees) -> I64:
    """Rows of leaves at random, and their sums above."""
    cover = np.where(trees.feature < 0, rng.integers(1, 100, trees.feature.shape[0]), 0)
    for begin, end in zip(trees.first[:-1].tolist(), trees.first[1:].tolist(), strict=True):
        for node in range(end - 1, begin - 1, -1):
            if trees.feature[node] >= 0:
                left = begin + int(trees.left[node])
                cover[node] = cover[left] + cover[left + 1]
    return cover


def contributed(trees: Trees, cover: I64, table: Table, n_outputs: int, pool: _core.Pool) -> F64:
    forest = _core.Forest(trees.columns.shape[0], n_outputs, *trees.packed())
    out = np.zeros((table.shape[0], n_outputs, trees.columns.shape[0]))
    places = np.arange(trees.columns.shape[0])
    _core.Contributions(forest, cover).add_to(pool, table, trees.columns, places, out)
    return out


@given(pools, tables(), st.integers(0, 4), st.integers(0, 12), st.integers(1, 3), seeds)
def test_contributions(
    pool: _core.Pool, table: Table, n_trees: int, n_splits: int, n_outputs: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = table[:300, :5]
    trees = random_trees(rng, table, n_trees, n_splits, n_outputs)
    cover = covers(rng, trees)
    expected = reference.contributions(table, trees.columns, trees.packed(), cover, n_outputs)
    found = contributed(trees, cover, table, n_outputs, pool)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def interacting(trees: Trees, cover: I64, table: Table, n_outputs: int, pool: _core.Pool) -> F64:
    n_columns = trees.columns.shape[0]
    forest = _core.Forest(n_columns, n_outputs, *trees.packed())
    out = np.full((table.shape[0], n_outputs, n_columns, n_columns), np.nan)
    native = _core.Interactions(_core.Contributions(forest, cover))
    native.write(pool, table, trees.columns, np.arange(n_columns), out)
    return out


@given(pools, tables(), st.integers(0, 3), st.integers(0, 12), st.integers(1, 2), seeds)
@settings(max_examples=50)
def test_interactions(
    pool: _core.Pool, table: Table, n_trees: int, n_splits: int, n_outputs: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = table[:100, :5]
    trees = random_trees(rng, table, n_trees, n_splits, n_outputs)
    cover = covers(rng, trees)
    expected = reference.interactions(table, trees.columns, trees.packed(), cover, n_outputs)
    found = interacting(trees, cover, table, n_outputs, pool)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@settings(max_examples=10)
@given(st.integers(0, 200), seeds)
def test_interactions_of_deep_trees_add_up_to_contributions(n_splits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(70, 40))
    trees = random_trees(rng, table, 3, n_splits, 1)
    cover = covers(rng, trees)
    found = interacting(trees, cover, table, 1, _core.Pool(2))
    np.testing.assert_array_equal(found, found.transpose(0, 1, 3, 2))
    expected = contributed(trees, cover, table, 1, _core.Pool(1))
    np.testing.assert_allclose(found.sum(axis=3), expected, rtol=0, atol=1e-11)


@settings(max_examples=10)
@given(st.integers(0, 200), seeds)
def test_deep_trees_of_many_columns_add_up_to_the_score(n_splits: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(50, 40))
    trees = random_trees(rng, table, 3, n_splits, 1)
    cover = covers(rng, trees)
    found = contributed(trees, cover, table, 1, _core.Pool(1))
    scores = np.zeros((1, 50))
    trees.add_to(scores, table, _core.Pool(1))
    is_leaf, tree = trees.feature < 0, np.repeat(np.arange(3), np.diff(trees.first))
    mean = np.sum((trees.value * cover / cover[trees.first[:-1]][tree])[is_leaf])
    np.testing.assert_allclose(found[:, 0].sum(axis=1) + mean, scores[0], rtol=0, atol=1e-12)


@given(pools, tables(), st.integers(0, 3), st.integers(0, 10), st.integers(1, 2), seeds)
@settings(max_examples=30)
def test_contributions_against_a_background(
    pool: _core.Pool, table: Table, n_trees: int, n_splits: int, n_outputs: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = table[:8, :4]
    trees = random_trees(rng, table, n_trees, n_splits, n_outputs)
    background = table[rng.integers(table.shape[0], size=3)][:, trees.columns]
    background = np.ascontiguousarray(background, dtype=np.float64)
    expected = reference.background_contributions(table, trees.columns, trees.packed(), background, n_outputs)
    forest = _core.Forest(trees.columns.shape[0], n_outputs, *trees.packed())
    found = np.zeros(expected.shape)
    places = np.arange(trees.columns.shape[0])
    forest.add_contributions(pool, table, trees.columns, background, places, found)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [2, 3])
def test_bits_do_not_depend_on_threads(size: int) -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(3000, 10))
    trees = random_trees(rng, table, 10, 30, 2)
    cover = covers(rng, trees)
    for kernel in (contributed, interacting):
        serial, parallel = (kernel(trees, cover, table, 2, _core.Pool(n)) for n in (1, size))
        np.testing.assert_array_equal(parallel, serial)


def test_wrong_shapes_are_refused() -> None:
    forest = _core.Forest(2, 1, *stump().packed())
    bad_covers: dict[str, dict[int, object]] = {
        "fewer nodes": {1: np.array([2, 1])},
        "a node without rows": {1: np.array([2, 2, 0])},
    }
    assert_refused(_core.Contributions, (forest, np.array([2, 1, 1])), bad_covers)
    good = (_core.Pool(1), np.zeros((5, 3)), np.array([2, 0]), np.array([0, 1]), np.zeros((5, 1, 2)))
    bad: dict[str, dict[int, object]] = {
        "a narrower table": {1: np.zeros((5, 2))},
        "column": {2: np.array([3, 0])},
        "fewer columns": {2: np.array([2])},
        "fewer places": {3: np.array([0])},
        "place": {3: np.array([0, 2])},
        "no place": {3: np.array([0, -1])},
        "rows": {4: np.zeros((4, 1, 2))},
        "outputs": {4: np.zeros((5, 2, 2))},
    }
    assert_refused(_core.Contributions(forest, np.array([2, 1, 1])).add_to, good, bad)
    pairs: dict[str, dict[int, object]] = {
        "pairs of other rows": {4: np.zeros((4, 1, 2, 2))},
        "pairs of other outputs": {4: np.zeros((5, 2, 2, 2))},
        "no square": {4: np.zeros((5, 1, 3, 2))},
    }
    shaped = {what: one for what, one in bad.items() if 4 not in one}
    interactions = _core.Interactions(_core.Contributions(forest, np.array([2, 1, 1])))
    assert_refused(interactions.write, (*good[:4], np.zeros((5, 1, 2, 2))), shaped | pairs)
    # The background stands before the places.
    against = (*good[:3], np.zeros((2, 2)), *good[3:])
    moved = {what: {k + (k > 2): value for k, value in one.items()} for what, one in bad.items()}
    backgrounds: dict[str, dict[int, object]] = {
        "no background": {3: np.zeros((0, 2))},
        "another width": {3: np.zeros((2, 3))},
    }
    assert_refused(forest.add_contributions, against, moved | backgrounds)
