"""Tasks with more than two classes, and with different ones."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from gtgbm import GTGBMClassifier, MultitaskGTGBMClassifier, compare_tasks, load_model
from gtgbm.exact.arrays import F64
from gtgbm.explain import held_out_again, permutation_importance
from gtgbm.model_file import ModelFileError
from tests.strategies import selects_few

METHODS = ("multitask", "group-sparse", "independent", "single-task")
SMALL: dict[str, Any] = {"n_estimators": 6, "random_state": 0, "min_node_fraction": 0.05}


def tables(n: int = 600) -> tuple[F64, NDArray[Any], NDArray[Any]]:
    """Task a has the classes high and low, b all four, c all but high."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    task = np.array(["a", "b", "c"])[np.arange(n) % 3]
    signal = X[:, 6] + np.where(task == "b", X[:, 2], 0.5 * X[:, 1]) + 0.1 * rng.normal(size=n)
    y = np.array(["low", "below", "above", "high"])[np.digitize(signal, [-1.0, 0.0, 1.0])]
    y = np.where(task == "a", np.where(signal > 0, "high", "low"), y)
    return X, np.where((task == "c") & (y == "high"), "above", y), task


@pytest.mark.parametrize("method", METHODS)
def test_all_methods(method: str, tmp_path: Path) -> None:
    X, y, task = tables()
    model = MultitaskGTGBMClassifier(method=method, **SMALL).fit(X, y, task)
    assert model.classes_.tolist() == ["above", "below", "high", "low"]
    p = model.predict_proba(X, task)
    assert p.shape == (600, 4)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert model.score(X, y, task=task) > 0.7
    if method != "single-task":
        assert model.task_classes_["a"].tolist() == ["high", "low"]
        assert not p[task == "a"][:, :2].any()
        assert not p[task == "c"][:, 2].any()
        assert np.isneginf(model.decision_function(X, task)[task == "c"][:, 2]).all()
    np.testing.assert_array_equal(model.predict(X, task), model.classes_[p.argmax(axis=1)])
    model.save_model(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(X, task), p)
        assert {name: of_task.tolist() for name, of_task in other.task_classes_.items()} == {
            name: of_task.tolist() for name, of_task in model.task_classes_.items()
        }
    compact = pickle.loads(pickle.dumps(loaded.compact()))
    rows = X[:, compact.features_]
    for name in ("predict", "predict_proba", "decision_function"):
        expected = getattr(model, name)(X, task)
        np.testing.assert_array_equal(getattr(compact, name)(rows, task), expected)
        np.testing.assert_array_equal(getattr(compact, name)(rows[4], task[4]), expected[4])


@pytest.mark.parametrize("method", ["multitask", "single-task"])
@selects_few
def test_features_are_selected_for_all_classes(method: str) -> None:
    X, y, task = tables(300)
    for selection in ("forward", "forward-backward"):
        model = MultitaskGTGBMClassifier(method=method, selection=selection, n_features_to_select=2, **SMALL)
        model.fit(X[:, [1, 2, 6, 8]], y, task)
        assert set(model.selected_features_) <= {0, 1, 2}
        assert model.n_selected_features_ == 2
        assert model.score(X[:, [1, 2, 6, 8]], y, task=task) > 0.6


def test_independent_tasks_are_models_of_their_rows_alone() -> None:
    X, y, task = tables()
    tasks = MultitaskGTGBMClassifier(group_penalty=0.0, task_penalty=0.004, **SMALL).fit(X, y, task)
    for name in tasks.tasks_:
        at = task == name
        alone = GTGBMClassifier(penalty=0.004, **SMALL).fit(X[at], y[at])
        own = np.searchsorted(tasks.classes_, alone.classes_)
        found = tasks.predict_proba(X[at], task[at])[:, own]
        # The softmax of two scores rounds otherwise than the logistic function.
        np.testing.assert_allclose(found, alone.predict_proba(X[at]), rtol=1e-14)
        for mine, theirs in zip(tasks.trees_[name], alone.trees_, strict=True):
            np.testing.assert_array_equal(mine.value, theirs.value)


