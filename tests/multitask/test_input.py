"""Several tasks: how rows are given to them, early stopping, copies of models, and bad input."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score

from gtgbm import GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMClassifier, MultitaskGTGBMRegressor
from gtgbm.exact.arrays import F64, I64
from tests.estimators.test_determinism import bytes_of

METHODS = [MultitaskGTGBMRegressor, MultitaskGTGBMClassifier]
methods = pytest.mark.parametrize("method", METHODS)
searches = pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
SMALL: dict[str, Any] = {"n_estimators": 5, "random_state": 0, "search": "exhaustive"}


def tables(seed: int = 0, rows: int = 240) -> tuple[F64, I64, I64]:
    """Make a table, targets of 0 and 1, and two tasks."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 8))
    task = rng.integers(0, 2, rows)
    y = X[:, 0] + X[np.arange(rows), 1 + task] + 0.5 * rng.normal(size=rows) > 0.0
    return X, y.astype(np.int64), task


def assert_same(one: Any, other: Any) -> None:
    """Bit for bit, whatever the tasks are called."""
    assert len(one.tasks_) == len(other.tasks_)
    for a, b in zip(one.tasks_, other.tasks_, strict=True):
        assert bytes_of(one.trees_[a]) == bytes_of(other.trees_[b])
        assert one.selection_history_[a] == other.selection_history_[b]
        assert one.evals_result_[a] == other.evals_result_[b]
    assert one.selected_features_.tolist() == other.selected_features_.tolist()


def wide(seed: int = 0) -> tuple[F64, F64]:
    """Make a table with a column of targets of 0 and 1 per task, some of them absent."""
    X, y, _ = tables(seed)
    rng = np.random.default_rng(seed)
    Y = np.stack([y, (X[:, 0] > X[:, 3]), X[:, 4] > 0.3], axis=1).astype(np.float64)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    return X, Y


@methods
@searches
@pytest.mark.parametrize("is_full", [True, False])
def test_columns_of_targets_are_stacked_rows(is_full: bool, search: str, method: Any) -> None:
    X, Y = wide()
    if is_full:
        Y = np.nan_to_num(Y)
    else:
        # Of few values, so that the rows of a task place the same thresholds as all rows.
        X = np.clip(np.rint(2.0 * X), -2.0, 2.0)
    given = SMALL | {"search": search}
    columns = method(**given).fit(X, Y)
    where = [np.flatnonzero(~np.isnan(Y[:, k])) for k in range(3)]
    task = np.repeat(np.arange(3), [rows.shape[0] for rows in where])
    rows = np.concatenate(where)
    stacked = method(**given).fit(X[rows], Y[rows, task], task)
    assert columns.tasks_ == stacked.tasks_ == [0, 1, 2]
    assert_same(columns, stacked)
    every = columns.predict(X)
    assert every.shape == (X.shape[0], 3)
    for k in range(3):
        np.testing.assert_array_equal(every[:, k], stacked.predict(X, np.full(X.shape[0], k)))
        np.testing.assert_array_equal(every[:, k], columns.predict(X, np.full(X.shape[0], k)))


def test_names_of_columns_are_tasks() -> None:
    X, Y = wide()
    model = MultitaskGTGBMRegressor(**SMALL).fit(X, pd.DataFrame(Y, columns=["a", "b", "c"]))
    assert model.tasks_ == ["a", "b", "c"]
    assert_same(model, MultitaskGTGBMRegressor(**SMALL).fit(X, Y))
    expected = model.predict(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X, ["b"] * X.shape[0]), expected)


def test_shapes_of_classifiers() -> None:
    X, Y = wide()
    model = MultitaskGTGBMClassifier(**SMALL).fit(X, Y)
    task = np.zeros(X.shape[0], dtype=np.int64)
    assert model.predict_proba(X).shape == model.decision_function(X).shape == (X.shape[0], 3)
    of_task = model.predict_proba(X, task)
    assert of_task.shape == (X.shape[0], 2)
    np.testing.assert_allclose(of_task.sum(axis=1), 1.0)
    np.testing.assert_array_equal(of_task[:, 1], model.predict_proba(X)[:, 0])
    np.testing.assert_array_equal(model.decision_function(X) > 0.0, model.predict(X) == 1.0)
    np.testing.assert_array_equal(model.decision_function(X) > 0.0, model.predict_proba(X) > 0.5)


def test_classes_keep_their_names() -> None:
    X, y, task = tables()
    model = MultitaskGTGBMClassifier(**SMALL).fit(X, np.array(["no", "yes"])[y], task)
    numbers = MultitaskGTGBMClassifier(**SMALL).fit(X, y, task)
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.predict(X, task), np.array(["no", "yes"])[numbers.predict(X, task)])


