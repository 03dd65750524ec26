"""Models in files of skops and in MLflow; these are large, and without them tests are skipped by name."""

from __future__ import annotations

import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gtgbm import (
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
    losses,
)
from gtgbm.export import TRUSTED_TYPES

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
SIGNAL = X[:, 0] + X[:, 1]
CLASSES = np.digitize(SIGNAL, [-1, 1])
TASK = np.array(["a", "b"])[np.arange(200) % 2]
FRAME = pd.DataFrame({"size": X[:, 0], "town": np.array(["Ulm", "Bonn"])[np.arange(200) % 2]})
SETTINGS: dict[str, Any] = {"n_estimators": 4, "random_state": 0}

MODELS: dict[str, Any] = {
    "two classes": lambda: GTGBMClassifier(**SETTINGS).fit(X, SIGNAL > 0),
    "three classes": lambda: GTGBMClassifier(**SETTINGS).fit(X, CLASSES),
    "numbers": lambda: GTGBMRegressor(**SETTINGS).fit(X, SIGNAL),
    "huber": lambda: GTGBMRegressor(loss="huber", **SETTINGS).fit(X, SIGNAL),
    "quantile": lambda: GTGBMRegressor(loss=losses.Quantile(0.9), **SETTINGS).fit(X, SIGNAL),
    "median": lambda: GTGBMRegressor(loss="absolute_error", **SETTINGS).fit(X, SIGNAL),
    "tweedie": lambda: GTGBMRegressor(loss="tweedie", **SETTINGS).fit(X, np.exp(SIGNAL)),
    "ranking": lambda: GTGBMRanker(**SETTINGS).fit(X, CLASSES, qid=np.arange(200) // 10),
    "dataframe": lambda: GTGBMRegressor(**SETTINGS).fit(FRAME, X[:, 0] + (FRAME["town"] == "Ulm")),
    "tasks": lambda: MultitaskGTGBMClassifier(**SETTINGS).fit(X, SIGNAL > 0, task=TASK),
    "tasks of numbers": lambda: MultitaskGTGBMRegressor(**SETTINGS).fit(
        X, np.column_stack([SIGNAL, -SIGNAL])
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_skops_loads_models_with_the_stated_types(name: str) -> None:
    io = pytest.importorskip("skops.io", reason="skops is not installed")
    model = MODELS[name]()
    given = {"task": TASK} if name == "tasks" else {}
    table = FRAME if name == "dataframe" else X
    for one, rows in (
        (model, table),
        (model.compact(), table if name == "dataframe" else model.transform(X)),
    ):
        content = io.dumps(one)
        assert set(io.get_untrusted_types(data=content)) <= set(TRUSTED_TYPES)
        loaded = io.loads(content, trusted=TRUSTED_TYPES)
        np.testing.assert_array_equal(loaded.predict(rows, **given), one.predict(rows, **given))


def test_every_type_that_is_trusted_exists() -> None:
    for name in TRUSTED_TYPES:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(import_module(module), kind), type)


def test_mlflow_logs_and_serves_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, about its other dependencies
        mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
        monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
        model = MODELS["two classes"]()
        with mlflow.start_run():
            logged = mlflow.sklearn.log_model(
                model, name="model", skops_trusted_types=TRUSTED_TYPES, pip_requirements=["gtgbm"]
            )
        loaded = mlflow.pyfunc.load_model(logged.model_uri)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