def test_one_task_of_three_classes_is_a_single_task_model() -> None:
    X, y, task = tables()
    y = np.where(y == "high", "above", y)
    tasks = MultitaskGTGBMClassifier(group_penalty=0.002, task_penalty=0.001, **SMALL)
    alone = GTGBMClassifier(penalty=0.003, **SMALL).fit(X, y)
    found = tasks.fit(X, y, np.zeros(600)).predict_proba(X, np.zeros(600))
    np.testing.assert_array_equal(found, alone.predict_proba(X))
    del task


def test_what_is_said_of_predictions_adds_up() -> None:
    X, y, task = tables()
    model = MultitaskGTGBMClassifier(**SMALL).fit(X, y, task)
    scores = model.decision_function(X, task)
    np.testing.assert_allclose(model.predict_contributions(X, task).sum(axis=-1), scores, atol=1e-12)
    known = np.isfinite(scores)
    against = model.predict_contributions(X[:20], task[:20], background=X[:30]).sum(axis=-1)
    np.testing.assert_allclose(against[known[:20]], scores[:20][known[:20]], atol=1e-12)
    pairs = model.predict_contributions(X[:20], task[:20], interactions=True)
    assert pairs.shape == (20, 4, 11, 11)
    np.testing.assert_allclose(pairs.sum(axis=(-1, -2)), scores[:20], atol=1e-12)
    of_columns = model.predict_contributions(X[:20], task[:20])
    np.testing.assert_allclose(pairs.sum(axis=-1), of_columns, atol=1e-12)
    stages = list(model.staged_predict_proba(X, task))
    assert len(stages) == 6
    np.testing.assert_array_equal(stages[-1], model.predict_proba(X, task))
    np.testing.assert_array_equal(stages[2], model.predict_proba(X, task, n_rounds=3))
    leaves = model.apply(X, task)
    assert leaves.shape == (600, 24)
    assert (leaves[task == "a", 6:] == -1).all()  # one tree a round
    importance = permutation_importance(model, X, y, task=task)
    assert importance.features[importance.importances_mean.argmax()] == 6
    assert set(importance.task_importances) == {"a", "b", "c"}


def test_targets_by_column() -> None:
    X, _, _ = tables()
    Y = np.column_stack([np.digitize(X[:, 1], [-0.5, 0.5]), X[:, 2] > 0]).astype(float)
    Y[::5, 0] = np.nan
    model = MultitaskGTGBMClassifier(**SMALL).fit(X, Y)
    assert model.predict_proba(X).shape == (600, 2, 3)
    assert not model.predict_proba(X)[:, 1, 2].any()
    assert model.predict(X).shape == (600, 2)
    assert model.predict_contributions(X).shape == (600, 2, 3, 11)
    assert model.score(X, Y) > 0.9
    importance = permutation_importance(model, X, Y, metric="accuracy")
    assert set(importance.features[importance.importances_mean > 0.1]) == {1, 2}
    compact = model.compact()
    np.testing.assert_array_equal(compact.predict_proba(X[:, compact.features_]), model.predict_proba(X))


def test_eval_sets_weights_and_early_stopping() -> None:
    X, y, task = tables()
    weight = np.linspace(0.5, 2.0, 600)
    model = MultitaskGTGBMClassifier(early_stopping_rounds=3, eval_metric="accuracy", **SMALL)
    model.fit(
        X[:450],
        y[:450],
        task[:450],
        sample_weight=weight[:450],
        eval_set=(X[450:], y[450:]),
        eval_task=task[450:],
        eval_sample_weight=weight[450:],
    )
    X, y, task, weight = X[450:], y[450:], task[450:], weight[450:]
    for name, best in model.best_iteration_.items():
        at = task == name
        right = model.predict(X[at], task[at], n_rounds=best) == y[at]
        found = model.evals_result_[name]["validation_0"]["accuracy"][best - 1]
        assert found == pytest.approx(np.average(right, weights=weight[at]))


def test_rows_held_out_are_drawn_again() -> None:
    X, y, task = tables()
    model = MultitaskGTGBMClassifier(early_stopping_rounds=3, **SMALL).fit(X, y, task)
    drawn = held_out_again(model, X, y, task=task)
    assert drawn is not None
    assert 50 < drawn.shape[0] < 70


