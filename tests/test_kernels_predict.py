"""The prediction kernel against its twin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.arrays import F64, I32, I64, U8, Table
from tests import reference
from tests.strategies import assert_refused, pools, seeds, tables


@dataclass(frozen=True)
class Trees:
    """Trees as the kernel takes them."""

    columns: I64
    first: I64
    output: I64
    feature: I32
    threshold: F64
    missing_left: U8
    left: I32
    value: F64

    def arguments(self) -> tuple[I64, I64, I64, I32, F64, U8, I32, F64]:
        """All arrays, in the kernel's order."""
        return (
            self.columns,
            self.first,
            self.output,
            self.feature,
            self.threshold,
            self.missing_left,
            self.left,
            self.value,
        )


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
    expected = reference.predict(table, *trees.arguments(), out)
    _core.predict(pool, table, *trees.arguments(), out)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("size", [2, 3])
def test_threads_have_scratch_space_of_their_own(size: int) -> None:
    # Long enough for threads to work side by side.
    rng = np.random.default_rng(0)
    table = rng.normal(size=(20_000, 10))
    trees = random_trees(rng, table, 20, 30, 1)
    serial, parallel = np.zeros((2, 1, 20_000))
    _core.predict(_core.Pool(1), table, *trees.arguments(), serial)
    _core.predict(_core.Pool(size), table, *trees.arguments(), parallel)
    np.testing.assert_array_equal(parallel, serial)


def stump(**changes: object) -> Trees:
    """One split, on the second of two columns, at 1.0."""
    arrays: dict[str, object] = {
        "columns": np.array([2, 0]),
        "first": np.array([0, 3]),
        "output": np.array([0]),
        "feature": np.array([1, -1, -1], dtype=np.int32),
        "threshold": np.array([1.0, 0.0, 0.0]),
        "missing_left": np.array([0, 0, 0], dtype=np.uint8),
        "left": np.array([1, -1, -1], dtype=np.int32),
        "value": np.array([0.0, -5.0, 7.0]),
    } | changes
    return Trees(**arrays)  # type: ignore[arg-type]


@pytest.mark.parametrize(("missing_left", "missing_value"), [(0, 7.0), (1, -5.0)])
def test_known_predictions(missing_left: int, missing_value: float) -> None:
    table = np.array([[0.0], [1.0], [np.nextafter(1.0, 2.0)], [np.nan], [-np.inf], [np.inf]]).repeat(
        3, axis=1
    )
    table[:, 1:] = 100.0
    trees = stump(missing_left=np.array([missing_left, 0, 0], dtype=np.uint8))
    out = np.ones((1, 6))
    _core.predict(_core.Pool(1), table, *trees.arguments(), out)
    assert (out[0] - 1.0).tolist() == [-5.0, -5.0, 7.0, missing_value, -5.0, 7.0]


def test_empty_tables() -> None:
    _core.predict(_core.Pool(2), np.zeros((0, 3)), *stump().arguments(), np.zeros((1, 0)))


def test_wrong_shapes_are_refused() -> None:
    def ints(*values: int) -> I32:
        return np.array(values, dtype=np.int32)

    bad: dict[str, dict[int, object]] = {
        "column": {2: np.array([3, 0])},
        "no column": {2: np.array([-1, 0])},
        "first": {3: np.array([0])},
        "a tree without nodes": {3: np.array([0, 0])},
        "a tree beyond the nodes": {3: np.array([0, 4])},
        "a tree before the nodes": {3: np.array([-1, 3])},
        "output": {4: np.array([1])},
        "feature": {5: ints(2, -1, -1)},
        "no feature": {5: ints(-2, -1, -1)},
        "thresholds": {6: np.zeros(2)},
        "missing": {7: np.zeros(4, np.uint8)},
        "lefts": {8: ints(1, -1)},
        "its own child": {8: ints(0, -1, -1)},
        "child beyond the tree": {8: ints(2, -1, -1)},
        "values": {9: np.zeros(2)},
        "rows": {10: np.zeros((1, 4))},
    }
    good = (_core.Pool(2), np.zeros((5, 3)), *stump().arguments(), np.zeros((1, 5)))
    assert_refused(_core.predict, good, bad)