IDS: list[tuple[Any, Any]] = [("a", "b"), (7, -3), ((1, "x"), (2, "y")), ("a", 1), (0.5, (1, 2, 3))]


@pytest.mark.parametrize("ids", IDS, ids=str)
@pytest.mark.parametrize("is_list", [True, False])
def test_tasks_have_ids_of_any_type(ids: tuple[Any, Any], is_list: bool) -> None:
    X, y, task = tables()
    named: Any = [ids[k] for k in task]
    if not is_list:
        named = pd.Series(named, dtype=object)
    model = MultitaskGTGBMRegressor(**SMALL).fit(X, y, named)
    assert model.tasks_ == [ids[task[0]], ids[1 - task[0]]]
    plain = MultitaskGTGBMRegressor(**SMALL).fit(X, y, task)
    assert_same(model, plain)
    np.testing.assert_array_equal(model.predict(X, named), plain.predict(X, task))


@methods
def test_rows_of_tasks_may_be_in_any_order(method: Any) -> None:
    X, y, task = tables()
    order = np.argsort(task, kind="stable")
    given = SMALL | {"group_penalty": 0.02, "task_penalty": {0: 0.0, 1: 0.005}}
    model = method(**given).fit(X, y, task)
    # Tasks take turns in the order in which they first occur.
    order = order if task[0] == 0 else np.concatenate([order[task[order] == 1], order[task[order] == 0]])
    by_task = method(**given).fit(X[order], y[order], task[order])
    assert_same(model, by_task)
    mixed = np.random.default_rng(1).permutation(y.shape[0])[:50]
    np.testing.assert_array_equal(model.predict(X[mixed], task[mixed]), by_task.predict(X, task)[mixed])


@searches
def test_a_task_that_stops_leaves_the_others_going(search: str) -> None:
    rng = np.random.default_rng(0)
    X, task = rng.normal(size=(400, 6)), np.repeat(["noise", "signal"], 200)
    y = np.where(task == "noise", rng.normal(size=400), 3.0 * X[:, 0] + X[:, 1])
    part = rng.random(400) < 0.5
    given = SMALL | {"search": search, "n_estimators": 60, "early_stopping_rounds": 4}
    model: Any = MultitaskGTGBMRegressor(**given)
    model.fit(X[part], y[part], task[part], eval_set=(X[~part], y[~part]), eval_task=task[~part])
    assert model.n_iter_["noise"] < 20 < model.n_iter_["signal"]
    for name in model.tasks_:
        losses = model.evals_result_[name]["validation_0"]["squared_error"]
        assert model.n_iter_[name] == int(np.argmin(losses)) + 1 == len(model.trees_[name])
        rows = ~part & (task == name)
        error = np.mean((model.predict(X[rows], task[rows]) - y[rows]) ** 2)
        # The loss of squared errors is a half of them or all, but nothing else.
        assert min(losses) / error == pytest.approx(1.0) or min(losses) / error == pytest.approx(0.5)
        assert all(entry.tree < model.n_iter_[name] for entry in model.selection_history_[name])
    bought = {f for features in model.task_features_.values() for f in features.tolist()}
    assert set(model.selected_features_.tolist()) == bought
    # Without early stopping nothing is cut.
    whole = clone(model).set_params(early_stopping_rounds=None, n_estimators=9)
    whole.fit(X[part], y[part], task[part], eval_set=(X[~part], y[~part]), eval_task=task[~part])
    assert whole.n_iter_ == {"noise": 9, "signal": 9} or whole.n_iter_ == {"signal": 9, "noise": 9}


@methods
def test_a_share_of_each_task_is_held_out(method: Any) -> None:
    X, y, task = tables()
    given = SMALL | {"n_estimators": 30, "early_stopping_rounds": 3, "validation_fraction": 0.25}
    model = method(**given).fit(X, y, task)
    for name in model.tasks_:
        (losses,) = model.evals_result_[name]["validation_0"].values()
        assert model.n_iter_[name] == int(np.argmin(losses)) + 1
        held_out = (task == name).sum() - model.trees_[name][0].n_rows[0]
        assert abs(held_out - 0.25 * (task == name).sum()) <= 1
    assert_same(model, clone(model).fit(X, y, task))


def test_eval_sets_may_be_columns_of_targets() -> None:
    X, Y = wide()
    model = MultitaskGTGBMRegressor(**SMALL, early_stopping_rounds=2).fit(X, Y, eval_set=(X, Y))
    assert all("validation_0" in model.evals_result_[name] for name in model.tasks_)


