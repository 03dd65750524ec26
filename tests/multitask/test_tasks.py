"""Several tasks in turns: what features cost each of them, and that one task alone is an ordinary model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.utils import check_random_state

from gtgbm import GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMClassifier, MultitaskGTGBMRegressor
from gtgbm.boosting.sampling import Sampling
from gtgbm.exact.arrays import F64, I64
from gtgbm.explain import columns_as_bought
from tests.estimators.test_determinism import bytes_of
from tests.paper.plain_algorithm import Ensemble, Node, Purchase, Rules, TreeBuilder, best_of
from tests.paper.test_plain_algorithm import assert_same_tree
from tests.strategies import selects_few

N_TREES = 6
searches = pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
kinds = pytest.mark.parametrize("classifies", [False, True])
forms = pytest.mark.parametrize("form", [np.asarray, csr_matrix])


def tables(
    seed: int, n_tasks: int = 3, rows: int = 360, columns: int = 14, missing: float = 0.0
) -> tuple[F64, F64, I64]:
    """Make tasks with a feature in common and one of their own each, rows in any order."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, columns))
    task = rng.integers(0, n_tasks, rows)
    own = X[np.arange(rows), 2 + task]
    y = X[:, 0] + 0.8 * np.sin(2.0 * X[:, 1]) + 0.9 * own + 0.3 * rng.normal(size=rows)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y, task


def several(classifies: bool, **given: Any) -> Any:
    method = MultitaskGTGBMClassifier if classifies else MultitaskGTGBMRegressor
    return method(**{"n_estimators": N_TREES, "random_state": 0, "min_node_fraction": 0.05, **given})


def single(classifies: bool, **given: Any) -> Any:
    method = GTGBMClassifier if classifies else GTGBMRegressor
    return method(**{"n_estimators": N_TREES, "random_state": 0, "min_node_fraction": 0.05, **given})


def targets(classifies: bool, y: F64) -> NDArray[Any]:
    return (y > 0.2).astype(np.int64) if classifies else y


def assert_task_is(model: Any, name: Any, alone: Any, X: Any) -> None:
    """Compare one of several tasks with a model of its own, bit for bit."""
    assert bytes_of(model.trees_[name]) == bytes_of(alone.trees_)
    assert model.selection_history_[name] == alone.selection_history_
    assert model.task_features_[name].tolist() == alone.selected_features_.tolist()
    assert model.n_iter_[name] == alone.n_iter_
    assert model.evals_result_[name] == alone.evals_result_
    task = np.full(X.shape[0], name)
    for scores in ("predict", "predict_proba", "decision_function"):
        if hasattr(alone, scores):
            found = getattr(model, scores)(X, task=task)
            assert found.tobytes() == getattr(alone, scores)(X).tobytes()


@forms
@kinds
@searches
def test_one_task_is_an_ordinary_model(search: str, classifies: bool, form: Any) -> None:
    X, y, task = tables(0, n_tasks=1, missing=0.0 if form is csr_matrix else 0.1)
    table, target = form(X * (np.abs(X) > 0.4)), targets(classifies, y)
    model = several(classifies, search=search, group_penalty=0.011, task_penalty=0.007).fit(
        table, target, task
    )
    alone = single(classifies, search=search, penalty=0.011 + 0.007).fit(table, target)
    assert alone.n_selected_features_ > 1
    assert_task_is(model, 0, alone, table)
    assert model.selected_features_.tolist() == alone.selected_features_.tolist()
    assert model.shared_features_.shape == (0,)
    np.testing.assert_array_equal(model.feature_importances_, alone.feature_importances_)


@forms
@kinds
@searches
@pytest.mark.parametrize("how", [{"group_penalty": 0.0, "task_penalty": 0.02}, {"method": "independent"}])
def test_without_a_group_penalty_tasks_are_alone(
    search: str, classifies: bool, form: Any, how: dict[str, Any]
) -> None:
    X, y, task = tables(1)
    table, target = form(X), targets(classifies, y)
    given = {"group_penalty": 0.013, "task_penalty": 0.007, **how}
    model = several(classifies, search=search, **given).fit(table, target, task)
    penalty = given["group_penalty"] + given["task_penalty"]
    for name in model.tasks_:
        rows = task == name
        alone = single(classifies, search=search, penalty=penalty).fit(table[rows], target[rows])
        assert_task_is(model, name, alone, table)


