"""The course of training: losses, early stopping, callbacks, progress, timings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import log_loss, mean_squared_error

from gtgbm import AGBMClassifier, AGBMRegressor, GTGBMClassifier, GTGBMRegressor, Progress, Tree
from gtgbm.exact.arrays import F64, I64


def table(n_rows: int = 600, seed: int = 0) -> tuple[F64, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 8))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def leaves_of(tree: Tree, X: F64) -> I64:
    """Walk a tree row by row."""
    leaves = np.zeros(X.shape[0], dtype=np.int64)
    for i, row in enumerate(X):
        node = 0
        while tree.feature[node] >= 0:
            x = row[tree.feature[node]]
            left = tree.missing_left[node] == 1 if np.isnan(x) else x <= tree.threshold[node]
            node = int(tree.left[node]) + (0 if left else 1)
        leaves[i] = node
    return leaves


def tree_values(tree: Tree, X: F64) -> F64:
    values: F64 = tree.value[leaves_of(tree, X)]
    return values


def losses_by_hand(model: Any, X: F64, y: NDArray[Any], start: F64) -> list[float]:
    """Loss after each round, from the trees alone; y holds numbers of classes, or targets."""
    n_scores = start.shape[0]
    scores = np.repeat(start[:, None], X.shape[0], axis=1)
    losses = []
    for t, tree in enumerate(model.trees_):
        scores[t % n_scores] += tree_values(tree, X)
        if (t + 1) % n_scores:
            continue
        if n_scores > 1:
            p = np.exp(scores) / np.exp(scores).sum(axis=0)
            losses.append(log_loss(y, p.T, labels=np.arange(n_scores)))
        elif model.loss == "log_loss":
            losses.append(log_loss(y, 1.0 / (1.0 + np.exp(-scores[0])), labels=[0, 1]))
        else:
            losses.append(mean_squared_error(y, scores[0]))
    return losses


@pytest.mark.parametrize("init", ["best", "zero"])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_losses_are_those_of_the_trees(n_classes: int, init: str) -> None:
    X, y = table()
    X_held_out, y_held_out = table(200, seed=1)
    method: Any = AGBMRegressor
    start = np.array([y.mean()])
    if n_classes:
        method = AGBMClassifier
        cuts = np.linspace(-0.5, 0.5, n_classes - 1)
        y, y_held_out = np.digitize(y, cuts), np.digitize(y_held_out, cuts)
        share = np.bincount(y) / y.shape[0]
        start = np.log(share) if n_classes > 2 else np.log(share[1:] / share[:1])
    if init == "zero":
        start = np.zeros_like(start)
    model = method(n_estimators=6, init=init).fit(X, y, eval_set=[(X, y), (X_held_out, y_held_out)])
    assert list(model.evals_result_) == ["training", "validation_0", "validation_1"]
    by_hand = losses_by_hand(model, X, y, start)
    for name, expected in (
        ("training", by_hand),
        ("validation_0", by_hand),
        ("validation_1", losses_by_hand(model, X_held_out, y_held_out, start)),
    ):
        assert list(model.evals_result_[name]) == [model.loss]
        np.testing.assert_allclose(model.evals_result_[name][model.loss], expected, rtol=1e-9)


@pytest.mark.parametrize("n_classes", [0, 2, 4])
def test_leaf_values_are_newton_steps(n_classes: int) -> None:
    X, y = table()
    method: Any = AGBMClassifier if n_classes else AGBMRegressor
    if n_classes:
        y = np.digitize(y, np.linspace(-1.0, 1.0, n_classes - 1))
    model = method(n_estimators=1, learning_rate=0.3).fit(X, y)
    assert len(model.trees_) == (n_classes if n_classes > 2 else 1)
    for k, tree in enumerate(model.trees_):
        target = (y == k).astype(np.float64) if n_classes > 2 else y
        p = target.mean()
        curvature = p * (1.0 - p) if n_classes else 1.0
        if n_classes > 2:
            curvature *= n_classes / (n_classes - 1.0)  # scores are free up to a constant for all classes
        leaves = leaves_of(tree, X)
        assert np.unique(leaves).shape[0] > 4
        for leaf in np.unique(leaves):
            step = (target[leaves == leaf] - p).mean() / curvature
            assert tree.value[leaf] == pytest.approx(0.3 * step, rel=1e-9)


def test_predictions_are_sums_of_trees() -> None:
    X, y = table()
    model = GTGBMRegressor(n_estimators=5, random_state=0).fit(X, y)
    by_hand = y.mean() + sum(tree_values(tree, X) for tree in model.trees_)
    np.testing.assert_allclose(model.predict(X), by_hand, rtol=0, atol=1e-12)


@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_training_loss_of_least_squares_only_falls(learning_rate: float) -> None:
    X, y = table()
    model = AGBMRegressor(n_estimators=20, learning_rate=learning_rate, penalty=0.0).fit(X, y)
    losses = [float(np.var(y)), *model.evals_result_["training"]["squared_error"]]
    assert (np.diff(losses) < 0).all()


@pytest.mark.parametrize("patience", [1, 5])
@pytest.mark.parametrize("method", [GTGBMRegressor, GTGBMClassifier])
def test_early_stopping_keeps_the_best_round(method: Any, patience: int) -> None:
    X, y = table()
    X_held_out, y_held_out = table(300, seed=1)
    if method is GTGBMClassifier:
        y, y_held_out = np.digitize(y, [-0.5, 0.5]), np.digitize(y_held_out, [-0.5, 0.5])
    settings = {"learning_rate": 0.5, "penalty": 0.0, "random_state": 0}
    # The last of several sets decides.
    sets = [(X, y), (X_held_out, y_held_out)]
    model = method(n_estimators=300, early_stopping_rounds=patience, **settings).fit(X, y, eval_set=sets)
    losses = model.evals_result_["validation_1"][model.loss]
    best = int(np.argmin(losses)) + 1
    assert len(losses) == best + patience < 300
    assert model.n_iter_ == best
    short = method(n_estimators=best, **settings).fit(X, y)
    assert model.predict(X).tobytes() == short.predict(X).tobytes()
    assert model.selection_history_ == short.selection_history_
    np.testing.assert_array_equal(model.feature_importances_, short.feature_importances_)


def test_early_stopping_holds_out_a_share_of_the_rows() -> None:
    X, y = table()
    model = AGBMRegressor(
        n_estimators=300, learning_rate=0.5, early_stopping_rounds=3, validation_fraction=0.25, random_state=0
    ).fit(X, y)
    assert model.trees_[0].n_rows[0] == 450
    losses = model.evals_result_["validation_0"]["squared_error"]
    assert model.n_iter_ == int(np.argmin(losses)) + 1 == len(losses) - 3
    again = AGBMRegressor(**model.get_params()).fit(X, y)
    assert again.predict(X).tobytes() == model.predict(X).tobytes()


def test_callbacks_see_every_round() -> None:
    X, y = table()
    seen: list[Progress] = []
    model = AGBMRegressor(n_estimators=7).fit(X, y, eval_set=(X, y), callbacks=[seen.append])
    assert [progress.round for progress in seen] == list(range(1, 8))
    assert {progress.n_rounds for progress in seen} == {7}
    assert [progress.training_loss for progress in seen] == model.evals_result_["training"]["squared_error"]
    assert [progress.validation_loss for progress in seen] == model.evals_result_["validation_0"][
        "squared_error"
    ]
    bought = [entry.tree for entry in model.selection_history_]
    for k, progress in enumerate(seen):
        assert progress.n_features == sum(tree <= k for tree in bought)


@pytest.mark.parametrize("method", [GTGBMRegressor, GTGBMClassifier])
def test_a_callback_can_stop(method: Any) -> None:
    X, y = table()
    target = y if method is GTGBMRegressor else np.digitize(y, [-0.5, 0.5])
    calls: list[int] = []

    def stop(progress: Progress) -> bool:
        return progress.round == 3

    def other(progress: Progress) -> None:
        calls.append(progress.round)

    model = method(n_estimators=50, random_state=0).fit(X, target, callbacks=[stop, other])
    assert model.n_iter_ == 3
    assert calls == [1, 2, 3], "every callback is called in every round"
    assert all(len(losses[model.loss]) == 3 for losses in model.evals_result_.values())


def test_an_error_in_a_callback_is_not_swallowed() -> None:
    X, y = table()

    def fail(_: Progress) -> None:
        raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        AGBMRegressor(n_estimators=5, verbose=1).fit(X, y, callbacks=[fail])


def test_verbose_shows_progress_on_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = table()
    model = AGBMRegressor(n_estimators=12, verbose=1).fit(X, y)
    out, error = capfd.readouterr()
    assert out == ""
    assert "12/12" in error
    assert f"features {model.n_selected_features_}" in error
    assert f"{model.n_selected_features_} of 8 columns" in error
    assert "exhaustive" in error


@pytest.mark.parametrize("method", [GTGBMRegressor, GTGBMClassifier])
def test_silent_unless_asked(method: Any, capfd: pytest.CaptureFixture[str]) -> None:
    X, y = table()
    target = y if method is GTGBMRegressor else y > 0
    method(n_estimators=5, early_stopping_rounds=2, random_state=0).fit(X, target).predict(X)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_timings_add_up(search: str) -> None:
    X, y = table()
    timings = GTGBMRegressor(n_estimators=5, search=search, random_state=0).fit(X, y).timings_.copy()
    assert all(seconds >= 0.0 for seconds in timings.values())
    total = timings.pop("total")
    assert total > 0.0
    assert sum(timings.values()) == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("max_depth", [1, 2, 4])
def test_depth_limit(max_depth: int) -> None:
    X, y = table()
    model = AGBMRegressor(n_estimators=5, max_depth=max_depth, penalty=0.0).fit(X, y)
    assert max(model.n_leaves_) <= 2**max_depth
    for tree in model.trees_:
        depth = np.zeros(tree.n_nodes, dtype=np.int64)
        for node in np.flatnonzero(tree.feature >= 0):
            depth[tree.left[node] : tree.left[node] + 2] = depth[node] + 1
        assert depth.max() == max_depth


@pytest.mark.parametrize(("fraction", "min_leaf"), [(0.1, None), (0.3, None), (0.0, 25), (0.1, 2)])
@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_sizes_of_nodes_and_leaves(search: str, fraction: float, min_leaf: int | None) -> None:
    X, y = table()
    model = GTGBMRegressor(
        n_estimators=5,
        penalty=0.0,
        search=search,
        min_node_fraction=fraction,
        min_samples_leaf=min_leaf,
        random_state=0,
    ).fit(X, y)
    fewest = int(np.ceil(fraction * 600 / 4)) if min_leaf is None else min_leaf
    sizes = np.concatenate([tree.n_rows[tree.feature < 0] for tree in model.trees_])
    split = np.concatenate([tree.n_rows[tree.feature >= 0] for tree in model.trees_])
    assert sizes.min() >= fewest
    assert split.min() >= max(fraction * 600, 2 * fewest)


def test_holding_out_leaves_every_class_to_train_on() -> None:
    """One row of a class is too few to share; a model without that class would start at minus infinity."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.zeros(200, dtype=int)
    y[:100], y[7] = 1, 2
    for seed in range(5):
        model = GTGBMClassifier(
            n_estimators=3, early_stopping_rounds=2, validation_fraction=0.5, random_state=seed
        ).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