@methods
@searches
@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_same_bits_for_any_threads_and_again(search: str, method: Any, form: Any) -> None:
    X, y, task = tables(3, rows=3000)
    given = SMALL | {"search": search, "group_penalty": 0.01, "task_penalty": 0.001}
    table = form(X * (np.abs(X) > 0.3))
    one = method(**given, n_jobs=1).fit(table, y, task)
    two = method(**given, n_jobs=2).fit(table, y, task)
    assert_same(one, two)
    expected = one.predict(table, task)
    np.testing.assert_array_equal(expected, two.predict(table, task))
    assert_same(two.fit(table, y, task), one)


@methods
def test_copies(method: Any) -> None:
    X, y, task = tables()
    model = method(**SMALL, task_penalty={0: 0.01, 1: 0.0}, learning_rate={0: 0.2, 1: 0.1})
    parameters = model.get_params()
    assert parameters["task_penalty"] == {0: 0.01, 1: 0.0}
    assert clone(model).get_params() == parameters
    again = clone(model.fit(X, y, task))
    assert not hasattr(again, "trees_")
    assert_same(again.fit(X, y, task), model)
    loaded = pickle.loads(pickle.dumps(model))
    assert_same(loaded, model)
    np.testing.assert_array_equal(loaded.predict(X, task), model.predict(X, task))
    assert pickle.loads(pickle.dumps(clone(model))).get_params() == parameters
    chosen = np.sort(model.selected_features_)
    assert model.get_support(indices=True).tolist() == chosen.tolist()
    np.testing.assert_array_equal(model.transform(X), X[:, chosen])


def test_learning_rates_of_tasks() -> None:
    X, y, task = tables()
    rates = {0: 0.5, 1: 0.05}
    model = MultitaskGTGBMRegressor(**SMALL, method="independent", learning_rate=rates).fit(X, y, task)
    for name, rate in rates.items():
        alone = MultitaskGTGBMRegressor(**SMALL, method="independent", learning_rate=rate).fit(X, y, task)
        assert bytes_of(model.trees_[name]) == bytes_of(alone.trees_[name])


def test_a_callback_hears_of_rounds_and_may_stop() -> None:
    X, y, task = tables()
    rounds: list[int] = []

    def stop_at_three(progress: Any) -> bool:
        rounds.append(progress.round)
        return bool(progress.round == 3)

    model = MultitaskGTGBMRegressor(**SMALL).fit(X, y, task, callbacks=[stop_at_three])
    assert rounds == [1, 2, 3]
    assert set(model.n_iter_.values()) == {3}


def fit(
    method: Any = MultitaskGTGBMRegressor, /, *, changed: dict[str, Any] | None = None, **given: Any
) -> Any:
    """Fit a good model, but for what is given."""
    X, y, task = tables()
    model = method(**SMALL | given)
    return model.fit(**{"X": X, "y": y, "task": task} | (changed or {}))