def test_weights_of_a_task_alone() -> None:
    X, y, task = tables(2)
    weight = np.random.default_rng(0).integers(1, 4, y.shape[0]) * np.ones(y.shape[0])
    model = several(False, method="independent", search="exhaustive", task_penalty=0.001).fit(
        X, y, task, sample_weight=weight
    )
    for name in model.tasks_:
        rows = task == name
        alone = single(False, penalty=0.002, search="exhaustive").fit(
            X[rows], y[rows], sample_weight=weight[rows]
        )
        assert_task_is(model, name, alone, X)


class TaskBuilder(TreeBuilder):
    """A tree of one task: `rules.penalty` is μ_t, `shared` (Ω_G) what all tasks own together."""

    def __init__(
        self, X: F64, g: F64, owned: list[int], rules: Rules, tree: int, shared: list[int], limits: _Limits
    ) -> None:
        super().__init__(X, g, owned, replace(rules, limit=limits.task), tree)
        self.shared, self.limits = shared, limits
        self.task_price = self.price
        self._set_price()

    def _set_price(self) -> None:
        self.price = self.task_price if len(self.shared) > len(self.owned) else self.search_price

    @property
    def search_price(self) -> float:
        room = self.limits.shared is None or len(self.shared) < self.limits.shared
        return (self.rules.penalty + self.limits.group_penalty) * self.root_sse if room else np.inf

    def _children(self, parents: Sequence[int]) -> list[int]:
        self._set_price()
        return super()._children(parents)

    def _choose(self, node: Node, *, buys: bool) -> None:
        rows, min_leaf, tie = node.rows, self.rules.min_leaf, 1e-12 * self.root_sse
        super()._choose(node, buys=False)
        if not buys or not self._has_room() or rows.shape[0] < self.rules.min_node_rows:
            return
        net = 0.0
        every = range(self.X.shape[1])
        offers = [f for f in self.shared if f not in self.owned], self.task_price
        search = [f for f in every if f not in self.shared], self.search_price
        for features, price in (offers, search):
            split = best_of(self.X, features, self.g, rows, min_leaf, tie)
            if split.gain - price > max(net, node.gain):
                net, best, paid = split.gain - price, split, price
        if net > 0.0:
            node.feature, node.gain, node.left_rows = best.feature, best.gain, rows[best.left]
            self.owned.append(best.feature)
            if best.feature not in self.shared:
                self.shared.append(best.feature)
            shares = best.gain / self.root_sse, paid / self.root_sse
            self.purchases.append(Purchase(self.tree, best.feature, *shares))


class _Limits:
    def __init__(self, group_penalty: float, shared: int | None = None, task: int | None = None) -> None:
        self.group_penalty, self.shared, self.task = group_penalty, shared, task


def boost_tasks(
    X: Sequence[F64],
    y: Sequence[F64],
    rules: Sequence[Rules],
    limits: _Limits,
    rates: Sequence[float],
    in_parallel: bool = False,
) -> tuple[list[Ensemble], list[int]]:
    """Boost tasks in turns by squared error, as the method is written down; or all with what is known."""
    shared: list[int] = []
    owned: list[list[int]] = [[] for _ in y]
    found = [Ensemble([], [], np.full(one.shape[0], one.mean())) for one in y]
    for t in range(N_TREES):
        views = [list(shared) if in_parallel else shared for _ in y]
        for k, ensemble in enumerate(found):
            g = y[k] - ensemble.scores
            allowed = _Limits(limits.group_penalty, limits.shared, limits.task)
            if in_parallel and limits.shared is not None:
                each, rest = divmod(limits.shared - len(shared), len(y))
                allowed.shared = len(shared) + each + (k < rest)
            nodes, purchases = TaskBuilder(X[k], g, owned[k], rules[k], t, views[k], allowed).fit()
            for node in nodes:
                if node.feature < 0:
                    ensemble.scores[node.rows] += rates[k] * g[node.rows].mean()
            ensemble.trees.append(nodes)
            ensemble.purchases += purchases
        shared += dict.fromkeys(f for view in views for f in view if f not in shared)
    return found, shared


