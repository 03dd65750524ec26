"""Feature costs, groups, fixed and forbidden features, and budgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

import gtgbm
from gtgbm import AGBMRegressor, GBFSRegressor, GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMRegressor
from tests.estimators import golden_models
from tests.strategies import seeds, selects_few

N, D = 160, 12


@dataclass(frozen=True)
class Case:
    """A table, and what its columns cost."""

    X: Any
    y: Any
    costs: Any
    groups: list[list[int]]
    fixed: list[int]

    def total(self, selected: set[int]) -> float:
        """Cost of columns, each group paid once; by category, a column is paid at least once."""
        group_of = {column: k for k, group in enumerate(self.groups) for column in group}
        units = {("group", group_of[c]) if c in group_of else ("column", c): self.costs[c] for c in selected}
        return float(sum(units.values()))


def table(rng: np.random.Generator, kind: str) -> tuple[Any, Any]:
    X = np.round(rng.normal(size=(N, D)), 2)
    y = X[:, :6] @ rng.choice([0.0, 0.5, 1.0], 6) + 0.3 * rng.normal(size=N)
    if kind == "sparse":
        return csr_matrix(np.where(rng.random((N, D)) < 0.6, 0.0, X)), y
    if kind == "frame":
        frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(D)])
        for column in ("x1", "x7"):
            frame[column] = np.array(list("abcd"))[np.clip(frame[column] + 2, 0, 3).astype(int)]
        return frame, y
    return X, y


def case(seed: int, kind: str) -> Case:
    rng = np.random.default_rng(seed)
    X, y = table(rng, kind)
    costs = rng.choice([0.0, 0.3, 1.0, 2.5, 7.0, np.inf], D, p=[0.05, 0.2, 0.3, 0.2, 0.15, 0.1])
    order = rng.permutation(D)
    groups = [order[:3].tolist(), order[3:5].tolist()][: int(rng.integers(0, 3))]
    for group in groups:
        finite = costs[group][np.isfinite(costs[group])]
        costs[group] = np.where(np.isinf(costs[group]), np.inf, finite[0] if finite.shape[0] else np.inf)
    usable = np.flatnonzero(np.isfinite(costs))
    fixed = sorted(rng.choice(usable, min(int(rng.integers(0, 3)), usable.shape[0]), replace=False).tolist())
    return Case(X, y, costs, groups, fixed)


MODELS: dict[str, Any] = {
    "forward-backward": lambda **given: GTGBMRegressor(n_estimators=8, **given),
    "forward": lambda **given: GTGBMRegressor(n_estimators=8, selection="forward", penalty=0.0, **given),
    "group-testing": lambda **given: GTGBMRegressor(
        n_estimators=8, selection="forward", search="group-testing", penalty=0.001, **given
    ),
    "leaves": lambda **given: GTGBMRegressor(
        n_estimators=8, selection="forward", penalty=0.0, max_leaf_nodes=4, colsample=0.6, **given
    ),
    "a-gbm": lambda **given: AGBMRegressor(n_estimators=8, categorical="column", **given),
    "gbfs": lambda **given: GBFSRegressor(n_estimators=8, penalty=0.1, **given),
}


@selects_few
@settings(deadline=None, max_examples=40)
@given(
    seeds,
    st.sampled_from(sorted(MODELS)),
    st.sampled_from(["dense", "sparse", "frame"]),
    st.floats(0.0, 20.0),
)
def test_what_must_hold_of_every_fit(seed: int, name: str, kind: str, more: float) -> None:
    case_ = case(seed, kind)
    if np.isinf(case_.costs).all():
        return
    budget = case_.total(set(case_.fixed)) + max(more, float(np.min(case_.costs)))
    model = MODELS[name](
        feature_costs=case_.costs,
        feature_groups=case_.groups,
        fixed_features=case_.fixed,
        cost_budget=budget,
        random_state=0,
    ).fit(case_.X, case_.y)
    selected = set(model.selected_features_.tolist())
    assert set(case_.fixed) <= selected
    assert not selected & set(np.flatnonzero(np.isinf(case_.costs)).tolist())
    assert model.total_cost_ <= budget + 1e-9
    assert model.total_cost_ == pytest.approx(sum(entry.cost for entry in model.selection_history_))
    if kind == "frame":
        # Each category is paid, so the columns alone are a lower bound.
        assert case_.total(selected) <= model.total_cost_ + 1e-9
    else:
        assert model.total_cost_ == pytest.approx(case_.total(selected))
    used = {int(feature) for tree in model.trees_ for feature in tree.feature[tree.feature >= 0]}
    assert used | set(case_.fixed) == selected
    if selected:
        columns = case_.X.iloc[:, sorted(selected)] if kind == "frame" else model.transform(case_.X)
        np.testing.assert_array_equal(model.compact().predict(columns), model.predict(case_.X))


@selects_few
@settings(deadline=None, max_examples=15)
@given(
    seeds,
    st.sampled_from(["multitask", "group-sparse", "independent", "single-task"]),
    st.sampled_from(["sequential", "parallel"]),
    st.sampled_from(["auto", "forward"]),
    st.sampled_from([0, 2]),
    st.floats(0.0, 15.0),
)
def test_tasks_share_a_budget(
    seed: int, method: str, order: str, selection: str, common: int, more: float
) -> None:
    case_ = case(seed, "dense")
    budget = case_.total(set(case_.fixed)) + max(more, float(np.min(case_.costs)))
    if np.isinf(budget):
        return
    model = MultitaskGTGBMRegressor(
        n_estimators=5,
        method=method,
        task_order=order,
        selection=selection,
        n_common_rounds=common,
        group_penalty=0.0,
        task_penalty=0.001,
        feature_costs=case_.costs,
        feature_groups=case_.groups,
        fixed_features=case_.fixed,
        cost_budget=budget,
        random_state=0,
    ).fit(case_.X, case_.y, task=np.arange(N) % 2)
    selected = set(model.selected_features_.tolist())
    assert set(case_.fixed) <= selected
    assert not selected & set(np.flatnonzero(np.isinf(case_.costs)).tolist())
    assert model.total_cost_ == pytest.approx(case_.total(selected))
    assert model.total_cost_ <= budget + 1e-9
    for features in model.task_features_.values():
        assert set(case_.fixed) <= set(features.tolist())


def test_each_category_of_a_column_is_paid() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"city": rng.choice(list("abcd"), 400), "wind": rng.normal(size=400)})
    y = frame["city"].map({"a": 0.0, "b": 1.0, "c": 2.0, "d": 4.0}) + 0.1 * frame["wind"]
    for groups in (None, [["city"]]):
        model = GTGBMRegressor(
            feature_costs={"city": 2.0}, feature_groups=groups, penalty=0.01, n_estimators=5, random_state=0
        ).fit(frame, y)
        assert len(model.selected_categories_[0]) == 3
        assert model.total_cost_ == 6.0
    model = GTGBMRegressor(fixed_features=["city"], cost_budget=1.0, n_estimators=5, random_state=0)
    assert model.fit(frame, y).selected_features_.tolist() == [0]
    assert model.total_cost_ == 1.0


@selects_few
@pytest.mark.parametrize("name", sorted(golden_models.MODELS))
def test_costs_of_one_and_groups_of_one_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every golden model, trained with costs of 1, groups of one column and no fixed features."""
    expected = golden_models.written(golden_models.MODELS[name]())

    def fit(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        d = X.shape[1]
        self.set_params(feature_costs=[1.0] * d, feature_groups=[[k] for k in range(d)], fixed_features=[])
        return fit_of[type(self)](self, X, *args, **kwargs)

    classes = [getattr(gtgbm, one) for one in dir(gtgbm) if hasattr(getattr(gtgbm, one), "fit")]
    fit_of = {cls: cls.fit for cls in classes}
    for cls in classes:
        monkeypatch.setattr(cls, "fit", fit)
    found = golden_models.written(golden_models.MODELS[name]())
    for parameter in ("feature_costs", "feature_groups", "fixed_features"):
        expected["parameters"].pop(parameter), found["parameters"].pop(parameter)
    assert found == expected


@pytest.mark.parametrize("selection", ["forward", "forward-backward"])
@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_a_budget_of_equal_costs_is_a_number_of_features(selection: str, search: str) -> None:
    X, y = table(np.random.default_rng(3), "dense")
    settings_: dict[str, Any] = {
        "selection": selection,
        "search": search,
        "random_state": 0,
        "n_estimators": 10,
    }
    by_cost = GTGBMRegressor(cost_budget=3.9, **settings_).fit(X, y)
    by_number = GTGBMRegressor(n_features_to_select=3, **settings_).fit(X, y)
    np.testing.assert_array_equal(by_cost.selected_features_, by_number.selected_features_)
    np.testing.assert_array_equal(by_cost.predict(X), by_number.predict(X))
    assert by_cost.total_cost_ == 3.0


def two_of_equal_information(seed: int) -> tuple[Any, Any, Any, int, int]:
    rng = np.random.default_rng(seed)
    cheap, expensive = rng.permutation(6)[:2].tolist()
    X, z = rng.normal(size=(300, 6)), rng.normal(size=300)
    X[:, [cheap, expensive]] = z[:, None] + 0.3 * rng.normal(size=(300, 2))
    costs = np.ones(6)
    costs[expensive] = 5.0
    return X, z + 0.5 * rng.normal(size=300), costs, cheap, expensive


@selects_few
@pytest.mark.parametrize(
    ("given_settings", "n_tables"),
    [
        ({"penalty": 0.05, "n_estimators": 10}, 100),
        ({"penalty": 0.05, "n_estimators": 10, "search": "group-testing"}, 100),
        ({"penalty": "auto", "n_estimators": 10}, 100),
        ({"cost_budget": 5.0, "n_estimators": 10}, 20),
    ],
)
def test_of_two_equal_features_the_cheap_one_is_selected(
    given_settings: dict[str, Any], n_tables: int
) -> None:
    hits = 0
    for seed in range(n_tables):
        X, y, costs, cheap, expensive = two_of_equal_information(seed)
        model = GTGBMRegressor(feature_costs=costs, random_state=0, **given_settings).fit(X, y)
        selected = set(model.selected_features_.tolist())
        hits += cheap in selected and expensive not in selected
    assert hits >= 0.95 * n_tables


WEAK = [1, 4, 7]


def table_with_weak_features(seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 10))
    return X, 0.5 * X[:, WEAK].sum(axis=1) + 0.5 * rng.normal(size=500)


