"""The prediction kernel against its twin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import F64, I32, I64, U8, Table
from gtgbm.tree.forest import PackedTrees
from tests.kernels import reference
from tests.strategies import assert_refused, pools, seeds, tables


@dataclass(frozen=True)
class Trees:
    """Trees as the kernel takes them."""

    columns: I64
    first: I64
    output: I64
    feature: I32
    threshold: F64
    is_category: U8
    missing_left: U8
    left: I32
    value: F64

    def packed(self) -> PackedTrees:
        """All arrays but the columns."""
        return PackedTrees(
            self.first,
            self.output,
            self.feature,
            self.threshold,
            self.is_category,
            self.missing_left,
            self.left,
            self.value,
        )

    def add_to(self, out: F64, table: Table, pool: _core.Pool) -> None:
        """Predict with the kernel."""
        forest = _core.Forest(self.columns.shape[0], out.shape[0], *self.packed())
        forest.predict(pool, table, self.columns, out)

    def score_changes(
        self, table: Table, donors: Table, donor: I64, features: I64, n_outputs: int, pool: _core.Pool
    ) -> F64:
        """Change scores with the kernel."""
        forest = _core.Forest(self.columns.shape[0], n_outputs, *self.packed())
        out = np.full((features.shape[0], n_outputs, table.shape[0]), np.nan)
        forest.score_changes(pool, table, donors, donor, self.columns, features, out)
        return out


def random_trees(
    rng: np.random.Generator, table: Table, n_trees: int, n_splits: int, n_outputs: int
) -> Trees:
    """Trees of any form; thresholds are often values of the table, so that equality is met."""
    columns = rng.permutation(table.shape[1])[: rng.integers(1, table.shape[1] + 1)]
    features: list[I32] = []
    lefts: list[I32] = []
    for _ in range(n_trees):
        feature, left = [-1], [-1]
        for _ in range(rng.integers(0, n_splits + 1)):
            node = rng.choice(np.flatnonzero(np.array(feature) < 0))
            feature[node], left[node] = int(rng.integers(columns.shape[0])), len(feature)
            feature += [-1, -1]
            left += [-1, -1]
        features.append(np.array(feature, dtype=np.int32))
        lefts.append(np.array(left, dtype=np.int32))
    feature_of = np.concatenate([*features, np.empty(0, np.int32)])
    n_nodes = len(feature_of)
    threshold = table[rng.integers(0, table.shape[0], n_nodes), columns[feature_of]].astype(np.float64)
    return Trees(
        columns,
        np.cumsum([0, *map(len, features)]),
        rng.integers(0, n_outputs, n_trees),
        feature_of,
        np.where(rng.random(n_nodes) < 0.1, np.inf, np.nan_to_num(threshold, nan=0.5)),
        (rng.random(n_nodes) < rng.choice([0.0, 0.5])).astype(np.uint8),
        rng.integers(0, 2, n_nodes).astype(np.uint8),
        np.concatenate([*lefts, np.empty(0, np.int32)]),
        rng.normal(size=n_nodes),
    )


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


@given(pools, tables(), st.integers(0, 6), st.integers(0, 12), st.integers(1, 3), seeds)
def test_score_changes(
    pool: _core.Pool, table: Table, n_trees: int, n_splits: int, n_outputs: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    # The twin predicts every row again for every feature; 600 rows are enough to wake the pool's threads.
    table = table[:600]
    trees = random_trees(rng, table, n_trees, n_splits, n_outputs)
    donors = table[rng.integers(0, table.shape[0], rng.integers(1, 20))]
    donor = rng.integers(0, donors.shape[0], table.shape[0])
    features = rng.permutation(trees.columns.shape[0])[: rng.integers(0, trees.columns.shape[0] + 1)]
    found = trees.score_changes(table, donors, donor, features, n_outputs, pool)
    expected = reference.score_changes(
        table, donors, donor, trees.columns, features, trees.packed(), n_outputs
    )
    np.testing.assert_array_equal(found, expected)


def test_a_column_changes_at_all_its_splits() -> None:
    """Two splits of column 0 on a path: the donor's value goes the other way at the second, or at both."""
    trees = Trees(
        np.array([0]),
        np.array([0, 5]),
        np.array([0]),
        np.array([0, 0, -1, -1, -1], dtype=np.int32),
        np.array([2.0, 1.0, 0.0, 0.0, 0.0]),
        np.zeros(5, np.uint8),
        np.zeros(5, np.uint8),
        np.array([1, 3, -1, -1, -1], dtype=np.int32),
        np.array([0.0, 0.0, 30.0, 10.0, 20.0]),
    )
    table, donor = np.array([[0.5], [1.5], [2.5]]), np.array([1, 2, 0])
    found = trees.score_changes(table, table, donor, np.array([0]), 1, _core.Pool(1))
    assert found.tolist() == [[[10.0, 10.0, -20.0]]]