def assert_is_plain(
    X: F64, y: F64, task: I64, limits: _Limits, own: float | dict[int, float], **given: Any
) -> list[Ensemble]:
    """Fit both ways; trees, purchases and predictions are the same."""
    rate = given.pop("learning_rate", 0.1)
    model = several(
        False,
        search="exhaustive",
        test_rows=None,
        min_node_fraction=0.1,
        min_samples_leaf=5,
        group_penalty=limits.group_penalty,
        task_penalty=own,
        learning_rate=rate,
        n_features_to_select=limits.shared,
        n_features_per_task=limits.task,
        selection="forward",
        **given,
    ).fit(X, y, task)
    rows = [np.flatnonzero(task == name) for name in model.tasks_]
    penalties = own if isinstance(own, dict) else dict.fromkeys(model.tasks_, own)
    rates = rate if isinstance(rate, dict) else dict.fromkeys(model.tasks_, rate)
    rules = [
        Rules(
            0.0 if given.get("method") == "group-sparse" else penalties[name],
            min_leaf=5,
            min_node_rows=0.1 * at.shape[0],
        )
        for name, at in zip(model.tasks_, rows, strict=True)
    ]
    plain, shared = boost_tasks(
        [X[at] for at in rows],
        [y[at] for at in rows],
        rules,
        limits,
        [rates[name] for name in model.tasks_],
        given.get("task_order") == "parallel",
    )
    assert columns_as_bought(model).tolist() == shared
    assert model.selected_features_.tolist() == sorted(shared)
    for name, at, ensemble in zip(model.tasks_, rows, plain, strict=True):
        for tree, nodes in zip(model.trees_[name], ensemble.trees, strict=True):
            assert_same_tree(X[at], tree, nodes)
        history = [(entry.tree, entry.feature) for entry in model.selection_history_[name]]
        assert history == [(one.tree, one.feature) for one in ensemble.purchases]
        np.testing.assert_allclose(
            [entry.price for entry in model.selection_history_[name]],
            [one.price for one in ensemble.purchases],
            atol=1e-12,
        )
        np.testing.assert_allclose(model.predict(X[at], task[at]), ensemble.scores, rtol=0, atol=1e-6)
    return plain


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize(("group", "own"), [(0.02, 0.005), (0.005, 0.02), (0.03, 0.0), (0.1, 0.02)])
@pytest.mark.parametrize("seed", [0, 1])
def test_tasks_are_the_plain_method(seed: int, group: float, own: float, missing: float) -> None:
    X, y, task = tables(seed, rows=300, columns=8, missing=missing)
    plain = assert_is_plain(X, y, task, _Limits(group), own)
    prices = {round(one.price, 9) for ensemble in plain for one in ensemble.purchases}
    assert prices == {own, round(group + own, 9)}


@pytest.mark.parametrize(("shared", "each"), [(None, None), (2, None), (5, None), (5, 3)])
@pytest.mark.parametrize("seed", range(2))
@selects_few
def test_tasks_side_by_side_are_the_plain_method(seed: int, shared: int | None, each: int | None) -> None:
    X, y, task = tables(20 + seed, rows=300, columns=8)
    plain = assert_is_plain(X, y, task, _Limits(0.004, shared, each), 0.001, task_order="parallel")
    bought = [{one.feature for one in ensemble.purchases} for ensemble in plain]
    assert shared is None or len(set().union(*bought)) <= shared


def test_group_sparse_tasks_are_the_plain_method() -> None:
    X, y, task = tables(3, rows=300, columns=8)
    plain = assert_is_plain(X, y, task, _Limits(0.02), 0.01, method="group-sparse")
    assert {round(one.price, 9) for ensemble in plain for one in ensemble.purchases} == {0.0, 0.02}


def test_penalties_and_rates_of_single_tasks_are_the_plain_method() -> None:
    X, y, task = tables(4, rows=300, columns=8)
    own, rates = {0: 0.0, 1: 0.01, 2: 0.05}, {0: 0.3, 1: 0.1, 2: 0.5}
    assert_is_plain(X, y, task, _Limits(0.02), own, learning_rate=rates)


@pytest.mark.parametrize(("shared", "each"), [(2, None), (4, None), (None, 2), (5, 3)])
@pytest.mark.parametrize("seed", range(4))
def test_limits_are_the_plain_method(seed: int, shared: int | None, each: int | None) -> None:
    X, y, task = tables(10 + seed, rows=300, columns=8)
    plain = assert_is_plain(X, y, task, _Limits(0.004, shared, each), 0.001)
    bought = [{one.feature for one in ensemble.purchases} for ensemble in plain]
    assert shared is None or len(set().union(*bought)) == shared
    assert each is None or max(map(len, bought)) == each