@selects_few
@pytest.mark.parametrize(
    ("given_settings", "n_tables"),
    [
        ({"penalty": 0.25}, 20),
        ({"penalty": 0.25, "search": "group-testing"}, 20),
        ({"penalty": 0.25, "max_leaf_nodes": 4}, 20),
        ({"cost_budget": 1.0}, 4),
    ],
)
def test_a_group_of_weak_features_is_bought_if_it_is_paid_once(
    given_settings: dict[str, Any], n_tables: int
) -> None:
    bought = {"together": 0, "alone": 0}
    for seed in range(n_tables):
        X, y = table_with_weak_features(seed)
        for name, groups in (("together", [WEAK]), ("alone", None)):
            model = GTGBMRegressor(feature_groups=groups, n_estimators=10, random_state=0, **given_settings)
            bought[name] += set(WEAK) <= set(model.fit(X, y).selected_features_.tolist())
    assert bought == {"together": n_tables, "alone": 0}


@selects_few
def test_a_group_is_worth_what_its_features_say_together() -> None:
    """At a price above what each feature gains: neither noise nor three copies of one feature are bought."""
    for seed in range(10):
        X, y = table_with_weak_features(seed)
        X[:, [2, 3]] = X[:, [1]]
        model = GTGBMRegressor(
            feature_groups=[[0, 5, 6, 8, 9], [1, 2, 3]], penalty=0.3, n_estimators=5, random_state=0
        )
        assert model.fit(X, y).selected_features_.shape == (0,)


