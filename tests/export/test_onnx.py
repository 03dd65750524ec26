"""Models in ONNX: rows of type float32 go the same way there, scores are those here up to float32."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gtgbm import (
    AGBMClassifier,
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMRegressor,
    export,
)
from gtgbm.exact.arrays import F64
from gtgbm.export.onnx_model import onnx_model
from gtgbm.export.onnx_steps import ML_OPSET, OPSET, rounded_down
from gtgbm.losses import LossFunction
from tests.export.models import Case, cases

RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 6)).astype(np.float32)
X[RNG.random(X.shape) < 0.1] = np.nan
X[:, 3] = RNG.integers(0, 40, 500)
SIGNAL = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2]) + 2.0 * (X[:, 3] == 33)
TEXT = np.array(["low", "mid", "high"])[np.digitize(SIGNAL, [-1, 1])]
SETTINGS: dict[str, Any] = {"n_estimators": 10, "categorical_features": [3], "random_state": 0}


def outputs(content: bytes, table: Any = X) -> dict[str, Any]:
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": table}), strict=True))


def of_model(model: Any, table: Any = X) -> dict[str, Any]:
    return outputs(onnx_model(export.plain_model(model)).SerializeToString(), table)


@given(cases(as_float32=True))
def test_any_trees_have_the_same_leaves(case: Case) -> None:
    found = of_model(case.estimator, case.X.astype(np.float32))
    if not hasattr(case.estimator, "classes_"):
        np.testing.assert_allclose(found["variable"].T, case.scores, rtol=1e-5, atol=1e-5)
        return
    p = case.estimator.predict_proba(case.X)
    np.testing.assert_allclose(found["probabilities"], p, rtol=1e-5, atol=1e-5)
    is_clear = np.sort(p, axis=1)[:, -1] - np.sort(p, axis=1)[:, -2] > 1e-4
    np.testing.assert_array_equal(found["label"][is_clear], case.estimator.predict(case.X)[is_clear])


@given(st.floats(allow_nan=False), st.floats(allow_nan=False, width=32))
def test_rounded_thresholds_divide_float32_as_before(threshold: float, value: float) -> None:
    rounded = float(rounded_down(np.array([threshold]))[0])
    assert np.float64(np.float32(rounded)) == rounded
    assert (value <= rounded) == (value <= threshold)


@pytest.mark.parametrize(
    ("estimator", "y", "label_type"),
    [
        (GTGBMClassifier(**SETTINGS), SIGNAL > 0, np.int64),
        (GTGBMClassifier(**SETTINGS), np.where(SIGNAL > 0, "yes", "no"), object),
        (GTGBMClassifier(**SETTINGS), TEXT, object),
        (AGBMClassifier(loss="squared_error", **SETTINGS), np.where(SIGNAL > 0, 7, 3), np.int64),
    ],
)
def test_labels_and_probabilities(estimator: Any, y: Any, label_type: Any) -> None:
    model = estimator.fit(X, y)
    found = of_model(model)
    assert list(found) == ["label", "probabilities"]
    assert found["label"].dtype == label_type
    np.testing.assert_array_equal(found["label"], model.predict(X))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson", "tweedie"])
def test_numbers(loss: str) -> None:
    model = GTGBMRegressor(loss=loss, **SETTINGS).fit(X, np.exp(SIGNAL))
    found = of_model(model)
    assert found["variable"].shape == (500, 1)
    np.testing.assert_allclose(found["variable"][:, 0], model.predict(X), rtol=1e-5)


def test_a_large_mean_costs_no_precision_of_trees() -> None:
    model = GTGBMRegressor(**SETTINGS).fit(X, SIGNAL + 1e6)
    np.testing.assert_allclose(of_model(model)["variable"][:, 0], model.predict(X), rtol=0, atol=0.07)


def test_rankers_tasks_and_versions(tmp_path: Path) -> None:
    ranker = GTGBMRanker(**SETTINGS).fit(X, np.digitize(SIGNAL, [-1, 1]), qid=np.arange(500) // 10)
    np.testing.assert_allclose(of_model(ranker)["variable"][:, 0], ranker.predict(X), rtol=1e-5, atol=1e-6)
    tasks = MultitaskGTGBMRegressor(n_estimators=5, random_state=0)
    tasks.fit(X, SIGNAL, task=np.arange(500) % 2)
    tasks.export_onnx(tmp_path / "task{task}.onnx")
    for task in (0, 1):
        found = outputs((tmp_path / f"task{task}.onnx").read_bytes())["variable"][:, 0]
        np.testing.assert_allclose(found, tasks.predict(X, task=[task] * 500), rtol=1e-5, atol=1e-6)
    versions = {one.domain: one.version for one in onnx.load(tmp_path / "task0.onnx").opset_import}
    assert versions == {"": OPSET, "ai.onnx.ml": ML_OPSET}


def test_dataframes_by_their_codes() -> None:
    frame = pd.DataFrame({"size": X[:, 0], "town": np.array(["Ulm", "Bonn", None])[np.arange(500) % 3]})
    model = GTGBMRegressor(n_estimators=10, penalty=0.0, random_state=0)
    model.fit(frame, np.nan_to_num(X[:, 0]) + (frame["town"] == "Ulm") - frame["town"].isna())
    for rows in (frame, frame.assign(town="Graz")):
        found = of_model(model, export.encode_table(model, rows).astype(np.float32))
        np.testing.assert_allclose(found["variable"][:, 0], model.predict(rows), rtol=1e-5, atol=1e-6)


def test_categories_beyond_float32_are_refused(tmp_path: Path) -> None:
    codes = np.where(np.arange(400) % 2, 2.0**24 + 1, 1.0)[:, None]
    model = AGBMClassifier(n_estimators=2, categorical_features=[0], penalty=0.0, min_samples_leaf=5)
    model.fit(codes, np.arange(400) % 2)
    model.trees_[0].threshold[0] = 2.0**24 + 1
    with pytest.raises(ValueError, match="not a number of type float32"):
        model.export_onnx(tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("zipmap", [True, False])
@pytest.mark.parametrize("y", [SIGNAL > 0, TEXT])
def test_pipelines_are_converted(y: Any, zipmap: bool) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    export.register_onnx_converters()
    scaled = np.nan_to_num(X)
    model = make_pipeline(StandardScaler(), GTGBMClassifier(n_estimators=10, random_state=0)).fit(scaled, y)
    made = skl2onnx.to_onnx(model, scaled[:1], options={"zipmap": zipmap})
    found = outputs(made.SerializeToString(), scaled)
    # The scaler rounds to float32 as well, so that a value next to a threshold may go the other way.
    p = list(found.values())[1]
    p = np.array([list(row.values()) for row in p]) if zipmap else p
    close = np.isclose(p, model.predict_proba(scaled), rtol=1e-4, atol=1e-5).all(axis=1)
    assert close.mean() > 0.98
    np.testing.assert_array_equal(next(iter(found.values()))[close], model.predict(scaled)[close])


@pytest.mark.parametrize("y", [SIGNAL > 0, TEXT])
def test_calibrated_classifiers_are_converted(y: Any) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    export.register_onnx_converters()
    table = np.nan_to_num(X)
    model = CalibratedClassifierCV(GTGBMClassifier(n_estimators=5, random_state=0), cv=2).fit(table, y)
    made = skl2onnx.to_onnx(model, table[:1], options={id(model): {"zipmap": False}})
    found = outputs(made.SerializeToString(), table)["probabilities"]
    np.testing.assert_allclose(found, model.predict_proba(table), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (GTGBMClassifier(n_estimators=5, random_state=0), SIGNAL > 0),
        (GTGBMClassifier(n_estimators=5, random_state=0), TEXT),
        (AGBMClassifier(n_estimators=5, loss="squared_error"), SIGNAL > 0),
    ],
)
def test_scores_instead_of_probabilities(estimator: Any, y: Any) -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    export.register_onnx_converters()
    model = estimator.fit(X, y)
    made = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False, "raw_scores": True})
    found = list(outputs(made.SerializeToString()).values())
    scores = model.decision_function(X)
    expected = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
    np.testing.assert_allclose(found[1], expected, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(found[0], model.predict(X))


class Exponential(LossFunction):
    """Loss of AdaBoost, whose scores are half of the log-odds."""

    def value(self, y: F64, score: F64) -> F64:
        return np.asarray(np.exp((1 - 2 * y) * score))

    def gradient(self, y: F64, score: F64) -> F64:
        return np.asarray((1 - 2 * y) * np.exp((1 - 2 * y) * score))

    def curvature(self, y: F64, score: F64) -> F64:
        return np.asarray(np.exp((1 - 2 * y) * score))

    def predict(self, score: F64) -> F64:
        return np.asarray(1.0 / (1.0 + np.exp(-2.0 * score)))


@pytest.mark.filterwarnings("ignore:loss='custom' has a predict method")
def test_classifiers_of_losses_that_predict_their_own_way_give_scores() -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    model = GTGBMClassifier(loss=Exponential(), n_estimators=5, random_state=0).fit(X, SIGNAL > 0)
    found = of_model(model)
    assert list(found) == ["variable"]
    p = Exponential().predict(found["variable"][:, 0].astype(np.float64))
    np.testing.assert_allclose(p, model.predict_proba(X)[:, 1], rtol=1e-5)
    export.register_onnx_converters()
    with pytest.raises(ValueError, match=r"loss='custom' .* convert it with export_onnx"):
        skl2onnx.to_onnx(model, X[:1])


def test_regressors_are_converted_from_other_types() -> None:
    skl2onnx = pytest.importorskip("skl2onnx")
    export.register_onnx_converters()
    whole = np.nan_to_num(X * 4).astype(np.int64)
    model = GTGBMRegressor(n_estimators=10, random_state=0).fit(whole, SIGNAL)
    found = outputs(skl2onnx.to_onnx(model, whole[:1]).SerializeToString(), whole)
    np.testing.assert_allclose(found["variable"][:, 0], model.predict(whole), rtol=1e-5, atol=1e-6)


CALLS = {"onnx": "export_onnx", "skl2onnx": "register_onnx_converters"}


@pytest.mark.parametrize(("library", "call"), CALLS.items())
def test_the_extra_is_named(library: str, call: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = GTGBMRegressor(**SETTINGS).fit(X, SIGNAL)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"{call} needs {library}: pip install"):
        export.register_onnx_converters() if library == "skl2onnx" else model.export_onnx(tmp_path / "m.onnx")
    assert not list(tmp_path.iterdir())