BAD_FIT: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"task": np.zeros(239)}, {}, "task has shape"),
    ({"task": np.zeros((240, 2))}, {}, "task has shape"),
    ({"task": None}, {}, "task is missing"),
    ({"y": np.zeros(239)}, {}, "y has shape"),
    ({"y": np.zeros((240, 2))}, {}, "y .*240, 2"),
    ({"y": np.r_[np.nan, np.arange(239.0)]}, {}, "y .*NaN"),
    ({"y": np.full((240, 2), np.nan), "task": None}, {}, "task 0 has no target"),
    ({"sample_weight": np.ones(5)}, {}, "sample_weight has shape"),
    ({"sample_weight": -np.ones(240)}, {}, "sample_weight holds"),
    ({}, {"group_penalty": 0.5, "task_penalty": 0.5}, "group_penalty.*task_penalty"),
    ({}, {"group_penalty": 0.5, "task_penalty": {0: 0.0, 1: 0.6}}, "group_penalty.*task_penalty"),
    ({}, {"group_penalty": -0.1}, "group_penalty"),
    ({}, {"task_penalty": {0: 0.1}}, "task_penalty has no entry for task 1"),
    ({}, {"task_penalty": {0: 0.1, 1: -0.1}}, "task_penalty"),
    ({}, {"learning_rate": {1: 0.1}}, "learning_rate has no entry for task 0"),
    ({}, {"learning_rate": {0: 0.1, 1: 0.0}}, "learning_rate"),
    ({}, {"method": "both"}, "method='both'"),
    ({}, {"n_features_per_task": 0}, "n_features_per_task"),
    ({}, {"task_order": "random"}, "task_order=.random."),
    ({}, {"task_penalty": "most"}, "task_penalty=.most."),
    ({}, {"n_common_rounds": 6}, "n_common_rounds=6"),
    ({}, {"n_features_to_select": 9}, "n_features_to_select"),
    ({"eval_set": (np.zeros((3, 8)), np.zeros(3))}, {}, "eval_task is missing"),
    ({"eval_set": (np.zeros((3, 8)), np.zeros(3)), "eval_task": [0, 1]}, {}, "eval_task has shape"),
    ({"eval_set": (np.zeros((3, 7)), np.zeros(3)), "eval_task": [0, 1, 1]}, {}, "eval_set"),
    # A task with one row, and one whose rows all weigh nothing, have nothing to learn from.
    ({"task": np.r_[2, np.arange(239) % 2]}, {}, "task 2"),
    ({"sample_weight": tables()[2].astype(np.float64)}, {}, "task 0|sample_weight"),
    ({"task": np.where(np.arange(240) % 2, np.nan, 1.0)}, {}, "task .*NaN"),
    ({"y": np.zeros((240, 0)), "task": None}, {}, "y has (no|shape|0)"),
    ({"y": pd.DataFrame(np.eye(240)[:, :2], columns=["a", "a"]), "task": None}, {}, "y .*twice|y .*column"),
    ({"y": -np.arange(240.0)}, {"loss": "poisson"}, "y .*poisson"),
    ({"eval_set": np.zeros((3, 8)), "eval_task": [0, 1, 1]}, {}, "eval_set"),
    ({"eval_set": (np.zeros((3, 8)), np.zeros(3)), "eval_task": [0, 1, 5]}, {}, "eval_task .*5"),
]