def test_the_history_of_a_group_that_is_worth_its_price_together() -> None:
    X, y = table_with_weak_features(0)
    model = GTGBMRegressor(feature_groups=[WEAK], penalty=0.25, n_estimators=5, random_state=0).fit(X, y)
    first, *others = model.selection_history_
    assert first.gain > first.price == pytest.approx(0.25)
    assert [entry.price for entry in others] == [0.0, 0.0]
    assert [entry.cost for entry in model.selection_history_] == [1.0, 0.0, 0.0]


def test_an_expensive_feature_is_worth_more_than_cheap_noise() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 20))
    y = 2.0 * X[:, 3] + 0.2 * X[:, 5] + rng.normal(size=600)
    costs = np.full(20, 0.5)
    costs[3] = 10.0
    model = GTGBMRegressor(feature_costs=costs, cost_budget=10.0, random_state=0).fit(X, y)
    assert model.selected_features_.tolist() == [3]


def test_history_says_what_was_paid() -> None:
    X, y = table(np.random.default_rng(0), "dense")
    y = X[:, 0] + X[:, 1] + X[:, 2]
    model = GTGBMRegressor(
        feature_groups={"source": [0, 1]},
        feature_costs={"source": 3.0, 2: 0.5},
        fixed_features=[9],
        n_estimators=10,
        random_state=0,
    ).fit(X, y)
    costs = {entry.feature: entry.cost for entry in model.selection_history_}
    prices = {entry.feature: entry.price for entry in model.selection_history_}
    first, second = sorted((0, 1), key=list(costs).index)
    assert (costs[first], costs[second], costs[2], costs[9]) == (3.0, 0.0, 0.5, 1.0)
    assert prices[first] == pytest.approx(0.003)
    assert prices[2] == pytest.approx(0.0005)
    assert prices[second] == prices[9] == 0.0
    assert model.selection_history_[0].feature == 9