def test_a_node_that_comes_too_late_for_a_new_feature_takes_one_on_offer() -> None:
    rng = np.random.default_rng(0)
    X, task = rng.normal(size=(480, 6)), np.repeat([0, 1], 240)
    is_high = X[:, 0] > 0.1
    # Both nodes below the root of task 1 want a feature that is new to all, when one more is allowed.
    new = np.where(is_high, 3.0 * (X[:, 2] > 0), 3.0 * (X[:, 3] > 0)) + (X[:, 1] > 0)
    y = 10.0 * is_high + np.where(task == 0, 3.0 * (X[:, 1] > 0), new) + 0.01 * rng.normal(size=480)
    first, second = assert_is_plain(X, y, task, _Limits(0.004, shared=3), 0.0001)
    assert [one.feature for one in first.purchases[:2]] == [0, 1]
    in_first_tree = [(one.feature, round(one.price, 6)) for one in second.purchases if one.tree == 0]
    assert in_first_tree[:3] == [(0, 0.0001), (3, 0.0041), (1, 0.0001)]


@kinds
@searches
@pytest.mark.parametrize("method", ["multitask", "group-sparse"])
def test_prices_in_the_history(method: str, search: str, classifies: bool) -> None:
    X, y, task = tables(5, n_tasks=4, rows=600, columns=40)
    model = several(
        classifies, search=search, method=method, group_penalty=0.01, task_penalty=0.004, n_estimators=15
    ).fit(X, targets(classifies, y), task)
    own = 0.0 if method == "group-sparse" else 0.004
    turns = [
        (entry.tree, k, name, entry)
        for k, name in enumerate(model.tasks_)
        for entry in model.selection_history_[name]
    ]
    known: list[int] = []
    for _, _, _, entry in sorted(turns, key=lambda turn: turn[:2]):
        is_new = entry.feature not in known
        assert entry.price == pytest.approx(own + 0.01 * is_new, abs=1e-12)
        assert entry.gain > entry.price
        known += [entry.feature] * is_new
    assert columns_as_bought(model).tolist() == known
    assert model.selected_features_.tolist() == sorted(known)
    assert_consistent(model)
    assert model.shared_features_.shape[0] > 0


def assert_consistent(model: Any) -> None:
    """Features of tasks, of all, and of the trees tell the same story."""
    assert list(model.trees_) == list(model.task_features_) == list(model.n_iter_) == model.tasks_
    times: dict[int, int] = {}
    for name in model.tasks_:
        features = model.task_features_[name].tolist()
        assert len(set(features)) == len(features)
        used = {int(f) for tree in model.trees_[name] for f in tree.feature if f >= 0}
        assert used == set(features)
        assert set(np.flatnonzero(model.task_importances_[name])) == used
        for feature in features:
            times[feature] = times.get(feature, 0) + 1
    assert set(model.selected_features_.tolist()) == set(times)
    assert set(model.shared_features_.tolist()) == {f for f, n in times.items() if n > 1}
    assert model.n_selected_features_ == len(times)
    assert np.flatnonzero(model.get_support()).tolist() == sorted(times)


# Once: tasks that owned their features from the start took those of other tasks as well, unlisted.
@kinds
@searches
@pytest.mark.parametrize("selection", ["forward", "forward-backward"])
@selects_few
def test_limits_hold(selection: str, search: str, classifies: bool) -> None:
    X, y, task = tables(6, columns=30)
    given = {"search": search, "group_penalty": 0.0, "task_penalty": 0.0, "n_estimators": 15}
    given["selection"] = selection
    target = targets(classifies, y)
    model = several(classifies, n_features_to_select=4, **given).fit(X, target, task)
    assert model.n_selected_features_ == 4
    assert_consistent(model)
    model = several(classifies, n_features_per_task=2, **given).fit(X, target, task)
    assert [len(features) for features in model.task_features_.values()] == [2, 2, 2]
    assert_consistent(model)


@searches
def test_columns_that_a_task_has_not_got_are_not_bought_by_it(search: str) -> None:
    X, y, task = tables(7)
    X[task == 1, 0] = np.nan
    model = several(False, search=search, group_penalty=0.01, task_penalty=0.0, n_estimators=12)
    model.fit(X, y, task)
    assert 0 not in model.task_features_[1]
    assert 0 in model.task_features_[0]
    assert 0 in model.task_features_[2]
    assert_consistent(model)


@searches
def test_a_sample_of_columns_holds_for_features_of_others(search: str) -> None:
    X, y, task = tables(8, columns=10)
    model = several(False, search=search, test_rows=None, colsample=0.4, group_penalty=0.01, task_penalty=0.0)
    model.set_params(n_estimators=20).fit(X, y, task)
    seed = int(check_random_state(0).randint(np.iinfo(np.int32).max))
    for name in model.tasks_:
        for t, tree in enumerate(model.trees_[name]):
            allowed = Sampling(1.0, 0.4, seed).columns_of(t, 10)
            assert allowed is not None
            assert allowed[tree.feature[tree.feature >= 0]].all()
