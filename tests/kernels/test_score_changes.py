"""The kernel of changed scores against its twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import I64, Table
from tests.kernels import reference
from tests.kernels.packed_trees import Trees, random_trees, stump
from tests.strategies import assert_refused, pools, seeds, tables


@given(pools, tables(), st.integers(0, 6), st.integers(0, 12), st.integers(1, 3), seeds)
def test_score_changes(
    pool: _core.Pool, table: Table, n_trees: int, n_splits: int, n_outputs: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    # The twin predicts every row again for every feature; 600 rows are enough to wake the pool's threads.
    table = table[:600]
    trees = random_trees(rng, table, n_trees, n_splits, n_outputs)
    donors = table[rng.integers(0, table.shape[0], rng.integers(1, 20))]
    donor: I64 = rng.integers(0, donors.shape[0], (table.shape[0],))
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