@selects_few
def test_model_files_keep_costs_and_groups(tmp_path: Any) -> None:
    X, y = table(np.random.default_rng(1), "frame")
    model = GTGBMClassifier(
        feature_groups={"source": ["x0", "x1"]},
        feature_costs=pd.Series({"source": 2.0, "x5": np.inf, "x4": 0.1}),
        fixed_features=["x7"],
        cost_budget=5.0,
        n_estimators=5,
        random_state=0,
    ).fit(X, y > 0)
    model.save_model(tmp_path / "model.json")
    read = gtgbm.load_model(tmp_path / "model.json")
    assert read.total_cost_ == model.total_cost_
    assert [entry.cost for entry in read.selection_history_] == [
        entry.cost for entry in model.selection_history_
    ]
    assert read.feature_costs == {"source": 2.0, "x5": np.inf, "x4": 0.1}
    assert read.feature_groups == {"source": ["x0", "x1"]}
    np.testing.assert_array_equal(read.selected_features_, model.selected_features_)
    np.testing.assert_array_equal(read.fit(X, y > 0).predict(X), model.predict(X))


def test_warm_start_continues_within_the_budget() -> None:
    X, y = table(np.random.default_rng(2), "dense")
    model = GTGBMRegressor(
        cost_budget=4.0,
        feature_costs=np.linspace(0.5, 2.0, D),
        feature_groups=[[0, 1]],
        fixed_features=[11],
        selection="forward",
        warm_start=True,
        n_estimators=3,
        random_state=0,
    )
    with pytest.raises(ValueError, match="give the columns of a group the same cost"):
        model.fit(X, y)
    costs = np.linspace(0.5, 2.0, D)
    costs[1] = costs[0]
    before = model.set_params(feature_costs=costs).fit(X, y).selected_features_.tolist()
    after = model.set_params(n_estimators=12).fit(X, y)
    assert set(before) <= set(after.selected_features_.tolist())
    assert after.total_cost_ <= 4.0
    features = [entry.feature for entry in after.selection_history_]
    assert len(features) == len(set(features))
    with pytest.raises(ValueError, match=r"cost_budget=2\.1 is less than the cost .* of the previous fit"):
        model.set_params(cost_budget=2.1, n_estimators=20).fit(X, y)


