"""Compact models: the selected columns in, the same bits out."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from gtgbm import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSClassifier,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRegressor,
    MultitaskGTGBMRegressor,
)
from gtgbm.exact.arrays import F64
from tests.strategies import selects_few

CLASSIFIERS = [GTGBMClassifier, AGBMClassifier, GBFSClassifier]
REGRESSORS = [GTGBMRegressor, AGBMRegressor, GBFSRegressor]


def table(n_rows: int = 500) -> tuple[F64, F64]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 12))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, 2.0 * np.nan_to_num(X[:, 7]) + np.nan_to_num(X[:, 3]) + 0.1 * rng.normal(size=n_rows)


def target(method: Any, y: F64, n_classes: int) -> Any:
    if method in REGRESSORS:
        return y
    return np.array(["a", "b", "c"])[np.digitize(y, [0.0, 1.5] if n_classes == 3 else [0.0])]


METHODS: list[tuple[Any, dict[str, Any], int]] = [
    (method, {}, 2) for method in [*CLASSIFIERS, *REGRESSORS]
] + [
    (AGBMClassifier, {}, 3),
    (AGBMClassifier, {"loss": "squared_error"}, 2),
]


@pytest.mark.parametrize(("method", "parameters", "n_classes"), METHODS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_same_bits_as_the_full_model(method: Any, parameters: Any, n_classes: int, dtype: Any) -> None:
    X, y = table()
    X = X.astype(dtype)
    model = method(n_estimators=8, random_state=0, **parameters).fit(X, target(method, y, n_classes))
    small = model.compact()
    features = model.selected_features_
    assert features.shape[0] > 1
    assert [entry.feature for entry in model.selection_history_] != features.tolist()
    assert small.features_.tolist() == features.tolist()
    assert small.feature_names_ is None
    assert small.n_features_in_ == features.shape[0]
    calls = ["predict"] if method in REGRESSORS else ["predict", "predict_proba", "decision_function"]
    for call in calls:
        full = getattr(model, call)(X)
        part = X[:, features]
        for given in (part, np.asfortranarray(part), sparse.csr_matrix(part), sparse.csc_array(part)):
            predicted = getattr(small, call)(given)
            assert predicted.tobytes() == full.tobytes()
            assert (predicted.shape, predicted.dtype) == (full.shape, full.dtype)
        for k in range(5):
            for row in (part[k], part[k].tolist()):
                one = getattr(small, call)(row)
                assert np.shape(one) == full.shape[1:]
                assert np.asarray(one).tobytes() == getattr(model, call)(X[k : k + 1])[0].tobytes()
    if method in CLASSIFIERS:
        assert small.classes_.tolist() == model.classes_.tolist()


@pytest.mark.parametrize("method", [GTGBMClassifier, GTGBMRegressor])
@selects_few
def test_a_model_without_features(method: Any) -> None:
    X, y = table()
    model = method(n_estimators=3, penalty=0.99, random_state=0).fit(X, target(method, y, 2))
    small = model.compact()
    assert small.n_features_in_ == 0
    assert small.predict(np.empty((500, 0))).tobytes() == model.predict(X).tobytes()
    assert small.predict(np.empty(0)) == model.predict(X)[0]
    with pytest.raises(ValueError, match=r"shape \(3, 1\); 0 columns"):
        small.predict(np.empty((3, 1)))


def test_dataframes_are_matched_by_name() -> None:
    X, y = table()
    names = [f"column {k}" for k in range(12)]
    frame = pd.DataFrame(X, columns=names)
    model = AGBMRegressor(n_estimators=8).fit(frame, y)
    small = model.compact()
    chosen = [names[k] for k in model.selected_features_]
    assert small.feature_names_ is not None
    assert small.feature_names_.tolist() == chosen
    expected = model.predict(frame)
    # All columns, only the needed ones in another order, and an array in the order of the model.
    for given in (frame, frame[sorted(chosen)], frame[chosen].to_numpy()):
        assert small.predict(given).tobytes() == expected.tobytes()
    mixed = frame.assign(text="words").convert_dtypes()
    assert small.predict(mixed).tobytes() == expected.tobytes()
    assert small.predict(frame.iloc[3]) == expected[3]
    assert small.predict(frame[chosen].iloc[3].to_numpy()) == expected[3]
    with pytest.raises(ValueError, match=f"no columns '{chosen[1]}'; .*'{chosen[0]}'"):
        small.predict(frame.drop(columns=chosen[1]))


@pytest.mark.parametrize("frame", [False, True])
@pytest.mark.parametrize("is_multitask", [False, True])
def test_the_compact_model_takes_what_transform_gives(frame: bool, is_multitask: bool) -> None:
    X, y = table()
    given: Any = pd.DataFrame(X, columns=[f"column {k}" for k in range(12)]) if frame else X
    method = MultitaskGTGBMRegressor if is_multitask else AGBMRegressor
    targets = np.column_stack([y, -y + X[:, 0].clip(0.0)])
    targets[np.isnan(targets)] = 0.0
    model = method(n_estimators=8).fit(given, targets if is_multitask else y)
    taken = model.transform(given)
    assert model.compact().predict(taken).tobytes() == model.predict(given).tobytes()
    assert model.compact().features_.tolist() == model.selected_features_.tolist()
    assert model.selected_features_.tolist() == model.get_support(indices=True).tolist()
    if frame:
        assert model.selected_feature_names_.tolist() == model.get_feature_names_out().tolist()
        assert model.compact().predict(given[given.columns[::-1]]).tobytes() == model.predict(given).tobytes()
        model.fit(X, targets if is_multitask else y)
    assert not hasattr(model, "selected_feature_names_")


def test_a_nameless_model_takes_the_columns_of_dataframes_in_their_order() -> None:
    X, y = table()
    model = AGBMRegressor(n_estimators=3).fit(X, y)
    part = X[:, model.selected_features_]
    assert model.compact().predict(pd.DataFrame(part)).tobytes() == model.predict(X).tobytes()


@pytest.mark.parametrize("method", [GTGBMClassifier, GTGBMRegressor])
def test_pickle(method: Any) -> None:
    X, y = table()
    model = method(n_estimators=20, random_state=0).fit(X, target(method, y, 2))
    small = model.compact()
    written = pickle.dumps(small)
    twin = pickle.loads(written)
    part = X[:, model.selected_features_]
    assert twin.predict(part).tobytes() == small.predict(part).tobytes()
    assert repr(twin) == repr(small)
    n_nodes = sum(tree.n_nodes for tree in model.trees_)
    assert len(written) < 4000 + 30 * n_nodes
    assert len(written) < len(pickle.dumps(model))
    broken = twin._forest.packed._replace(left=np.full(n_nodes, 2**30, dtype=np.int32))
    twin._forest.packed = broken
    with pytest.raises(ValueError, match="child out of range"):
        pickle.loads(pickle.dumps(twin))


def test_nothing_can_be_changed() -> None:
    X, y = table()
    model = AGBMClassifier(n_estimators=3).fit(X, target(AGBMClassifier, y, 2))
    for small in (model.compact(), pickle.loads(pickle.dumps(model.compact()))):
        for name in ("features_", "classes_", "n_features_in_", "other"):
            with pytest.raises(AttributeError):
                setattr(small, name, 3)
        for array in (small.features_, small.classes_):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[1]
    # The estimator's own arrays stay as they were, and another fit leaves the compact model alone.
    before = small.predict_proba(X[:, small.features_])
    model.selected_features_[0] = 0
    model.fit(X[::-1], target(AGBMClassifier, y, 2))
    assert small.predict_proba(X[:, small.features_]).tobytes() == before.tobytes()


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_any_number_of_threads(n_jobs: int) -> None:
    X, y = table(20_000)
    model = AGBMRegressor(n_estimators=10).fit(X, y)
    part = X[:, model.selected_features_]
    expected = model.predict(X).tobytes()
    assert model.set_params(n_jobs=n_jobs).compact().predict(part).tobytes() == expected


def test_wrong_input_is_refused() -> None:
    X, y = table()
    for method in (*CLASSIFIERS, *REGRESSORS):
        with pytest.raises(NotFittedError):
            method().compact()
    model = AGBMRegressor(n_estimators=5, n_features_to_select=2).fit(X, y)
    small = model.compact()
    assert small.features_.tolist() == [3, 7]
    for bad in (X, X[0], X[:, :1], X[None, :, :2], np.float64(3.0), sparse.csr_matrix(X)):
        with pytest.raises(ValueError, match=r"2 columns \(3, 7 of the training table\).*\(rows, 2\)"):
            small.predict(bad)
    with pytest.raises(ValueError, match="strings"):
        small.predict([["words", "more words"]])
    with pytest.raises(ValueError, match="omplex"):
        small.predict(np.ones((2, 2)) * 1j)
    with pytest.raises((TypeError, ValueError), match="n_jobs="):
        model.set_params(n_jobs=0).compact().predict(X[:, [7, 3]])


@pytest.mark.parametrize("several", [[1.0, 2.0], np.ones(3), np.ones(1), pd.Series([1.0])], ids=repr)
def test_a_row_by_name_refuses_several_values(several: Any) -> None:
    X, y = table()
    frame = pd.DataFrame(X[:, [7, 3]], columns=["a", "b"]).assign(city=np.where(y > 0, "Rome", "Oslo"))
    small = GTGBMRegressor(penalty=0, n_estimators=5, random_state=0).fit(frame, y).compact()
    one = small.predict({"a": 1.0, "b": 1.0, "city": "Rome"})
    assert small.predict({"a": np.array(1.0), "b": np.float32(1.0), "city": np.array("Rome")}) == one
    for name in ("a", "b", "city"):
        with pytest.raises(ValueError, match=f"X: '{name}' holds several values .* give a dataframe"):
            small.predict({"a": 1.0, "b": 1.0, "city": "Rome"} | {name: several})


def test_no_rows() -> None:
    X, y = table()
    small = AGBMClassifier(n_estimators=3).fit(X, y > 0).compact()
    assert small.predict_proba(np.empty((0, small.n_features_in_))).shape == (0, 2)


@selects_few
def test_a_model_that_selected_nothing_takes_a_dataframe_without_columns() -> None:
    X, y = table()
    frame = pd.DataFrame(X).add_prefix("x")
    model = GTGBMRegressor(penalty=0.99, n_estimators=2).fit(frame, y)
    assert model.selected_features_.shape == (0,)
    np.testing.assert_array_equal(model.compact().predict(frame[[]]), model.predict(frame))


@pytest.mark.parametrize(
    ("method", "parameters", "n_classes"), [*METHODS, (GTGBMRegressor, {"loss": "poisson"}, 2)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_prepared_call_has_the_same_bits(method: Any, parameters: Any, n_classes: int, dtype: Any) -> None:
    X, y = table()
    X = X.astype(dtype)
    y = target(method, y, n_classes)
    y = np.exp(y) if parameters.get("loss") == "poisson" else y
    model = method(n_estimators=8, random_state=0, **parameters).fit(X, y)
    small, features = model.compact(), model.selected_features_
    predict = small.prepare()
    for row in X[:50, features]:
        expected = small.predict(row) if method in REGRESSORS else small.predict_proba(row)
        expected = expected[1] if expected.shape == (2,) else expected
        strided = np.repeat(row, 2)[::2]
        for given in (row, strided, memoryview(row)):
            found = predict(given)
            assert isinstance(found, np.ndarray if n_classes == 3 else float)
            assert np.asarray(found).tobytes() == expected.tobytes()


def test_a_prepared_call_of_many_columns_and_of_none() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 200))
    y = X.sum(axis=1)
    small = AGBMRegressor(n_estimators=40, penalty=0.0, random_state=0).fit(X, y).compact()
    assert small.n_features_in_ > 128
    row = X[0, small.features_]
    assert small.prepare()(row) == small.predict(row)
    with pytest.warns(UserWarning, match="constant"):
        nothing = AGBMRegressor(n_estimators=2, random_state=0).fit(X, np.ones(300)).compact()
    assert nothing.prepare()(np.empty(0)) == 1.0


def test_a_prepared_call_refuses_other_rows() -> None:
    X, y = table()
    predict: Any = AGBMRegressor(n_estimators=2, random_state=0).fit(X[:, [3, 7]], y).compact().prepare()
    row: Any
    for row in (np.zeros(3), np.zeros((1, 2)), np.array(0.0), np.empty(0)):
        with pytest.raises(ValueError, match=r"give an array of shape \(2,\)"):
            predict(row)
    for row in (
        np.zeros(2, dtype=np.int64),
        np.zeros(2, dtype=">f8"),
        np.zeros(2, dtype=np.complex128),
        b"ab",
    ):
        with pytest.raises(TypeError, match="give an array of float64 or float32"):
            predict(row)
    for not_a_row in ([0.0, 0.0], None, {"a": 1.0}):
        with pytest.raises(TypeError):
            predict(not_a_row)
    frame = pd.DataFrame({"a": ["x", "y"] * 50, "b": np.arange(100.0)})
    small = AGBMRegressor(n_estimators=2, random_state=0).fit(frame, np.arange(100) % 2).compact()
    with pytest.raises(ValueError, match=r"prepare\(\).*'a'.*row by name"):
        small.prepare()
