"""The same data and seed give the same bytes, whatever the threads, the row order or the memory layout."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from gtgbm import AGBMClassifier, AGBMRegressor, GBFSRegressor, GTGBMClassifier, GTGBMRegressor, Tree
from gtgbm.exact.arrays import F64, I64

ARRAYS = ("feature", "threshold", "is_category", "missing_left", "left", "value", "n_rows", "gain")
SEARCHES = ("exhaustive", "group-testing")


def bytes_of(trees: Sequence[Tree]) -> list[dict[str, bytes]]:
    return [{name: getattr(tree, name).tobytes() for name in ARRAYS} for tree in trees]


def assert_same_model(one: Any, other: Any) -> None:
    assert bytes_of(one.trees_) == bytes_of(other.trees_)
    assert one.selection_history_ == other.selection_history_
    assert one.evals_result_ == other.evals_result_
    np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)


@pytest.fixture(scope="module")
def large() -> tuple[F64, F64]:
    """Make enough rows and columns for every kernel to use its threads."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 60))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + X[:, 2] + 0.5 * X[:, 3] + 0.5 * rng.normal(size=20_000)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def small(n_rows: int = 1500) -> tuple[F64, F64]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, 12))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + X[:, 2] * X[:, 3] + 0.5 * rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def n_threads_now() -> int:
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("method", [GTGBMRegressor, GTGBMClassifier])
def test_any_number_of_threads(large: tuple[F64, F64], method: Any, search: str) -> None:
    X, y = large
    if method is GTGBMClassifier:
        y = (y > 0.5).astype(np.float64)
    before, during = n_threads_now(), []
    models = []
    for n_jobs in (1, 2, 3):
        most = [0]

        def count(_: Any, most: list[int] = most) -> None:
            most[0] = max(most[0], n_threads_now() - before)

        model = method(n_estimators=6, penalty=0.0003, search=search, n_jobs=n_jobs, random_state=0)
        models.append(model.fit(X, y, callbacks=[count]))
        during.append(most[0])
    if before:
        assert during == [0, 1, 2], "the data did not keep the threads asked for busy"
    assert models[0].n_selected_features_ > 2
    assert_same_model(models[0], models[1])
    assert_same_model(models[0], models[2])
    scores = [model.set_params(n_jobs=k).predict(X) for k, model in enumerate(models, start=1)]
    assert scores[0].tobytes() == scores[1].tobytes() == scores[2].tobytes()


def test_three_classes_with_any_number_of_threads(large: tuple[F64, F64]) -> None:
    X, y = large[0][:8000], np.digitize(large[1][:8000], [-1.0, 1.0])
    one, three = (
        GTGBMClassifier(n_estimators=3, penalty=0.003, n_jobs=k, random_state=0).fit(X, y) for k in (1, 3)
    )
    assert_same_model(one, three)


@pytest.mark.parametrize("search", SEARCHES)
def test_many_rows_whose_thresholds_come_from_a_sample(search: str) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60_000, 10))
    y = X[:, 0] + X[:, 1] ** 2
    models = [
        GTGBMRegressor(n_estimators=3, search=search, n_jobs=k, random_state=3).fit(X, y) for k in (1, 2, 2)
    ]
    assert_same_model(models[0], models[1])
    assert_same_model(models[0], models[2])


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("method", [AGBMRegressor, GBFSRegressor, AGBMClassifier])
def test_any_row_order(method: Any, seed: int) -> None:
    X, y = small()
    if method is AGBMClassifier:
        y = (y > 0.5).astype(np.float64)
    order = np.random.default_rng(seed).permutation(X.shape[0])
    one, other = method(n_estimators=10).fit(X, y), method(n_estimators=10).fit(X[order], y[order])
    assert bytes_of(one.trees_) == bytes_of(other.trees_)
    assert one.predict(X).tobytes() == other.predict(X).tobytes()


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("method", [AGBMRegressor, GBFSRegressor, AGBMClassifier])
def test_any_column_order(method: Any, seed: int) -> None:
    X, y = small()
    if method is AGBMClassifier:
        y = (y > 0.5).astype(np.float64)
    order: I64 = np.random.default_rng(seed).permutation(X.shape[1])
    # Large leaves, so that no two features divide a node's rows alike and their order would decide.
    settings = {"n_estimators": 10, "min_node_fraction": 0.1, "min_samples_leaf": 30}
    one, other = method(**settings).fit(X, y), method(**settings).fit(X[:, order], y)
    relabelled = [
        Tree(
            np.where(tree.feature >= 0, order[tree.feature], -1).astype(np.int32),
            *(getattr(tree, name) for name in ARRAYS[1:]),
        )
        for tree in other.trees_
    ]
    assert bytes_of(one.trees_) == bytes_of(relabelled)
    np.testing.assert_array_equal(one.selected_features_, np.sort(order[other.selected_features_]))


