"""The estimators as scikit-learn knows them: its own checks, pipelines, searches, selection, pandas."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gtgbm import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSClassifier,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRegressor,
)
from gtgbm.exact.arrays import F64
from tests.strategies import selects_few

CLASSIFIERS = [GTGBMClassifier, AGBMClassifier, GBFSClassifier]
REGRESSORS = [GTGBMRegressor, AGBMRegressor, GBFSRegressor]


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [method(n_estimators=5) for method in [*CLASSIFIERS, *REGRESSORS]]
    + [
        method(n_estimators=5, search="group-testing", test_rows=test_rows)
        for method in (GTGBMClassifier, GTGBMRegressor)
        for test_rows in ("auto", None)
    ]
)
@selects_few
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def table(n_rows: int = 400, n_columns: int = 12) -> tuple[F64, F64]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, 2.0 * X[:, 3] + X[:, 7] + 0.2 * rng.normal(size=n_rows)


def target_for(method: Any, y: F64) -> NDArray[Any]:
    return y if method in REGRESSORS else (y > 0.3).astype(np.int64)


@pytest.mark.parametrize("method", [*CLASSIFIERS, *REGRESSORS])
def test_pickle_and_clone(method: Any) -> None:
    X, y = table()
    y = target_for(method, y)
    model = method(n_estimators=8, random_state=0).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(X).tobytes() == model.predict(X).tobytes()
    assert copy.search_ == model.search_
    assert copy.search_.reason == model.search_.reason
    assert copy.selection_history_ == model.selection_history_
    unfitted = clone(model)
    with pytest.raises(NotFittedError):
        unfitted.predict(X)
    assert unfitted.get_params() == model.get_params()
    assert unfitted.fit(X, y).predict(X).tobytes() == model.predict(X).tobytes()


@pytest.mark.parametrize("method", [*CLASSIFIERS, *REGRESSORS])
def test_kind_of_estimator(method: Any) -> None:
    assert is_classifier(method()) == (method in CLASSIFIERS)
    assert is_regressor(method()) == (method in REGRESSORS)


@pytest.mark.parametrize("method", [*CLASSIFIERS, *REGRESSORS])
def test_docstring_describes_every_parameter_and_attribute(method: Any) -> None:
    X, y = table(100)
    model = method(n_estimators=2).fit(X, target_for(method, y))
    fitted = [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    for name in [*model.get_params(), *fitted]:
        assert f"\n{name} : " in method.__doc__, name


@pytest.mark.parametrize("method", [*CLASSIFIERS, *REGRESSORS])
def test_pipeline(method: Any) -> None:
    X, y = table()
    pipeline = make_pipeline(StandardScaler(), method(n_estimators=10, random_state=0))
    assert pipeline.fit(X, target_for(method, y)).score(X, target_for(method, y)) > 0.5


def test_selector_inside_a_pipeline() -> None:
    X, y = table()
    label = target_for(GTGBMClassifier, y)
    selector = GTGBMClassifier(n_estimators=20, n_features_to_select=2, random_state=0)
    pipeline = make_pipeline(selector, LogisticRegression()).fit(X, label)
    assert set(selector.selected_features_.tolist()) == {3, 7}
    assert pipeline[-1].n_features_in_ == 2
    assert pipeline.score(X, label) > 0.9


@selects_few
def test_grid_search_over_the_penalty() -> None:
    X, y = table()
    grid = {"penalty": [0.0, 0.01, 0.9]}
    search = GridSearchCV(GTGBMRegressor(n_estimators=10, random_state=0), grid, cv=3).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert search.best_params_["penalty"] < 0.9
    # Nothing gains nine tenths of the squared error at one split, so nothing is bought.
    assert scores[2] < 0.01 < scores[:2].min()


@pytest.mark.parametrize("method", [*CLASSIFIERS, *REGRESSORS])
def test_cross_validation(method: Any) -> None:
    X, y = table()
    scores = cross_val_score(method(n_estimators=20, random_state=0), X, target_for(method, y), cv=3)
    assert scores.shape == (3,)
    assert scores.min() > 0.5


@pytest.mark.parametrize("prefit", [False, True])
def test_select_from_model(prefit: bool) -> None:
    X, y = table()
    model = GTGBMRegressor(n_estimators=10, penalty=0.02, random_state=0)
    if prefit:
        model.fit(X, y)
    selector = SelectFromModel(model, prefit=prefit, threshold=1e-12)
    if not prefit:
        selector.fit(X, y)
    assert set(selector.get_support(indices=True).tolist()) == {3, 7}
    np.testing.assert_array_equal(selector.transform(X), X[:, [3, 7]])


@pytest.mark.parametrize("method", [*CLASSIFIERS, *REGRESSORS])
def test_pandas_names(method: Any) -> None:
    X, y = table()
    frame = pd.DataFrame(X, columns=[f"column {k}" for k in range(X.shape[1])])
    model = method(n_estimators=10, n_features_to_select=2, random_state=0).fit(frame, target_for(method, y))
    assert model.feature_names_in_.tolist() == list(frame.columns)
    support = model.get_support()
    assert support.dtype == np.bool_
    assert np.flatnonzero(support).tolist() == model.get_support(indices=True).tolist() == [3, 7]
    assert model.get_feature_names_out().tolist() == ["column 3", "column 7"]
    np.testing.assert_array_equal(model.transform(frame), X[:, [3, 7]])
    chosen = model.set_output(transform="pandas").transform(frame)
    pd.testing.assert_frame_equal(chosen, frame[["column 3", "column 7"]])
    np.testing.assert_array_equal(model.predict(frame[frame.columns[::-1]]), model.predict(frame))
    with pytest.raises(ValueError, match="no columns 'column 3'"):
        model.predict(frame.rename(columns={"column 3": "another"}))


def test_pandas_target_and_mixed_column_types() -> None:
    X, y = table()
    frame = pd.DataFrame(X)
    frame.columns = frame.columns.astype(str)
    frame["3"] = frame["3"].astype(np.float32)
    frame["0"] = (frame["0"] > 0).astype(np.int8)
    frame["1"] = frame["1"] > 0
    from_frame = AGBMRegressor(n_estimators=5).fit(frame, pd.Series(y, index=np.arange(400)[::-1]))
    from_array = AGBMRegressor(n_estimators=5).fit(frame.to_numpy(dtype=np.float64), y)
    assert from_frame.predict(frame).tobytes() == from_array.predict(frame.to_numpy(np.float64)).tobytes()


@pytest.mark.parametrize("method", CLASSIFIERS)
def test_many_classes(method: Any) -> None:
    X, y = table(900)
    names = np.array(["low", "middle", "high", "top"])[np.digitize(y, [-1.5, 0.0, 1.5])]
    model = method(n_estimators=25, random_state=0).fit(X, names)
    assert model.classes_.tolist() == ["high", "low", "middle", "top"]
    probability = model.predict_proba(X)
    assert probability.shape == model.decision_function(X).shape == (900, 4)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probability.argmax(axis=1)])
    assert len(model.trees_) == 4 * model.n_iter_ == 100
    assert model.score(X, names) > 0.8
    assert {3, 7} <= set(model.selected_features_.tolist())


@pytest.mark.parametrize("loss", ["log_loss", "squared_error"])
@pytest.mark.parametrize("method", CLASSIFIERS)
def test_two_classes_with_names(method: Any, loss: str) -> None:
    X, y = table()
    names = np.where(y > 0.3, "yes", "no")
    model = method(n_estimators=20, loss=loss, random_state=0).fit(X, names)
    assert model.classes_.tolist() == ["no", "yes"]
    probability, score = model.predict_proba(X), model.decision_function(X)
    assert probability.shape == (400, 2)
    assert score.shape == (400,)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, rtol=1e-12)
    assert ((probability >= 0) & (probability <= 1)).all()
    np.testing.assert_array_equal(model.predict(X), np.where(score > 0, "yes", "no"))
    np.testing.assert_array_equal(model.predict(X) == "yes", probability[:, 1] > 0.5)
    numbers = method(n_estimators=20, loss=loss, random_state=0).fit(X, (names == "yes").astype(np.int64))
    assert numbers.decision_function(X).tobytes() == score.tobytes()
    assert model.score(X, names) > 0.9
