"""Defects that were found once, each with the smallest case that showed it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

from gtgbm import AGBMClassifier, AGBMRegressor, GBFSRegressor, GTGBMClassifier, GTGBMRegressor
from gtgbm.demo_data import make_demo_data
from gtgbm.growing.growing_tree import GrowingTree


@pytest.mark.parametrize(
    ("method", "scale"),
    [(AGBMRegressor(penalty=0.0), 1.0), (GTGBMRegressor(penalty=0.0), 1.0), (GBFSRegressor(), 1e9)],
)
@pytest.mark.parametrize("seed", range(6))
def test_pure_nodes_have_no_error_left(method: Any, scale: float, seed: int) -> None:
    """Rounding once left pure nodes a squared error; they were split on, with histograms of another level."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8000, 20_000))
    group = rng.integers(0, 4, n)
    X = np.stack([group.astype(np.float64), np.zeros(n), rng.random(n)], axis=1)
    model = method.set_params(n_estimators=10).fit(X, scale * rng.normal(size=4)[group])
    assert model.selected_features_.tolist() == [0]
    assert all(tree.n_rows.min() > 0 and tree.n_leaves <= 4 for tree in model.trees_)


def test_histograms_of_a_level_not_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that leaves out a level must not take its grandparents' histograms for its parents'."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=20_000)

    def even_levels_only(_: GrowingTree, level: Any, _nodes: Any, gain: Any) -> Any:
        return np.full(gain.shape[0], level.step % 2 == 0)

    monkeypatch.setattr(GrowingTree, "_may_buy", even_levels_only)
    model = AGBMRegressor(penalty=0.0, n_estimators=5, max_depth=5).fit(X, y)
    assert model.n_selected_features_ >= 3
    for tree in model.trees_:
        parents = np.flatnonzero(tree.feature >= 0)
        assert parents.shape[0] > 4
        left, right = tree.n_rows[tree.left[parents]], tree.n_rows[tree.left[parents] + 1]
        assert (left > 0).all()
        assert (right > 0).all()
        assert len(set(model.selected_features_.tolist())) == model.n_selected_features_


@pytest.mark.parametrize("offset", [5.0, 1e9])
def test_zero_start_reaches_far_targets(offset: float) -> None:
    """Residuals that are all the same still need steps, and their common part must cost no resolution."""
    x = np.random.default_rng(0).normal(size=200)
    model = AGBMRegressor(init="zero", n_estimators=400, penalty=0.001).fit(x[:, None], offset + x)
    assert model.score(x[:, None], offset + x) > 0.9


@pytest.mark.filterwarnings("ignore:y is constant")
def test_zero_start_reaches_a_constant_target() -> None:
    model = AGBMRegressor(init="zero", n_estimators=300).fit(np.zeros((50, 1)), np.full(50, 5.0))
    assert model.predict(np.zeros((1, 1)))[0] == pytest.approx(5.0, abs=1e-6)


@pytest.mark.parametrize("learning_rate", [3.0, 100.0, 1e10])
def test_divergence_is_reported(learning_rate: float) -> None:
    x = np.random.default_rng(0).normal(size=200)
    with pytest.raises(ValueError, match="learning_rate"):
        AGBMRegressor(learning_rate=learning_rate, n_estimators=2000).fit(x[:, None], x)


def test_tiny_targets_are_refused() -> None:
    x = np.random.default_rng(0).normal(size=200)
    with pytest.raises(ValueError, match="rescale"):
        AGBMRegressor().fit(x[:, None], x * 1e-160)


def test_paper_mode_measures_candidates_that_tests_cannot_see() -> None:
    """One outlier squeezes all other values into one code of the paper's scaling."""
    x = np.random.default_rng(0).random(500)
    y = (x > 0.5).astype(np.float64)
    x[0] = 1e6
    model = GTGBMRegressor(search="group-testing", test_rows=None, n_estimators=3).fit(x[:, None], y)
    assert model.selected_features_.tolist() == [0]


def test_a_failed_fit_leaves_the_model_unfitted() -> None:
    X = np.random.default_rng(0).normal(size=(100, 4))
    model = AGBMRegressor(penalty=5.0)
    with pytest.raises(ValueError, match="penalty=5"):
        model.fit(X, X[:, 0])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.set_params(penalty=0.01).fit(X, X[:, 3])
    with pytest.raises(ValueError, match="penalty=5"):
        model.set_params(penalty=5.0).fit(X[:, :2], X[:, 0])
    with pytest.raises(NotFittedError):
        model.predict(X[:, :2])


def test_fractions_of_rows_are_whole_numbers() -> None:
    """0.28 * 100 is a little more than 28 in floats."""
    x = np.repeat([0.0, 1.0], [93, 7])
    model = AGBMRegressor(min_node_fraction=0.28, min_samples_leaf=7, n_estimators=1).fit(x[:, None], x)
    assert model.n_leaves_.tolist() == [2]