NAMED = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 4)), columns=list("abcd"))


@pytest.mark.parametrize(
    ("given_settings", "message"),
    [
        ({"feature_costs": [1, -1, 1, 1]}, r"feature_costs has -1\.0 for column 'b': give 4 numbers"),
        ({"feature_costs": [1, np.nan, 1, 1]}, "feature_costs has nan for column 'b'"),
        ({"feature_costs": {"c": np.nan}}, "feature_costs has nan for column 'c'"),
        ({"feature_costs": [1, 2]}, r"feature_costs has shape \(2,\), but X has 4 columns"),
        ({"feature_costs": {"x": 2}}, r"feature_costs has \['x'\], which are not names of columns of X"),
        ({"feature_costs": {"a": "dear"}}, r"feature_costs\['a'\]=\['dear'\] holds something other than"),
        ({"feature_costs": [np.inf] * 4}, "feature_costs forbid all features"),
        ({"feature_groups": [["a", "b"], ["b", "c"]]}, "column 'b' in two groups.*merge the groups"),
        ({"feature_groups": [["a", "x"]]}, r"feature_groups\[0\] has \['x'\], which are not names"),
        ({"feature_groups": {"one": []}}, r"feature_groups\['one'\] has no columns"),
        ({"feature_groups": 3}, "feature_groups=3 is not a list of groups"),
        (
            {"feature_groups": {"one": ["a", "b"]}, "feature_costs": {"a": 2, "b": 3}},
            r"feature_costs has 2 and 3 for columns of feature_groups\['one'\].*or one under its name",
        ),
        (
            {"feature_groups": {"c": ["a", "b"]}, "feature_costs": {"c": 2}},
            r"feature_costs\['c'\] is the name of a group and of a column outside it: rename one",
        ),
        ({"fixed_features": ["x"]}, r"fixed_features has \['x'\], which are not names"),
        (
            {"fixed_features": ["a"], "feature_costs": {"a": np.inf}},
            "fixed_features has column 'a', whose feature_costs are infinite: give it a finite cost",
        ),
        (
            {"fixed_features": ["a", "b"], "feature_costs": {"a": 5}, "cost_budget": 5},
            "cost_budget=5 is less than the cost 6 of fixed_features: raise the budget",
        ),
        (
            {"fixed_features": ["a", "b"], "n_features_to_select": 1},
            "n_features_to_select=1 is less than the 2 fixed_features",
        ),
        ({"cost_budget": 0.5}, "cost_budget=0.5 is less than the cost 1 of the cheapest feature"),
        ({"cost_budget": -1}, "cost_budget=-1 is out of range"),
        ({"cost_budget": np.nan}, "cost_budget=nan is out of range"),
        ({"selection": "forward-backward"}, "n_features_to_select or cost_budget is met"),
    ],
)
def test_wrong_values_are_named_with_a_remedy(given_settings: dict[str, Any], message: str) -> None:
    y = np.arange(60) % 7
    with pytest.raises((TypeError, ValueError), match=message):
        GTGBMRegressor(**given_settings).fit(NAMED, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_any_number_of_threads_selects_the_same(n_jobs: int) -> None:
    case_ = case(4, "dense")
    settings_ = {
        "feature_costs": case_.costs,
        "feature_groups": [[0, 1]] if not case_.groups else case_.groups,
    }
    models = [
        GTGBMRegressor(cost_budget=9.0, n_jobs=jobs, random_state=0, n_estimators=8, **settings_).fit(
            case_.X, case_.y
        )
        for jobs in (1, n_jobs)
    ]
    first, second = (model.predict(case_.X) for model in models)
    np.testing.assert_array_equal(first, second)
