"""Forward-backward selection of several tasks: limits of all tasks and of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gtgbm import MultitaskGTGBMClassifier, MultitaskGTGBMRegressor
from gtgbm.exact.arrays import F64, I64
from tests.estimators.test_determinism import bytes_of
from tests.selection.planted import noise, used_columns
from tests.strategies import selects_few

COMMON: dict[str, Any] = {"n_estimators": 10, "random_state": 0}


def tasks(seed: int = 0, n_rows: int = 900) -> tuple[F64, F64, I64]:
    """Make three tasks that share columns 0 and 1 and have one of their own each, 4, 5 and 6."""
    rng = np.random.default_rng(seed)
    X, task = rng.normal(size=(n_rows, 12)), np.arange(n_rows) % 3
    own = X[np.arange(n_rows), 4 + task]
    return X, 1.5 * X[:, 0] - 1.2 * X[:, 1] + 1.2 * own + 0.4 * rng.normal(size=n_rows), task


def assert_consistent(model: Any) -> None:
    used = {name: [c for c in used_columns(trees) if c < 12] for name, trees in model.trees_.items()}
    assert {name: sorted(found) for name, found in model.task_features_.items()} == used
    assert model.selected_features_.tolist() == sorted(set().union(*used.values()))


@pytest.mark.parametrize("order", ["sequential", "parallel"])
def test_limit_of_all_tasks(order: str) -> None:
    X, y, task = tasks()
    model = MultitaskGTGBMRegressor(n_features_to_select=5, task_order=order, **COMMON).fit(X, y, task=task)
    assert_consistent(model)
    assert model.selected_features_.tolist() == [0, 1, 4, 5, 6]
    model.set_params(n_features_to_select=2).fit(X, y, task=task)
    assert_consistent(model)
    assert model.selected_features_.tolist() == [0, 1]


def test_limit_of_each_task() -> None:
    X, y, task = tasks()
    model = MultitaskGTGBMClassifier(n_features_per_task=3, **COMMON).fit(X, y > 0, task=task)
    assert_consistent(model)
    assert {name: found.tolist() for name, found in model.task_features_.items()} == {
        0: [0, 1, 4],
        1: [0, 1, 5],
        2: [0, 1, 6],
    }


def test_both_limits() -> None:
    X, y, task = tasks()
    model = MultitaskGTGBMRegressor(n_features_to_select=4, n_features_per_task=2, **COMMON)
    model.fit(X, y, task=task)
    assert_consistent(model)
    assert model.n_selected_features_ <= 4
    assert max(map(len, model.task_features_.values())) == 2


def test_tasks_with_common_trees_own_the_same_features() -> None:
    X, y, task = tasks()
    model = MultitaskGTGBMRegressor(n_features_to_select=2, n_common_rounds=3, **COMMON).fit(X, y, task=task)
    assert_consistent(model)
    assert model.selected_features_.tolist() == [0, 1]
    trees = [bytes_of(of_task[:3]) for of_task in model.trees_.values()]
    assert trees[0] == trees[1] == trees[2]


def test_one_model_of_all_tasks() -> None:
    X, y, task = tasks()
    model = MultitaskGTGBMRegressor(method="single-task", n_features_to_select=2, **COMMON)
    model.fit(X, y + 3.0 * task, task=task)
    assert model.selected_features_.tolist() == [0, 1]
    assert model.score(X, y + 3.0 * task, task=task) > 0.6


@pytest.mark.parametrize("selection", ["forward", "forward-backward"])
@pytest.mark.parametrize("total", [None, 1, 3])
def test_one_model_of_all_tasks_keeps_the_limit_of_each(total: int | None, selection: str) -> None:
    X, y, task = tasks()
    model = MultitaskGTGBMRegressor(
        method="single-task",
        n_features_to_select=total,
        n_features_per_task=2,
        **COMMON | {"selection": selection},
    )
    assert model.fit(X, y, task=task).n_selected_features_ == min(2, total or 2)


@pytest.mark.parametrize("limit", ["n_features_to_select", "n_features_per_task"])
def test_independent_tasks(limit: str) -> None:
    X, y, task = tasks()
    given: dict[str, Any] = COMMON | {limit: 3}
    model = MultitaskGTGBMRegressor(method="independent", **given).fit(X, y, task=task)
    assert_consistent(model)
    assert [len(found) for found in model.task_features_.values()] == [3, 3, 3]
    assert model.selected_features_.tolist() == [0, 1, 4, 5, 6]


def test_targets_by_column() -> None:
    X, y, _ = tasks()
    other = X[:, 7] - X[:, 8] + 0.3 * np.random.default_rng(1).normal(size=900)
    model = MultitaskGTGBMRegressor(n_features_to_select=4, **COMMON).fit(X, np.column_stack([y, other]))
    assert_consistent(model)
    assert model.selected_features_.tolist() == [0, 1, 7, 8]
    assert [found.tolist() for found in model.task_features_.values()] == [[0, 1], [7, 8]]


@pytest.mark.parametrize("order", ["sequential", "parallel"])
def test_threads_change_no_bit(order: str) -> None:
    X, y, task = tasks()
    given: dict[str, Any] = COMMON | {"task_order": order, "n_features_to_select": 4}
    one, two = (MultitaskGTGBMRegressor(**given, n_jobs=jobs).fit(X, y, task=task) for jobs in (1, 2))
    assert one.selection_history_ == two.selection_history_
    for name in one.tasks_:
        assert bytes_of(one.trees_[name]) == bytes_of(two.trees_[name])


# Once: rows of a fold that all have one class, or all the target 0, have no best constant.
def test_a_task_may_have_a_single_row_of_a_class() -> None:
    X, y, task = tasks()
    rare = np.where(task == 2, np.arange(900) == 2, y > 0)
    model = MultitaskGTGBMClassifier(n_features_to_select=2, **COMMON).fit(X, rare, task=task)
    assert model.selected_features_.tolist() == [0, 1]
    assert np.isfinite(model.predict_proba(X, task=task)).all()
    counts = MultitaskGTGBMRegressor(loss="poisson", n_features_to_select=2, **COMMON)
    counts.fit(X, np.where(task == 2, rare, np.rint(np.exp(0.5 * y))), task=task)
    assert counts.selected_features_.tolist() == [0, 1]


@selects_few
def test_noise_is_not_selected() -> None:
    X, y = noise(3, n_rows=600)
    model = MultitaskGTGBMRegressor(n_features_to_select=4, **COMMON).fit(X, y, task=np.arange(600) % 2)
    assert model.n_selected_features_ == 0


def test_callbacks_are_called_in_the_last_fit_only() -> None:
    (X, y, task), rounds = tasks(), []
    model = MultitaskGTGBMRegressor(n_features_to_select=2, **COMMON)
    model.fit(X, y, task=task, callbacks=[lambda progress: rounds.append(progress.round)])
    assert rounds == list(range(1, 11))


def test_the_warning_names_the_penalties_of_tasks() -> None:
    X, y = noise(3, n_rows=600)
    with pytest.warns(UserWarning, match="no features of n_features_to_select=4 are selected") as seen:
        MultitaskGTGBMRegressor(n_features_to_select=4, **COMMON).fit(X, y, task=np.arange(600) % 2)
    assert "use selection='forward' with a lower group_penalty or task_penalty" in str(seen[0].message)


def test_there_is_no_automatic_penalty_of_all_tasks() -> None:
    X, y, task = tasks()
    with pytest.raises(TypeError, match="penalty"):
        MultitaskGTGBMRegressor(penalty="auto")  # type: ignore[call-arg]
    with pytest.raises((TypeError, ValueError), match="group_penalty='auto'"):
        MultitaskGTGBMRegressor(group_penalty="auto").fit(X, y, task=task)  # type: ignore[arg-type]