def test_offsets_of_classes() -> None:
    X, y, task = tables()
    offset = np.random.default_rng(1).normal(size=(600, 4))
    model = MultitaskGTGBMClassifier(**SMALL).fit(X, y, task, offset=offset)
    at = task == "a"
    own = offset[at][:, 3] - offset[at][:, 2]  # of low against high
    penalty = 8 / (8 + at.sum()) + 0.001
    alone = GTGBMClassifier(penalty=penalty, **SMALL).fit(X[at], y[at] == "low", offset=own)
    found = model.predict_proba(X[at], task[at], offset=offset[at])[:, 3]
    np.testing.assert_allclose(found, alone.predict_proba(X[at], offset=own)[:, 1], rtol=0.02)
    with pytest.raises(ValueError, match=r"offset has shape \(600,\); give shape \(600, 4\)"):
        model.fit(X, y, task, offset=offset[:, 0])


def test_sparse_tables_and_parallel_tasks() -> None:
    X, y, task = tables()
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = MultitaskGTGBMClassifier(task_order="parallel", **SMALL).fit(X, y, task)
    found = MultitaskGTGBMClassifier(task_order="parallel", **SMALL).fit(sparse.csr_matrix(X), y, task)
    np.testing.assert_array_equal(dense.predict_proba(X, task), found.predict_proba(X, task))


def test_common_trees_need_the_same_classes() -> None:
    X, y, task = tables()
    model = MultitaskGTGBMClassifier(n_common_rounds=3, **SMALL)
    with pytest.raises(ValueError, match=r"n_common_rounds=3: .*task 'a' has no row of class 'above'"):
        model.fit(X, y, task)
    same = np.where(np.isin(y, ["above", "high"]), "above", y)
    fitted = model.fit(X[task != "a"], same[task != "a"], task[task != "a"])
    for one, other in zip(fitted.trees_["b"][:9], fitted.trees_["c"][:9], strict=True):
        np.testing.assert_array_equal(one.value, other.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"loss": "squared_error"}, "loss='squared_error' is for two classes, y has 4: use loss='log_loss'"),
        ({"monotone_constraints": [1] + [0] * 9}, "monotone_constraints are for two classes, but y has 4"),
        ({"eval_metric": "auc"}, "eval_metric='auc'"),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, Any], message: str) -> None:
    X, y, task = tables()
    with pytest.raises(ValueError, match=message):
        MultitaskGTGBMClassifier(**SMALL | changed).fit(X, y, task)


def test_a_class_of_another_task_is_refused_in_the_eval_set() -> None:
    X, y, task = tables()
    with pytest.raises(ValueError, match="classes that training did not see in task 'a'"):
        MultitaskGTGBMClassifier(**SMALL).fit(
            X, y, task, eval_set=(X[:3], ["below"] * 3), eval_task=["a"] * 3
        )


def test_methods_are_compared_by_a_metric_of_more_classes() -> None:
    X, y, task = tables()
    results = compare_tasks(
        MultitaskGTGBMClassifier(**SMALL), (X[:400], y[:400], task[:400]), (X[400:], y[400:], task[400:])
    )
    assert [result.method for result in results] == list(METHODS)
    assert {result.metric for result in results} == {"accuracy"}
    assert all(result.total > 0.6 for result in results)


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([[0, 1], [0, 1, 2, 3]], "its tasks and their classes do not match"),
        ([[2, 9], [0, 1, 2, 3], [0, 1, 3]], r"a task has the classes \[2, 9\] of 4"),
        ([[3, 2], [0, 1, 2, 3], [0, 1, 3]], r"a task has the classes \[3, 2\]"),
        ([[2], [0, 1, 2, 3], [0, 1, 3]], r"a task has the classes \[2\]"),
        ([[0, 1, 2], [0, 1, 2, 3], [0, 1, 3]], "different number of scores than its loss"),
    ],
)
def test_files_with_wrong_classes_are_refused(classes: Any, message: str, tmp_path: Path) -> None:
    X, y, task = tables(120)
    path = tmp_path / "model.json"
    MultitaskGTGBMClassifier(**SMALL | {"n_estimators": 1}).fit(X, y, task).save_model(path)
    text = path.read_text()
    stored = '"classes":[[2,3],[0,1,2,3],[0,1,3]]'
    assert stored in text
    path.write_text(text.replace(stored, f'"classes":{str(classes).replace(" ", "")}'))
    with pytest.raises(ModelFileError, match=message):
        load_model(path)