@pytest.mark.parametrize(("changed", "given", "message"), BAD_FIT, ids=[str(k) for k in range(len(BAD_FIT))])
def test_bad_input_is_refused(changed: dict[str, Any], given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(changed=changed, **given)


def classes(*values: Any) -> NDArray[Any]:
    return np.array([values[k % len(values)] for k in range(240)])


BAD_CLASSES: list[tuple[dict[str, Any], str]] = [
    ({"y": tables()[1] + 0.5}, "Unknown label type: continuous"),
    ({"y": classes(1)}, "task . has only one class"),
    ({"y": tables()[2]}, "task . has only one class"),
    ({"task": np.r_[2, np.arange(239) % 2]}, "task 2 has a single row"),
    ({"eval_set": (np.zeros((2, 8)), np.array([0, 5])), "eval_task": [0, 1]}, "eval_set: y has classes"),
    ({"y": np.r_[np.nan, classes(0.0, 1.0)[1:]]}, "y .*NaN"),
    (
        {"y": np.column_stack([classes("a", "b")] * 2), "task": None},
        "must hold numbers and NaN .*give classes",
    ),
    (
        {"eval_set": tables()[:2], "eval_task": tables()[2], "eval_sample_weight": tables()[2] * 1.0},
        "eval_sample_weight is zero for all rows of task 0",
    ),
]


@pytest.mark.parametrize(("changed", "message"), BAD_CLASSES, ids=[str(k) for k in range(len(BAD_CLASSES))])
def test_bad_classes_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(MultitaskGTGBMClassifier, changed=changed)


def test_bad_tasks_at_prediction_are_refused() -> None:
    X, _, task = tables()
    model = fit()
    with pytest.raises(ValueError, match=r"task has .*5.*not tasks of the training rows"):
        model.predict(X, task + 5)
    with pytest.raises(ValueError, match="task is missing"):
        model.predict(X)
    with pytest.raises(ValueError, match="task has shape"):
        model.predict(X, task[:3])


def test_a_fit_that_fails_leaves_no_model() -> None:
    X, y, task = tables()
    model = fit()
    with pytest.raises(ValueError, match="task has shape"):
        model.fit(X, y, task[:3])
    assert not hasattr(model, "trees_")


@methods
@pytest.mark.parametrize("how", ["multitask", "single-task"])
def test_docstring_describes_what_a_fit_leaves(how: str, method: Any) -> None:
    X, y, task = tables()
    model = method(method=how, **SMALL).fit(pd.DataFrame(X).rename(columns=str), y, task)
    fitted = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    assert "task_importances_" in fitted
    for name in [*model.get_params(), *fitted]:
        assert f"\n{name} : " in method.__doc__, name


@methods
@searches
def test_same_bits_for_any_threads_in_parallel(search: str, method: Any) -> None:
    X, Y = wide()
    given = SMALL | {"search": search, "task_order": "parallel", "n_features_to_select": 4, "n_estimators": 5}
    one, two, three = (method(**given, n_jobs=n).fit(X, Y) for n in (1, 2, 3))
    assert_same(one, two)
    assert_same(one, three)
    assert one.n_selected_features_ <= 4


@pytest.mark.parametrize("classifies", [True, False])
def test_scores(classifies: bool) -> None:
    X, y, task = tables()
    model = METHODS[classifies](**SMALL).fit(X, y, task)
    metric: Any = accuracy_score if classifies else r2_score
    weight = np.arange(1.0, 1.0 + y.shape[0])
    assert model.score(X, y, task=task) == metric(y, model.predict(X, task))
    expected = metric(y, model.predict(X, task), sample_weight=weight)
    assert model.score(X, y, weight, task=task) == expected
    with pytest.raises(ValueError, match="task is missing"):
        model.score(X, y)
    X, Y = wide()
    model = METHODS[classifies](**SMALL).fit(X, Y)
    known = [np.flatnonzero(~np.isnan(Y[:, k])) for k in range(3)]
    each = [metric(Y[at, k], model.predict(X)[at, k]) for k, at in enumerate(known)]
    assert model.score(X, Y) == pytest.approx(np.mean(each))


@searches
@pytest.mark.parametrize("order", ["sequential", "parallel"])
def test_a_task_whose_target_is_constant_buys_nothing(order: str, search: str) -> None:
    X, y, task = tables()
    model = MultitaskGTGBMRegressor(**SMALL | {"search": search}, task_order=order)
    with pytest.warns(UserWarning, match=r"y of task 0 is constant \(3.5\)"):
        model.fit(X, np.where(task == 0, 3.5, y), task)
    assert model.task_features_[0].shape == (0,)
    assert model.task_features_[1].shape[0] > 0
    assert not model.task_importances_[0].any()
    np.testing.assert_array_equal(model.predict(X[task == 0], task[task == 0]), 3.5)


def test_a_column_missing_for_one_target_is_not_bought_for_it() -> None:
    X, Y = wide()
    X[~np.isnan(Y[:, 0]), 5] = np.nan
    model = MultitaskGTGBMRegressor(**SMALL | {"group_penalty": 0.0, "task_penalty": 0.0}).fit(X, Y)
    assert 5 not in model.task_features_[0]


@methods
@searches
@pytest.mark.parametrize("order", ["sequential", "parallel"])
def test_tasks_go_on_from_common_rounds(order: str, search: str, method: Any) -> None:
    X, y, task = tables()
    X[:, 7] = np.arange(X.shape[0]) % 5
    given = SMALL | {"search": search, "categorical_features": [7], "n_features_to_select": 4}
    given |= {"selection": "forward", "min_samples_leaf": 2}
    model = method(**given, task_order=order, n_common_rounds=3, task_penalty=0.004).fit(X, y, task)
    first, second = (bytes_of(model.trees_[name]) for name in model.tasks_)
    assert first[:3] == second[:3]
    assert first[3] != second[3]
    assert all(
        entry.tree >= 3 or entry in model.selection_history_[1] for entry in model.selection_history_[0]
    )
    assert model.n_selected_features_ <= 4
    sizes = np.bincount(task)
    rows = np.concatenate([np.flatnonzero(task == name) for name in model.tasks_])
    single = {MultitaskGTGBMRegressor: GTGBMRegressor, MultitaskGTGBMClassifier: GTGBMClassifier}[method]
    penalty = (0.001 + np.average([0.004, 0.004], weights=sizes)) / 2
    alone = single(**given | {"n_estimators": 3}, penalty=penalty).fit(X[rows], y[rows])
    assert bytes_of(alone.trees_) == first[:3]


def test_one_task_in_common_rounds_is_an_ordinary_model() -> None:
    X, y, task = tables()
    model = MultitaskGTGBMRegressor(**SMALL, n_common_rounds=5, task_penalty=0.004).fit(X, y, task * 0)
    assert bytes_of(model.trees_[0]) == bytes_of(GTGBMRegressor(**SMALL, penalty=0.005).fit(X, y).trees_)


def test_a_row_without_a_task_is_refused() -> None:
    X, y, task = tables()
    named = [None if k else "a" for k in task]
    with pytest.raises(ValueError, match="task holds NaN or None: every row needs a task"):
        MultitaskGTGBMRegressor(**SMALL).fit(X, y, named)