@pytest.mark.parametrize("test_rows", ["auto", 200, None])
def test_same_seed_same_model(test_rows: Any) -> None:
    X, y = small()
    model = GTGBMRegressor(
        n_estimators=12, search="group-testing", test_rows=test_rows, n_relevant=2, random_state=5
    )
    first = bytes_of(model.fit(X, y).trees_)
    assert first == bytes_of(model.fit(X, y).trees_)


def test_the_seed_is_used() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1000, 100))
    y = X[:, :20].sum(axis=1) + rng.normal(size=1000)
    # Low prices: small nodes buy too, and those are tested through groups of a sample's rows.
    model = GTGBMRegressor(n_estimators=10, penalty=1e-4, search="group-testing", test_rows=300)
    models = [bytes_of(model.set_params(random_state=seed).fit(X, y).trees_) for seed in range(5)]
    assert any(one != models[0] for one in models)
    generator = model.set_params(random_state=np.random.RandomState(0))
    models = [bytes_of(generator.fit(X, y).trees_) for _ in range(5)]
    assert any(one != models[0] for one in models), "a RandomState moves on from fit to fit"


def read_only(X: F64) -> F64:
    X = X.copy()
    X.setflags(write=False)
    return X


def strided(X: F64) -> F64:
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), 7.0)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def unaligned(X: F64) -> Any:
    """Rows one byte longer than their numbers."""
    records = np.zeros(X.shape[0], dtype=[("flag", "i1"), ("numbers", "f8", (X.shape[1],))])
    records["numbers"] = X
    return records["numbers"]


LAYOUTS: dict[str, Callable[[F64], Any]] = {
    "fortran": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "unaligned": unaligned,
    "read-only": read_only,
    "float32": lambda X: X.astype(np.float32),
    "fortran float32": lambda X: np.asfortranarray(X.astype(np.float32)),
    "float16": lambda X: X.astype(np.float16),
    "big-endian": lambda X: X.astype(">f8"),
    "nested lists": lambda X: X.tolist(),
}
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_memory_layout(layout: str, search: str) -> None:
    X, y = small(600)
    X = X.astype(np.float16).astype(np.float64)  # values that every float type can hold
    model = GTGBMRegressor(n_estimators=5, search=search, random_state=0)
    plain = bytes_of(model.fit(X, y).trees_)
    predicted = model.predict(X)
    other = LAYOUTS[layout](X)
    assert bytes_of(model.fit(other, y).trees_) == plain
    assert model.predict(other).tobytes() == predicted.tobytes()


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("dtype", [*INTEGERS, "bool"])
def test_any_integer_type(dtype: str, search: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2 if dtype == "bool" else 100, size=(500, 10)).astype(np.float64)
    y = X[:, 0] / X[:, 0].max() + 0.5 * X[:, 1] / X[:, 1].max() + 0.1 * rng.normal(size=500)
    model = GTGBMRegressor(n_estimators=5, search=search, random_state=0)
    plain = bytes_of(model.fit(X, y).trees_)
    predicted = model.predict(X)
    assert bytes_of(model.fit(X.astype(dtype), y).trees_) == plain
    assert model.predict(X.astype(dtype)).tobytes() == predicted.tobytes()


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("method", [GTGBMRegressor, GTGBMClassifier])
def test_input_is_left_alone(method: Any, search: str) -> None:
    X, y = small(400)
    y = (y > 0.5).astype(np.float64)
    kept_X, kept_y = X.tobytes(), y.tobytes()
    model = method(n_estimators=3, search=search, early_stopping_rounds=2, random_state=0)
    model.fit(X, y, eval_set=[(X, y)])
    model.predict(X)
    model.transform(X)
    assert (X.tobytes(), y.tobytes()) == (kept_X, kept_y)
