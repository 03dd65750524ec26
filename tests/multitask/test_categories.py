"""Several tasks with categorical columns: a category is the same feature for all of them."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from gtgbm import GTGBMClassifier, MultitaskGTGBMClassifier, MultitaskGTGBMRegressor
from gtgbm.boosting import Settings
from gtgbm.exact.arrays import F64, I64
from gtgbm.explain import purchases
from tests.estimators.test_determinism import bytes_of
from tests.multitask.test_tasks import assert_task_is, several, single

searches = pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
orders = pytest.mark.parametrize("order", ["sequential", "parallel"])
forms = pytest.mark.parametrize("form", [np.asarray, csr_matrix])


def tables(seed: int = 0, rows: int = 900) -> tuple[F64, NDArray[np.bool_], I64]:
    """Make a column of categories: one matters to all tasks, others to one each, and task 2 lacks some."""
    rng = np.random.default_rng(seed)
    X, task = rng.normal(size=(rows, 5)), rng.integers(0, 3, rows)
    X[:, 1] = rng.integers(0, 12, rows)
    X[(task == 2) & (X[:, 1] < 2), 1] = 11
    X[(task == 0) & (rng.random(rows) < 0.1), 1] = np.nan
    own = X[:, 1] == 5 + task
    y = X[:, 0] + 3.0 * (X[:, 1] == 3) + 2.0 * own + 0.5 * rng.normal(size=rows)
    return X, y > 0.5, task


@forms
@searches
def test_one_task_is_an_ordinary_model(search: str, form: Any) -> None:
    X, y, task = tables()
    table = form(X)
    given: dict[str, Any] = {"search": search, "categorical_features": [1]}
    model = several(True, group_penalty=0.004, task_penalty=0.003, **given).fit(table, y, task * 0)
    alone = single(True, penalty=0.007, **given).fit(table, y)
    assert_task_is(model, 0, alone, table)
    assert model.selected_categories_ == alone.selected_categories_
    assert model.task_categories_ == {0: alone.selected_categories_}
    assert model.n_selected_features_ == alone.n_selected_features_ > len(alone.selected_features_)


@forms
@searches
@orders
def test_without_a_group_penalty_tasks_are_alone(order: str, search: str, form: Any) -> None:
    X, y, task = tables()
    table = form(X)
    given: dict[str, Any] = {"search": search, "categorical_features": [1], "min_samples_leaf": 8}
    weight: Any = np.random.default_rng(1).integers(1, 3, y.shape[0])
    model = several(True, group_penalty=0.0, task_penalty=0.002, task_order=order, **given)
    model.fit(table, y, task, sample_weight=weight)
    for name in model.tasks_:
        rows = task == name
        alone = single(True, penalty=0.002, **given).fit(table[rows], y[rows], sample_weight=weight[rows])
        assert str(model.task_categories_[name]) == str(alone.selected_categories_)
        assert_task_is(model, name, alone, table)


@searches
@orders
def test_a_category_that_others_own_costs_less(order: str, search: str) -> None:
    X, y, task = tables()
    model = MultitaskGTGBMClassifier(
        search=search,
        task_order=order,
        categorical_features=[1],
        group_penalty=0.01,
        task_penalty=0.004,
        n_estimators=15,
        random_state=0,
    ).fit(X, y, task)
    turns = [
        (entry.tree, -1 if order == "parallel" else k, entry)
        for k, name in enumerate(model.tasks_)
        for entry in model.selection_history_[name]
    ]
    known: set[tuple[int, float | None]] = set()
    before, last = set(known), (0, -1)
    for tree, k, entry in sorted(turns, key=lambda turn: turn[:2]):
        if (tree, k) != last:
            before, last = set(known), (tree, k)
        feature = entry.feature, entry.category
        assert entry.price == pytest.approx(0.004 + 0.01 * (feature not in before), abs=1e-12)
        known.add(feature)
    assert model.n_selected_features_ == len(known)
    assert 1 in model.shared_features_
    assert all(3.0 in model.task_categories_[name][1] for name in model.tasks_)
    for name in (0, 1, 2):
        assert 5.0 + name in model.task_categories_[name][1]


@searches
@orders
def test_limits_count_categories(order: str, search: str) -> None:
    X, y, task = tables()
    given: dict[str, Any] = {
        "search": search,
        "task_order": order,
        "categorical_features": [1],
        "random_state": 0,
    }
    given |= {"group_penalty": 0.0, "task_penalty": 0.0, "n_estimators": 20, "selection": "forward"}
    model = MultitaskGTGBMRegressor(n_features_to_select=6, **given).fit(X, y * 1.0, task)
    assert model.n_selected_features_ == 6
    model = MultitaskGTGBMRegressor(n_features_per_task=3, **given).fit(X, y * 1.0, task)
    assert [len(history) for history in model.selection_history_.values()] == [3, 3, 3]


# Once: of several categories of a column, only the first one was listed.
@pytest.mark.parametrize("method", ["multitask", "single-task"])
def test_purchases_are_categories(method: str) -> None:
    X, y, task = tables()
    table = pd.DataFrame(X, columns=list("abcde"))
    table["b"] = table["b"].map("city {}".format).where(table["b"] > 0.0, None)
    model = MultitaskGTGBMRegressor(method=method, group_penalty=0.0, task_penalty=0.0, n_estimators=10)
    model.fit(table, y * 1.0, task)
    bought = [(one.entry.feature, str(one.entry.category)) for one in purchases(model)]
    assert len(set(bought)) == len(bought) == model.n_selected_features_
    assert sum(column == 1 for column, _ in bought) == len(model.selected_categories_[1]) > 1
    first = {
        feature: min(
            entry.tree
            for history in model.selection_history_.values()
            for entry in history
            if (entry.feature, str(entry.category)) == feature
        )
        for feature in bought
    }
    assert [one.entry.tree for one in purchases(model)] == list(first.values())


# Once: the categories of the task used up the limit, and cost a penalty each.
@pytest.mark.parametrize("categorical", ["category", "column"])
@searches
def test_the_task_of_a_single_model_is_free(search: str, categorical: str) -> None:
    rng = np.random.default_rng(0)
    X, task = rng.normal(size=(1500, 8)), rng.integers(0, 5, 1500)
    y = X[:, 0] + 0.8 * X[:, 1] + 0.6 * X[:, 2] + 4.0 * task + 0.1 * rng.normal(size=1500)
    model = MultitaskGTGBMRegressor(
        method="single-task",
        group_penalty=0.0,
        task_penalty=0.9,
        n_features_to_select=3,
        selection="forward",
        search=search,
        categorical=categorical,
        n_estimators=30,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fewer features than asked for
        assert model.fit(X, y, task).n_selected_features_ == 0  # the task alone explains y
    assert model.score(X, y, task=task) > 0.8
    for selection in ("forward", "forward-backward"):
        model.set_params(task_penalty=0.0, selection=selection).fit(X, y, task)
        assert sorted(model.selected_features_) == [0, 1, 2]
        assert model.score(X, y, task=task) > 0.95


class WithGivenColumn(GTGBMClassifier):
    """A model that owns column 5 from the start."""

    def _settings(self, *args: Any) -> Settings:
        settings = super()._settings(*args)
        return replace(settings, columns=replace(settings.columns, given=[5]))


def test_a_single_model_has_both_kinds_of_categories() -> None:
    X, y, task = tables()
    given: dict[str, Any] = {"categorical_features": [1], "random_state": 0, "n_estimators": 10}
    model = MultitaskGTGBMClassifier(method="single-task", group_penalty=0.0, task_penalty=0.003, **given)
    model.fit(X, y, task)
    _, number = np.unique([model.tasks_.index(one) for one in task], return_inverse=True)
    order = np.argsort(number, kind="stable")
    table = np.column_stack([X, number + 1.0])[order]
    alone = WithGivenColumn(penalty=0.003, **given | {"categorical_features": [1, 5]}).fit(table, y[order])
    assert bytes_of(model.trees_[0]) == bytes_of(alone.trees_)
    assert str(model.selected_categories_) == str({1: alone.selected_categories_[1]})
    assert model.task_importances_[0].shape == (5,)


# Once: a task's histograms were as wide as its own codes, and scans looked at the bins of all tasks.
@searches
@orders
@pytest.mark.parametrize("categorical", ["category", "column"])
def test_a_task_may_lack_the_last_categories(order: str, search: str, categorical: str) -> None:
    rng = np.random.default_rng(0)
    task = rng.integers(0, 3, 600)
    city = 4 * task + rng.integers(0, 4, 600)  # cities of three countries
    X = np.column_stack([rng.integers(0, 2, 600), city])
    y = X[:, 0] + 2.0 * (city % 4 == 1) + 0.3 * rng.normal(size=600)
    model = MultitaskGTGBMRegressor(
        n_estimators=15, categorical_features=[1], categorical=categorical, task_order=order, search=search
    ).fit(X, y, task=task)
    assert model.score(X, y, task=task) > 0.7


def test_a_task_may_lack_the_last_values_of_a_column() -> None:
    """Targets by column share the columns' bins, but not all rows."""
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(600) % 40, rng.normal(size=600)])
    y = X[:, 0] / 10.0 + X[:, 1]
    Y = np.column_stack([y, np.where(X[:, 0] < 7, -y, np.nan)])
    model = MultitaskGTGBMRegressor(n_estimators=15).fit(X, Y)
    assert model.task_features_[1].shape[0] > 0
