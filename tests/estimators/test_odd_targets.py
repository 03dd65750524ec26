"""Targets, weights and sets that are easily misread are refused by name, or read as they are meant."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gtgbm import (
    GTGBMClassifier,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
)
from tests.strategies import selects_few

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
IS_HIGH = X[:, 0] > 0
DAYS = pd.date_range("2020-01-01", periods=60)
TEXT = [("high" if one else "low") for one in IS_HIGH]
TASK = np.arange(60) % 2


def fit(method: Any, y: Any, table: Any = X) -> Any:
    given = {"task": TASK} if "Multitask" in method.__name__ else {}
    return method(n_estimators=3, random_state=0).fit(table, y, **given)


REGRESSORS = [GTGBMRegressor, MultitaskGTGBMRegressor]
CLASSIFIERS = [GTGBMClassifier, MultitaskGTGBMClassifier]


@pytest.mark.parametrize("method", REGRESSORS)
@pytest.mark.parametrize(
    "y", [DAYS, pd.Series(DAYS), DAYS.to_numpy(), DAYS.to_list(), pl.Series(DAYS.to_list()), DAYS - DAYS[3]]
)
@pytest.mark.parametrize("table", [X, pd.DataFrame(X, columns=list("abcd"))])
def test_dates_are_no_targets(method: Any, y: Any, table: Any) -> None:
    with pytest.raises(ValueError, match=r"^y holds dates or times \(.* in row 0\).*: give numbers"):
        fit(method, y, table)


@pytest.mark.parametrize("method", [*REGRESSORS, *CLASSIFIERS])
@pytest.mark.parametrize("table", [X, pd.DataFrame(X, columns=list("abcd"))])
def test_targets_that_are_missing(method: Any, table: Any) -> None:
    text: list[Any] = [*TEXT]
    text[7] = None
    is_high = pd.array(IS_HIGH, dtype="boolean")
    is_high[7] = pd.NA
    given = [text, pd.Series(text), pd.Series(text, dtype="string"), pl.Series(text), pd.Series(is_high)]
    for y in [*given, pd.Series(text, dtype="category")]:
        with pytest.raises(ValueError, match=r"^y holds (None|nan|<NA>|'low'|'high') in row \d"):
            fit(method, y, table)
    masked = np.ma.masked_array(IS_HIGH.astype(float), mask=np.arange(60) == 5)
    with pytest.raises(ValueError, match=r"^y is masked in row 5: leave"):
        fit(method, masked, table)


@pytest.mark.parametrize("method", CLASSIFIERS)
@pytest.mark.parametrize("table", [X, pd.DataFrame(X, columns=list("abcd"))])
def test_labels_of_several_types(method: Any, table: Any) -> None:
    mixed: list[Any] = [*TEXT]
    mixed[3] = 1
    for y in (mixed, np.array(mixed, dtype=object), pd.Series(mixed)):
        with pytest.raises(ValueError, match=r"^y holds labels of several types, such as '\w+' and 1: make"):
            fit(method, y, table)
    model = fit(method, pd.Series(IS_HIGH, dtype="boolean"), table)
    assert model.classes_.tolist() == [False, True]
    assert model.classes_.dtype == np.bool_


@pytest.mark.parametrize("method", REGRESSORS)
def test_text_is_no_number(method: Any) -> None:
    for y in (TEXT, np.array(TEXT), pd.Series(TEXT)):
        with pytest.raises(ValueError, match=r"^y holds '\w+' in row 0, which is no number: convert it, or"):
            fit(method, y)
    assert fit(method, [str(one) for one in X[:, 0]]).predict(
        X, *([TASK] if "Multi" in method.__name__ else [])
    )[0]


def test_eval_sets_are_read_the_same() -> None:
    model = GTGBMRegressor(n_estimators=2, random_state=0)
    with pytest.raises(ValueError, match=r"^eval_set\[0\]: y holds dates"):
        model.fit(X, X[:, 0], eval_set=(X, DAYS))
    with pytest.raises(ValueError, match=r"^eval_set\[0\]: y is masked"):
        model.fit(X, X[:, 0], eval_set=(X, np.ma.masked_less(X[:, 0], 0.0)))


def test_two_pairs_are_two_sets() -> None:
    y = X[:, 0] + X[:, 1]
    model = GTGBMRegressor(n_estimators=2, random_state=0)
    for tables in ((X[:30], X[30:]), (X[:30].tolist(), X[30:].tolist()), (X[:2], X[2:4])):
        pairs = tuple((one, y[: len(one)]) for one in tables)
        for sets in (pairs, list(pairs), tuple(list(pair) for pair in pairs)):
            model.fit(X, y, eval_set=sets)
            assert list(model.evals_result_) == ["training", "validation_0", "validation_1"]
    for one in (
        (X, y),
        (X.tolist(), y.tolist()),
        (X[:2].tolist(), y[:2].tolist()),
        (tuple(X[:2]), (1.0, 2.0)),
    ):
        assert list(model.fit(X, y, eval_set=one).evals_result_) == ["training", "validation_0"]


def test_masked_values_are_missing() -> None:
    mask = RNG.random(X.shape) < 0.2
    y = np.where(mask[:, 2], 3.0, 0.0) + X[:, 0]
    for dtype in (np.float64, np.float32, np.int64):
        values = (10 * X).astype(dtype)
        masked = np.ma.masked_array(values, mask)
        plain = np.where(mask, np.nan, values.astype(np.float64))
        one, other = fit(GTGBMRegressor, y, masked), fit(GTGBMRegressor, y, plain)
        assert 2 in one.selected_features_
        np.testing.assert_array_equal(one.predict(masked), other.predict(plain))
        np.testing.assert_array_equal(one.transform(masked), other.transform(plain))
        small = one.compact()
        np.testing.assert_array_equal(small.predict(masked[:, small.features_]), other.predict(plain))
        np.testing.assert_array_equal(small.predict(masked[3, small.features_]), other.predict(plain)[3])
        tasks = fit(MultitaskGTGBMRegressor, y, masked)
        np.testing.assert_array_equal(tasks.predict(masked, TASK), tasks.predict(plain, TASK))
    with pytest.raises(ValueError, match="sample_weight is masked"):
        GTGBMRegressor().fit(X, y, np.ma.masked_array(np.ones(60), mask[:, 0]))


@selects_few
@pytest.mark.parametrize("light", [False, True])
@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
def test_a_class_that_weighs_nothing(light: bool, loss: str) -> None:
    weight = np.where(light == IS_HIGH, 1e-14, 1.0)
    named = rf"sample_weight .* of class {light}( |$)"
    with pytest.raises(ValueError, match=named):
        GTGBMClassifier(n_estimators=3, loss=loss).fit(X, IS_HIGH, weight)
    with pytest.raises(ValueError, match=r"sample_weight .* class"):
        GTGBMClassifier(n_estimators=3, class_weight={light: 1e-14, not light: 1.0}).fit(X, IS_HIGH)
    tasks = MultitaskGTGBMClassifier(n_estimators=3)
    weight = np.where((light == IS_HIGH) & (TASK == 1), 1e-14, 1.0)
    with pytest.raises(ValueError, match=r"sample_weight .* class .* in task 1"):
        tasks.fit(X, IS_HIGH, TASK, weight)
    three = IS_HIGH.astype(int) + (X[:, 1] > 1)
    with pytest.raises(ValueError, match=r"sample_weight .* class"):
        GTGBMClassifier(n_estimators=3).fit(X, three, np.where(three == 2, 1e-14, 1.0))
    # What is light, but can be counted, is a model.
    p = (
        GTGBMClassifier(n_estimators=3)
        .fit(X, IS_HIGH, np.where(light == IS_HIGH, 1e-9, 1.0))
        .predict_proba(X)
    )
    assert np.isfinite(p).all()


def test_counts_that_weigh_nothing() -> None:
    y = np.where(IS_HIGH, 2.0, 0.0)
    with pytest.raises(ValueError, match="sample_weight leaves nothing of the targets above 0"):
        GTGBMRegressor(loss="poisson").fit(X, y, np.where(IS_HIGH, 1e-14, 1.0))


@pytest.mark.parametrize(("answer", "n_rounds"), [(True, 1), (np.True_, 1), (1, 4), ("go on", 4), (None, 4)])
def test_only_true_stops(answer: Any, n_rounds: int) -> None:
    model = GTGBMRegressor(n_estimators=4, random_state=0).fit(X, X[:, 0], callbacks=[lambda _: answer])
    assert model.n_iter_ == n_rounds


@pytest.mark.parametrize(
    "ids",
    [
        ["b", "a", 3],
        [3, 1, 2],
        [2.5, -1.0, 0.0],
        [True, False],
        [("a", 1), "a"],
        [datetime.date(2020, 1, 1), 7],
    ],
)
@pytest.mark.parametrize("as_array", [False, True])
def test_tasks_of_any_ids(ids: list[Any], as_array: bool) -> None:
    at = RNG.integers(0, len(ids), 60)
    task: Any = [ids[k] for k in at]
    if as_array:
        array = np.empty(60, dtype=object)
        array[:] = task
        task = np.array(task) if {type(one) for one in ids} < {int, float, bool} else array
    model = MultitaskGTGBMRegressor(n_estimators=2, random_state=0).fit(X, X[:, 0], task)
    assert model.tasks_ == list(dict.fromkeys(ids[k] for k in at))
    predicted = model.predict(X, task)
    for name in model.tasks_:
        rows = np.array([k for k in range(60) if ids[at[k]] == name])
        few = np.empty(len(rows), dtype=object)
        few[:] = [name] * len(rows)
        np.testing.assert_array_equal(model.predict(X[rows], few), predicted[rows])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_every_row_needs_a_task(missing: Any) -> None:
    task: list[Any] = ["a", "b"] * 30
    task[5] = missing
    with pytest.raises(ValueError, match="task holds NaN or None"):
        MultitaskGTGBMRegressor(n_estimators=2).fit(X, X[:, 0], task)