def test_the_loss_of_the_fit_decides_predictions() -> None:
    X = np.random.default_rng(0).normal(size=(200, 2))
    model = AGBMClassifier(n_estimators=5).fit(X, X[:, 0] > 0)
    before = model.predict_proba(X)
    assert np.array_equal(model.set_params(loss="squared_error").predict_proba(X), before)


def test_misaligned_tables() -> None:
    record = np.zeros(200, dtype=[("flag", "u1"), ("x", "f8", (3,))])
    record["x"] = np.random.default_rng(0).normal(size=(200, 3))
    X = record["x"]
    assert not X.flags.aligned
    assert AGBMRegressor(n_estimators=3).fit(X, X[:, 1]).selected_features_.tolist() == [1]


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="limits memory the way Linux does")
def test_running_out_of_memory_in_a_thread_is_an_error_not_the_end() -> None:
    """Whatever memory a kernel lacks, the process goes on: with a result or a MemoryError."""
    code = """
import resource, sys
import numpy as np
from gtgbm import _core
from gtgbm.search.dealing import divide
pool = _core.Pool(2)
values = np.random.default_rng(0).integers(0, 60000, (64, 200_000)).astype(np.uint16)
shape = divide(64, 2)
tiles = np.empty((4, shape.n_tiles, 200_000, 2), dtype=np.uint8)
members = np.stack([np.random.default_rng(k).permutation(64) for k in range(4)])
sign = np.ones(64, dtype=np.int8)
_core.correlate(pool, np.ones((64, 20_000), np.uint8), np.ones(20_000, np.int16), np.zeros(64, np.int64))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]), used + int(sys.argv[1])))
try:
    _core.build_group_codes(pool, values, 65535, members, sign, shape.native(), 255, True, tiles)
except MemoryError:
    print("MemoryError")
"""
    for allowance in (1 << 20, 14 << 20, 18 << 20, 22 << 20):
        run = subprocess.run(
            [sys.executable, "-c", code, str(allowance)],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert run.returncode == 0, run.stderr


def test_parts_of_the_demo_data_are_other_rows_of_the_same_truth() -> None:
    train, test = make_demo_data(1000, 400), make_demo_data(1000, 400, part=1)
    assert train.relevant.tolist() == test.relevant.tolist()
    assert not (train.X == test.X).all(axis=1).any()


def test_callbacks_may_return_numpy_booleans() -> None:
    X = np.random.default_rng(0).normal(size=(100, 3))
    model = AGBMRegressor(n_estimators=30).fit(X, X[:, 0], callbacks=[lambda _: np.bool_(True)])
    assert model.n_iter_ == 1


def test_prediction_in_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    model = AGBMClassifier(n_estimators=5).fit(X, rng.integers(0, 3, 500))
    whole = model.decision_function(X)
    monkeypatch.setattr("gtgbm.tree.forest._ROWS_PER_CALL", 37)
    assert np.array_equal(model.decision_function(X), whole)


@pytest.mark.parametrize("n_classes", [3, 4, 8])
def test_every_class_looks_for_features(n_classes: int) -> None:
    """Trees that rest were once counted over all classes together, and some classes never looked again."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    y = np.argmax(X[:, :n_classes] + 0.3 * rng.normal(size=(4000, n_classes)), axis=1)
    model = GTGBMClassifier(penalty=0.02, n_estimators=12, random_state=0).fit(X, y)
    assert set(range(n_classes)) <= set(model.selected_features_.tolist())


def test_the_same_search_however_a_table_is_stored() -> None:
    """The choice once reckoned with the entries of a sparse table, and so with how it was stored."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((10_000, 20)) < 0.1, rng.normal(size=(10_000, 20)), 0.0)
    y = X[:, 0] + X[:, 1] + 0.1 * rng.normal(size=10_000)
    dense, sparse = (
        GTGBMRegressor(n_estimators=100, penalty=0.01, random_state=0).fit(table, y)
        for table in (X, csr_matrix(X))
    )
    assert dense.search_ == sparse.search_
    assert dense.predict(X).tobytes() == sparse.predict(X).tobytes()


def test_a_failed_fit_leaves_no_half_model() -> None:
    """Classes and columns of the new data once stayed with the old trees."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    classifier = GTGBMClassifier(loss="squared_error", n_estimators=3).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="loss"):
        classifier.fit(X, np.arange(100) % 3)
    with pytest.raises(NotFittedError):
        classifier.predict(X)
    regressor = GTGBMRegressor(n_estimators=3).fit(X, X[:, 4])
    with pytest.raises(ValueError, match="y"):
        regressor.fit(X[:, :3], np.full(100, 1e200))
    with pytest.raises(NotFittedError):
        regressor.predict(X[:, :3])


def test_a_column_of_ids_is_no_danger() -> None:
    """Every value of a column its own category: memory once grew with their number times the rows."""
    n = 20_000
    X = np.arange(n, dtype=np.float64)[:, None]
    model = AGBMRegressor(categorical_features=[0], min_samples_leaf=1, min_node_fraction=0.0, n_estimators=2)
    model.fit(X, (X[:, 0] == 5.0) * 1.0)
    assert model.n_selected_features_ >= 1
