"""The prediction kernel against its twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import I32, Table
from tests.kernels import reference
from tests.kernels.packed_trees import Trees, random_trees, stump
from tests.strategies import assert_refused, pools, seeds, tables


@given(pools, tables(), st.integers(0, 6), st.integers(0, 12), st.integers(1, 3), seeds)
def test_predict(
    pool: _core.Pool, table: Table, n_trees: int, n_splits: int, n_outputs: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    # The twin walks row by row: 2,000 rows are enough to wake the pool's threads.
    table = table[:2000]
    trees = random_trees(rng, table, n_trees, n_splits, n_outputs)
    out = rng.normal(size=(n_outputs, table.shape[0]))
    expected = reference.predict(table, trees.columns, *trees.packed(), out)
    trees.add_to(out, table, pool)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("size", [2, 3])
def test_threads_have_scratch_space_of_their_own(size: int) -> None:
    # Long enough for threads to work side by side.
    rng = np.random.default_rng(0)
    table = rng.normal(size=(20_000, 10))
    trees = random_trees(rng, table, 20, 30, 1)
    serial, parallel = np.zeros((2, 1, 20_000))
    trees.add_to(serial, table, _core.Pool(1))
    trees.add_to(parallel, table, _core.Pool(size))
    np.testing.assert_array_equal(parallel, serial)


VALUES = np.array([0.0, 1.0, np.nextafter(1.0, 2.0), np.nan, -np.inf, np.inf])


@pytest.mark.parametrize(("missing_left", "missing_value"), [(0, 7.0), (1, -5.0)])
@pytest.mark.parametrize(
    ("is_category", "expected"), [(0, [-5.0, -5.0, 7.0, -5.0, 7.0]), (1, [-5.0, 7.0, -5.0, -5.0, -5.0])]
)
@pytest.mark.parametrize("n_rows", [1, 6, 30])
def test_known_predictions(
    is_category: int, expected: list[float], missing_left: int, missing_value: float, n_rows: int
) -> None:
    table = np.full((n_rows, 3), 100.0)
    table[:, 0] = np.resize(VALUES, n_rows)
    trees = stump(
        is_category=np.array([is_category, 0, 0], dtype=np.uint8),
        missing_left=np.array([missing_left, 0, 0], dtype=np.uint8),
    )
    out = np.ones((1, n_rows))
    trees.add_to(out, table, _core.Pool(1))
    every = [*expected[:3], missing_value, *expected[3:]]
    assert (out[0] - 1.0).tolist() == np.resize(every, n_rows).tolist()


@pytest.mark.parametrize("threshold", [np.inf, -np.inf, -0.0])
@pytest.mark.parametrize("is_category", [0, 1])
def test_extreme_thresholds(threshold: float, is_category: int) -> None:
    table = np.array([[-np.inf], [-1.0], [0.0], [-0.0], [1.0], [np.inf]]).repeat(3, axis=1)
    trees = stump(
        threshold=np.array([threshold, 0.0, 0.0]), is_category=np.array([is_category, 0, 0], dtype=np.uint8)
    )
    out = np.zeros((1, 6))
    trees.add_to(out, table, _core.Pool(1))
    x = table[:, 0]
    is_left = x != threshold if is_category else x <= threshold
    assert out[0].tolist() == np.where(is_left, -5.0, 7.0).tolist()


def test_empty_tables() -> None:
    stump().add_to(np.zeros((1, 0)), np.zeros((0, 3)), _core.Pool(2))


@pytest.mark.parametrize("n_trees", [0, 1, 20])
def test_trees_without_splits(n_trees: int) -> None:
    trees = Trees(
        np.empty(0, np.int64),
        np.arange(n_trees + 1),
        np.zeros(n_trees, np.int64),
        np.full(n_trees, -1, np.int32),
        np.zeros(n_trees),
        np.zeros(n_trees, np.uint8),
        np.zeros(n_trees, np.uint8),
        np.full(n_trees, -1, np.int32),
        np.arange(float(n_trees)),
    )
    for table in (np.full((70, 2), np.nan), np.zeros((70, 0))):
        out = np.zeros((1, 70))
        trees.add_to(out, table, _core.Pool(2))
        assert np.unique(out).tolist() == [sum(range(n_trees))]


def test_broken_trees_are_refused() -> None:
    def ints(*values: int) -> I32:
        return np.array(values, dtype=np.int32)

    bad: dict[str, dict[int, object]] = {
        "fewer columns": {0: 1},
        "negative columns": {0: -1},
        "more columns than a node can name": {0: 1 << 30},
        "no outputs": {1: 0},
        "first": {2: np.array([0])},
        "a tree without nodes": {2: np.array([0, 0])},
        "a tree beyond the nodes": {2: np.array([0, 4])},
        "a tree before the nodes": {2: np.array([-1, 3])},
        "nodes before the first tree": {2: np.array([1, 3])},
        "nodes after the last tree": {2: np.array([0, 1]), 4: ints(-1, -1, -1)},
        "trees that overlap": {2: np.array([0, 3, 3]), 3: np.array([0, 0])},
        "output": {3: np.array([1])},
        "no output": {3: np.array([-1])},
        "feature": {4: ints(2, -1, -1)},
        "no feature": {4: ints(-2, -1, -1)},
        "thresholds": {5: np.zeros(2)},
        "categories": {6: np.zeros(2, np.uint8)},
        "missing": {7: np.zeros(4, np.uint8)},
        "lefts": {8: ints(1, -1)},
        "its own child": {8: ints(0, -1, -1)},
        "child beyond the tree": {8: ints(2, -1, -1)},
        "child far beyond the tree": {8: ints(2**31 - 1, -1, -1)},
        "child before the tree": {8: ints(-1, -1, -1)},
        "values": {9: np.zeros(2)},
    }
    assert_refused(_core.Forest, (2, 1, *stump().packed()), bad)


def test_wrong_shapes_are_refused() -> None:
    bad: dict[str, dict[int, object]] = {
        "a narrower table": {1: np.zeros((5, 2))},
        "a table of half floats": {1: np.zeros((5, 3), dtype=np.float16)},
        "column": {2: np.array([3, 0])},
        "no column": {2: np.array([-1, 0])},
        "fewer columns": {2: np.array([2])},
        "more columns": {2: np.array([2, 0, 1])},
        "rows": {3: np.zeros((1, 4))},
        "outputs": {3: np.zeros((2, 5))},
    }
    forest = _core.Forest(2, 1, *stump().packed())
    good = (_core.Pool(2), np.zeros((5, 3)), np.array([2, 0]), np.zeros((1, 5)), 0, 1)
    trees: dict[str, dict[int, object]] = {
        "before the first tree": {4: -1},
        "after the last tree": {5: 2},
        "an end before the beginning": {4: 1, 5: 0},
    }
    assert_refused(forest.predict, good, bad | trees)
    of_leaves: dict[str, dict[int, object]] = {
        "rows of leaves": {3: np.zeros((4, 1), np.int32)},
        "trees of leaves": {3: np.zeros((5, 2), np.int32)},
    }
    columns = {what: changes for what, changes in bad.items() if 3 not in changes}
    assert_refused(forest.leaves, (*good[:3], np.zeros((5, 1), np.int32)), columns | of_leaves)


@given(pools, tables(), st.integers(0, 6), st.integers(0, 12), seeds)
def test_leaves_have_the_values_that_are_predicted(
    pool: _core.Pool, table: Table, n_trees: int, n_splits: int, seed: int
) -> None:
    trees = random_trees(np.random.default_rng(seed), table, n_trees, n_splits, 1)
    forest = _core.Forest(trees.columns.shape[0], 1, *trees.packed())
    leaves = np.full((table.shape[0], n_trees), -1, dtype=np.int32)
    forest.leaves(pool, table, trees.columns, leaves)
    nodes = leaves + trees.first[:-1]
    assert (trees.feature[nodes] == -1).all()
    scores = np.zeros((1, table.shape[0]))
    for begin in range(n_trees):
        forest.predict(pool, table, trees.columns, scores, begin, begin + 1)
        np.testing.assert_array_equal(scores[0], trees.value[nodes[:, : begin + 1]].cumsum(axis=1)[:, -1])


@given(tables(), st.integers(0, 20), st.integers(0, 12), st.integers(1, 3), seeds)
def test_row_scorer(table: Table, n_trees: int, n_splits: int, n_outputs: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = table[:20].astype(np.float64)
    trees = random_trees(rng, rows, n_trees, n_splits, n_outputs)
    start, found = rng.normal(size=n_outputs), np.empty(n_outputs)
    expected = np.repeat(start[:, None], rows.shape[0], axis=1)
    trees.add_to(expected, rows, _core.Pool(1))
    forest = _core.Forest(trees.columns.shape[0], n_outputs, *trees.packed())
    scorer = _core.RowScorer(forest, rows.shape[1], trees.columns, start, _core.RowScorer.Link.identity)
    for k, row in enumerate(rows):
        scorer.scores(row, found)
        np.testing.assert_array_equal(found, expected[:, k])
        if n_outputs == 1:
            assert scorer.predict(row) == found[0]


def test_row_scorer_refuses_arrays_that_do_not_fit() -> None:
    trees = stump()
    forest = _core.Forest(trees.columns.shape[0], 1, *trees.packed())
    link, one = _core.RowScorer.Link.identity, np.zeros(1)
    bad: dict[str, dict[int, object]] = {
        "more columns": {2: np.arange(trees.columns.shape[0] + 1)},
        "a column beyond the row": {1: 0},
        "two starts": {3: np.zeros(2)},
    }
    assert_refused(_core.RowScorer, [forest, 3, trees.columns, one, link], bad)
    scorer = _core.RowScorer(forest, 3, trees.columns, one, link)
    assert_refused(scorer.scores, [np.zeros(3), one], {"two places": {1: np.zeros(2)}})