@pytest.mark.parametrize("size", [2, 3])
def test_score_changes_are_the_same_for_any_number_of_threads(size: int) -> None:
    # Trees that are deep enough to fill the queue of detours.
    rng = np.random.default_rng(0)
    table = rng.normal(size=(20_000, 40))
    trees = random_trees(rng, table, 20, 400, 2)
    donor, features = rng.permutation(20_000), np.arange(trees.columns.shape[0])
    serial = trees.score_changes(table, table, donor, features, 2, _core.Pool(1))
    parallel = trees.score_changes(table, table, donor, features, 2, _core.Pool(size))
    np.testing.assert_array_equal(parallel, serial)
    changed = table.copy()
    changed[:, trees.columns[0]] = table[donor, trees.columns[0]]
    plain, other = np.zeros((2, 2, 20_000))
    trees.add_to(plain, table, _core.Pool(1))
    trees.add_to(other, changed, _core.Pool(1))
    np.testing.assert_allclose(serial[0], other - plain, atol=1e-12)


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


def stump(**changes: object) -> Trees:
    """One split, on the second of two columns, at 1.0."""
    arrays: dict[str, object] = {
        "columns": np.array([2, 0]),
        "first": np.array([0, 3]),
        "output": np.array([0]),
        "feature": np.array([1, -1, -1], dtype=np.int32),
        "threshold": np.array([1.0, 0.0, 0.0]),
        "is_category": np.array([0, 0, 0], dtype=np.uint8),
        "missing_left": np.array([0, 0, 0], dtype=np.uint8),
        "left": np.array([1, -1, -1], dtype=np.int32),
        "value": np.array([0.0, -5.0, 7.0]),
    } | changes
    return Trees(**arrays)  # type: ignore[arg-type]


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
    assert_refused(forest.predict, (_core.Pool(2), np.zeros((5, 3)), np.array([2, 0]), np.zeros((1, 5))), bad)


def test_wrong_donors_are_refused() -> None:
    table = np.zeros((5, 3))
    bad: dict[str, dict[int, object]] = {
        "a narrower table": {1: np.zeros((5, 2))},
        "donors of fewer columns": {2: np.zeros((4, 2))},
        "donors of another dtype": {2: np.zeros((4, 3), dtype=np.float32)},
        "fewer donors": {3: np.zeros(4, np.int64)},
        "donor beyond the last": {3: np.full(5, 4)},
        "no donor": {3: np.full(5, -1)},
        "column": {4: np.array([3, 0])},
        "fewer columns": {4: np.array([2])},
        "feature": {5: np.array([0, 2])},
        "no feature": {5: np.array([-1, 1])},
        "a feature twice": {5: np.array([1, 1])},
        "features": {6: np.zeros((1, 1, 5))},
        "outputs": {6: np.zeros((2, 2, 5))},
        "rows": {6: np.zeros((2, 1, 4))},
    }
    good = (
        _core.Pool(2),
        table,
        table[:4],
        np.array([3, 0, 1, 2, 3]),
        np.array([2, 0]),
        np.array([0, 1]),
        np.zeros((2, 1, 5)),
    )
    assert_refused(_core.Forest(2, 1, *stump().packed()).score_changes, good, bad)
