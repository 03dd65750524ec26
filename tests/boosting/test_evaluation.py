"""Eval sets, metrics, early stopping, callbacks, and fits that go on with the last one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_matrix
from sklearn import metrics as sk
from sklearn.base import clone

from gtgbm import (
    AGBMClassifier,
    AGBMRegressor,
    Callback,
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    Progress,
)
from gtgbm.exact.arrays import F64
from gtgbm.metrics import Metric
from tests.estimators.test_determinism import bytes_of

N = 400


def data(seed: int = 0, noise: float = 0.5) -> tuple[F64, F64]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 8))
    return X, X[:, 0] + np.sin(2.0 * X[:, 1]) + noise * rng.normal(size=N)


def test_every_set_and_metric_is_followed() -> None:
    (X, y), (A, a), (B, b) = data(), data(1), data(2)
    weight = np.random.default_rng(0).random(N)
    model = AGBMRegressor(n_estimators=6, eval_metric=["mae", "r2"])
    model.fit(X, y, eval_set=[(A, a), (B[:50], b[:50]), (A, a)], eval_sample_weight=[None, None, weight])
    assert list(model.evals_result_) == ["training", "validation_0", "validation_1", "validation_2"]
    assert list(model.evals_result_["training"]) == ["squared_error"]
    for k, (table, target, w) in enumerate([(A, a, None), (B[:50], b[:50], None), (A, a, weight)]):
        seen = model.evals_result_[f"validation_{k}"]
        assert list(seen) == ["squared_error", "mae", "r2"]
        assert {len(values) for values in seen.values()} == {6}
        predicted = model.predict(table)
        for name, expected in (
            ("squared_error", sk.mean_squared_error),
            ("mae", sk.mean_absolute_error),
            ("r2", sk.r2_score),
        ):
            assert seen[name][-1] == pytest.approx(expected(target, predicted, sample_weight=w))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_metrics_of_classifiers_get_probabilities(n_classes: int) -> None:
    (X, y), (A, a) = data(), data(1)
    labels, held_out = (
        np.array(["x", "y", "z"])[np.digitize(t, [0.0, 1.0][: n_classes - 1])] for t in (y, a)
    )
    names = ["log_loss", "accuracy"] if n_classes == 3 else ["auc", "accuracy"]
    model = AGBMClassifier(n_estimators=6, eval_metric=names).fit(X, labels, eval_set=(A, held_out))
    seen, p = model.evals_result_["validation_0"], model.predict_proba(A)
    assert list(seen) == ["log_loss", "accuracy"] if n_classes == 3 else ["log_loss", "auc", "accuracy"]
    assert seen["log_loss"][-1] == pytest.approx(sk.log_loss(held_out, p))
    assert seen["accuracy"][-1] == pytest.approx(model.score(A, held_out))
    if n_classes == 2:
        assert seen["auc"][-1] == pytest.approx(sk.roc_auc_score(held_out, p[:, 1]))


def worst(y: F64, prediction: F64) -> float:
    return float(np.abs(y - prediction).max())


def mean_error(y: F64, prediction: F64, weight: F64, queries: Any) -> float:
    assert queries is None
    return float(np.average(y - prediction, weights=weight))


class Closeness:
    """Larger is better."""

    greater_is_better = True

    def __call__(self, y: F64, prediction: F64) -> float:
        return -worst(y, prediction)


def test_metrics_of_ones_own() -> None:
    (X, y), (A, a) = data(), data(1)
    weighted = Metric("weighted", mean_error, False)
    model = AGBMRegressor(n_estimators=4, eval_metric=[worst, weighted, Closeness()])
    weight = np.random.default_rng(0).random(N)
    model.fit(X, y, eval_set=(A, a), eval_sample_weight=weight)
    seen = model.evals_result_["validation_0"]
    assert list(seen) == ["squared_error", "worst", "weighted", "Closeness"]
    assert seen["worst"][-1] == worst(a, model.predict(A)) == -seen["Closeness"][-1]
    assert seen["weighted"][-1] == pytest.approx(np.average(a - model.predict(A), weights=weight))
    assert model.best_iteration_ == np.argmin(seen["worst"]) + 1  # larger closeness


class Scripted:
    """A metric whose values are known in advance."""

    def __init__(self, name: str, values: list[float], greater_is_better: bool) -> None:
        self.__name__, self.values, self.greater_is_better = name, iter(values), greater_is_better

    def __call__(self, y: F64, prediction: F64) -> float:
        del y, prediction
        return next(self.values)


@pytest.mark.parametrize("greater_is_better", [False, True])
def test_the_last_metric_of_the_last_set_stops(greater_is_better: bool) -> None:
    (X, y), (A, a) = data(), data(1)
    # Two sets take turns; what the first sees does not count, nor what the other metric says.
    script = [9.0, 5.0, 8.0, 4.0, 7.0, 3.0, 6.0, 3.0, 5.0, 4.0, 4.0, 4.0, 3.0, 4.0, 2.0, 1.0]
    last = Scripted("last", [-v if greater_is_better else v for v in script], greater_is_better)
    other = Scripted("other", [float(k) for k in range(100)], True)
    model = AGBMRegressor(n_estimators=50, early_stopping_rounds=3, eval_metric=[other, last])
    model.fit(X, y, eval_set=[(A, a), (A, a)])
    assert model.best_iteration_ == model.n_iter_ == 3  # the first of equals
    assert len(model.trees_) == 3
    assert len(model.evals_result_["validation_1"]["last"]) == 6
    assert len(model.evals_result_["training"]["squared_error"]) == 6
    plain = AGBMRegressor(n_estimators=3).fit(X, y)
    assert bytes_of(plain.trees_) == bytes_of(model.trees_)
    assert plain.selection_history_ == model.selection_history_
    assert plain.predict(X).tobytes() == model.predict(X).tobytes()


@pytest.mark.parametrize("method", [AGBMRegressor, GTGBMRegressor, GTGBMClassifier])
def test_the_best_round_is_kept(method: Any) -> None:
    (X, y), (A, a) = data(noise=3.0), data(1, noise=3.0)
    targets = [np.digitize(t, [-1.0, 1.0]) if method is GTGBMClassifier else t for t in (y, a)]
    model = method(n_estimators=300, early_stopping_rounds=5, random_state=0)
    model.fit(X, targets[0], eval_set=(A, targets[1]))
    (values,) = model.evals_result_["validation_0"].values()
    assert model.n_iter_ == model.best_iteration_ == int(np.argmin(values)) + 1 < 295
    assert len(values) == model.n_iter_ + 5
    assert all(entry.tree < model.n_iter_ for entry in model.selection_history_)


def test_without_early_stopping_all_rounds_are_kept() -> None:
    (X, y), (A, a) = data(noise=3.0), data(1, noise=3.0)
    model = AGBMRegressor(n_estimators=60).fit(X, y, eval_set=(A, a))
    best = int(np.argmin(model.evals_result_["validation_0"]["squared_error"])) + 1
    assert model.best_iteration_ == best < model.n_iter_ == 60
    assert AGBMRegressor(n_estimators=2).fit(X, y).best_iteration_ is None


def test_weights_of_eval_sets_decide() -> None:
    (X, y), (A, a) = data(), data(1)
    half = np.arange(N) < 200
    spoilt = np.where(half, a, -5.0 * a)
    settings: dict[str, Any] = {"n_estimators": 60, "early_stopping_rounds": 3}
    by_half = AGBMRegressor(**settings).fit(X, y, eval_set=(A, spoilt), eval_sample_weight=half * 1.0)
    alone = AGBMRegressor(**settings).fit(X, y, eval_set=(A[half], a[half]))
    by_all = AGBMRegressor(**settings).fit(X, y, eval_set=(A, spoilt))
    assert by_half.n_iter_ == alone.n_iter_ > by_all.n_iter_


class Diary(Callback):
    def __init__(self, stop_after: int = 1000) -> None:
        self.stop_after = stop_after
        self.pages: list[tuple[str, Progress]] = []

    def start(self, progress: Progress) -> None:
        self.pages.append(("start", progress))

    def after_round(self, progress: Progress) -> bool | None:
        self.pages.append(("round", progress))
        return progress.round >= self.stop_after

    def end(self, progress: Progress) -> None:
        self.pages.append(("end", progress))


def test_callbacks_are_told_in_order() -> None:
    (X, y), (A, a) = data(), data(1)
    diary, rounds = Diary(), []
    model = AGBMRegressor(n_estimators=4, eval_metric="mae")
    model.fit(X, y, eval_set=(A, a), callbacks=[diary, lambda progress: rounds.append(progress.round)])
    assert [what for what, _ in diary.pages] == ["start", *["round"] * 4, "end"]
    assert [progress.round for _, progress in diary.pages] == [0, 1, 2, 3, 4, 4]
    assert rounds == [1, 2, 3, 4]
    first, last = diary.pages[0][1], diary.pages[-1][1]
    assert np.isnan(first.training_loss)
    assert first.validation_loss is None
    assert first.n_features == 0
    assert last.n_rounds == 4
    assert last.n_features == model.n_selected_features_
    for _, progress in diary.pages[1:-1]:
        k = progress.round - 1
        assert progress.training_loss == model.evals_result_["training"]["squared_error"][k]
        seen = model.evals_result_["validation_0"]
        assert progress.evaluations == {"validation_0": {name: values[k] for name, values in seen.items()}}
        assert progress.validation_loss == seen["mae"][k]


@pytest.mark.parametrize("as_function", [False, True])
def test_callbacks_may_stop(as_function: bool) -> None:
    X, y = data()
    diary = Diary(stop_after=3)
    stop: Any = (lambda progress: progress.round == 3) if as_function else diary
    witness = Diary()
    model = AGBMRegressor(n_estimators=50).fit(X, y, callbacks=[stop, witness])
    assert model.n_iter_ == 3
    assert [what for what, _ in witness.pages] == ["start", "round", "round", "round", "end"]
    assert bytes_of(model.trees_) == bytes_of(AGBMRegressor(n_estimators=3).fit(X, y).trees_)


# Once: after early stopping the end is told the loss and features of rounds that were dropped.
def test_the_end_is_told_of_the_model_that_is_kept() -> None:
    (X, y), (A, a) = data(noise=3.0), data(1, noise=3.0)
    diary = Diary()
    model = AGBMRegressor(n_estimators=100, early_stopping_rounds=20, penalty=0.0)
    model.fit(X, y, eval_set=(A, a), callbacks=[diary])
    end = diary.pages[-1][1]
    assert end.round == model.n_iter_
    assert end.n_features == model.n_selected_features_
    assert end.training_loss == model.evals_result_["training"]["squared_error"][model.n_iter_ - 1]


def warm_cases() -> dict[str, tuple[Any, dict[str, Any], Any, Any, dict[str, Any]]]:
    X, y = data()
    coded = np.column_stack([np.random.default_rng(5).integers(0, 5, N), X])
    sparse = csc_matrix(np.where(np.abs(X) < 0.5, 0.0, X))
    weight, classes = np.random.default_rng(6).random(N), np.digitize(y, [-1.0, 1.0])
    return {
        "regressor": (AGBMRegressor, {}, X, y, {}),
        "two classes": (AGBMClassifier, {}, X, y > 0, {}),
        "three classes": (AGBMClassifier, {}, X, classes, {}),
        "categories": (AGBMRegressor, {"categorical_features": [0]}, coded, y + coded[:, 0] % 2, {}),
        "sparse": (AGBMClassifier, {}, sparse, classes, {}),
        "weights": (AGBMRegressor, {"loss": "huber"}, X, y, {"sample_weight": weight}),
        "samples": (AGBMRegressor, {"subsample": 0.5, "colsample": 0.7, "random_state": 3}, X, y, {}),
        "quantiles": (AGBMRegressor, {"loss": "quantile"}, X, y, {}),
        "monotone": (AGBMRegressor, {"monotone_constraints": {0: 1, 1: -1}}, X, y, {}),
        "eval set": (AGBMRegressor, {"eval_metric": "mae"}, X, y, {"eval_set": data(1)}),
        "ranker": (GTGBMRanker, {"search": "exhaustive"}, X, classes, {"qid": np.arange(N) // 8}),
    }


@pytest.mark.parametrize("case", warm_cases())
def test_going_on_is_the_same_as_never_stopping(case: str) -> None:
    method, settings, X, y, fit = warm_cases()[case]
    if case == "ranker":  # a fit that goes on does not know how long its searches rested
        settings = settings | {"n_features_to_select": 1, "penalty": 0.0, "selection": "forward"}
    at_once = method(n_estimators=40, **settings).fit(X, y, **fit)
    model = method(n_estimators=20, warm_start=True, **settings).fit(X, y, **fit)
    model.set_params(n_estimators=40).fit(X, y, **fit)
    assert model.n_iter_ == 40
    assert bytes_of(model.trees_) == bytes_of(at_once.trees_)
    assert model.predict(X).tobytes() == at_once.predict(X).tobytes()
    assert model.selection_history_ == at_once.selection_history_
    assert model.evals_result_ == at_once.evals_result_
    assert model.best_iteration_ == at_once.best_iteration_


@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_owned_features_stay_owned(search: str) -> None:
    X, y = data()
    settings: dict[str, Any] = {"search": search, "random_state": 0, "penalty": 0.0, "warm_start": True}
    model = GTGBMRegressor(selection="forward", **settings)
    owned: list[int] = []
    for n_estimators, limit in ((3, 2), (30, 2), (60, 4)):
        model.set_params(n_estimators=n_estimators, n_features_to_select=limit).fit(X, y)
        bought = [entry.feature for entry in model.selection_history_]
        assert bought[: len(owned)] == owned
        assert len(bought) == len(set(bought)) == limit
        used = {int(f) for tree in model.trees_ for f in tree.feature if f >= 0}
        assert used == set(bought)
        owned = bought


# Once: rounds are counted from the first evaluation, so that fits which begin to validate only when they go
# on drop the wrong rounds: here those of the first fit are kept alone, or not even those.
def test_validation_may_begin_when_going_on() -> None:
    (X, y), (A, a) = data(), data(1)
    model = AGBMRegressor(n_estimators=20, warm_start=True).fit(X, y)
    model.set_params(n_estimators=300, early_stopping_rounds=5).fit(X, y, eval_set=(A, a))
    at_once = AGBMRegressor(n_estimators=300, early_stopping_rounds=5).fit(X, y, eval_set=(A, a))
    assert 21 < at_once.n_iter_ < 300
    assert model.n_iter_ == model.best_iteration_ == at_once.n_iter_


def test_going_on_after_early_stopping() -> None:
    (X, y), (A, a) = data(noise=3.0), data(1, noise=3.0)
    model = AGBMRegressor(n_estimators=200, early_stopping_rounds=5, warm_start=True).fit(
        X, y, eval_set=(A, a)
    )
    kept = model.n_iter_
    model.fit(X, y, eval_set=(A, a))
    assert model.n_iter_ == kept
    (values,) = model.evals_result_["validation_0"].values()
    assert len(values) == kept + 5


def test_what_cannot_go_on() -> None:
    X, y = data()
    model = AGBMClassifier(n_estimators=10, warm_start=True).fit(X, y > 0)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=r"n_estimators=9 is less than the 10 rounds"):
        model.set_params(n_estimators=9).fit(X, y > 0)
    with pytest.raises(ValueError, match="features"):
        model.set_params(n_estimators=12).fit(X[:, :5], y > 0)
    with pytest.raises(ValueError, match="classes that training did not see"):
        model.fit(X, np.digitize(y, [-1.0, 1.0]))
    assert model.predict_proba(X).tobytes() == before.tobytes()  # refused, not half done
    with pytest.raises(TypeError, match="warm_start='yes'"):
        AGBMRegressor().set_params(warm_start="yes").fit(X, y)


def test_clones_and_fits_without_warm_start_begin_anew() -> None:
    X, y = data()
    model = AGBMRegressor(n_estimators=5, warm_start=True).fit(X, y)
    copy = clone(model)
    assert copy.warm_start is True
    assert not hasattr(copy, "trees_")
    assert bytes_of(copy.fit(X[:, :4], y).trees_) == bytes_of(
        AGBMRegressor(n_estimators=5).fit(X[:, :4], y).trees_
    )


# Once: numpy's True is accepted (parameters.flag), but taken for False (BaseGTGBM._begins_anew).
def test_warm_start_of_numpy() -> None:
    X, y = data()
    diary = Diary()
    model = AGBMRegressor(n_estimators=5).set_params(warm_start=np.True_).fit(X, y)
    model.set_params(n_estimators=6).fit(X, y, callbacks=[diary])
    assert diary.pages[0][1].round == 5
