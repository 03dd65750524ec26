"""Models kept from an earlier commit: a change of structure must train the same ones, byte for byte.

``python -m tests.estimators.golden_models`` writes the files anew, where a change of models is intended.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import gtgbm
from gtgbm import losses

FOLDER = Path(__file__).parent
_LEFT_OUT = ("timings", "written_by")
"""What differs between two fits of the same model, or between versions of the library."""


def _numbers(n: int = 400, d: int = 12, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 3)
    X[rng.random((n, d)) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 1] - 2.0 * X[:, 4] + X[:, 7] * X[:, 2])
    return X, np.round(signal + rng.normal(size=n), 3)


def _classes(k: int = 2, **shape: int) -> tuple[Any, Any]:
    X, y = _numbers(**shape)
    return X, np.digitize(y, np.quantile(y, np.arange(1, k) / k))


def _frame(n: int = 500) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "city": rng.choice(["Aachen", "Bonn", "Celle", "Dresden"], n),
            "wind": np.round(rng.normal(size=n), 2),
            "month": pd.Categorical(rng.choice(["jan", "feb", "mar"], n)),
            "rain": np.where(rng.random(n) < 0.1, np.nan, np.round(rng.gamma(1.0, size=n), 2)),
        }
    )
    return frame, (frame["city"] == "Bonn").to_numpy() ^ (frame["wind"] > 0.7).to_numpy()


def _wide(n: int = 300, d: int = 120) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, (X[:, 3] + X[:, 50] + 0.5 * rng.normal(size=n) > 0).astype(int)


def _counts(n: int = 300, d: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    X = sparse.random(n, d, 0.1, format="csr", random_state=7, data_rvs=lambda k: rng.integers(1, 5, k))
    return X.astype(np.float64), (np.asarray(X[:, :8].sum(axis=1)).ravel() > 2).astype(int)


def _tasks(n: int = 600) -> tuple[Any, Any, Any]:
    X, y = _numbers(n, seed=11)
    task = np.array(["a", "b", "c"])[np.arange(n) % 3]
    return X, y + np.where(task == "b", np.nan_to_num(X[:, 9]), 0.0), task


def _weights(n: int) -> Any:
    return np.round(np.random.default_rng(13).gamma(2.0, size=n), 2)


def _fit(cls: Any, data: tuple[Any, Any], fit: dict[str, Any] | None = None, **parameters: Any) -> Any:
    # These tables are too small for groups to be tested unasked.
    search = {"search": "group-testing"} if "search" in cls().get_params() else {}
    shape = {"n_estimators": 6, "min_node_fraction": 0.08, "random_state": 0}
    return cls(**shape | search | parameters).fit(*data, **fit or {})


def _different_classes(y: Any, task: Any) -> Any:
    return np.where(task == "a", 2 * (y > 0.0), np.digitize(y, [-1.0, 1.0]))


def _relevance(y: Any, task: Any) -> Any:
    return np.digitize(y, [-1.0, 1.0]) + (task == "b")


def _fit_tasks(cls: Any, fit: dict[str, Any] | None = None, labels: Any = None, **parameters: Any) -> Any:
    X, y, task = _tasks()
    if labels is not None:
        y = labels(y, task)
    elif cls is gtgbm.MultitaskGTGBMClassifier:
        y = y > 0.0
    shape = {"n_estimators": 5, "min_node_fraction": 0.1, "random_state": 0, "search": "group-testing"}
    return cls(**shape | parameters).fit(X, y, task=task, **fit or {})


def _fit_columns() -> Any:
    X, y = _numbers()
    Y = np.column_stack([y, np.where(np.arange(y.shape[0]) % 4 == 0, np.nan, np.nan_to_num(X[:, 5]) - y)])
    return gtgbm.MultitaskGTGBMRegressor(n_estimators=3, random_state=0).fit(X, Y)


def _fit_warm() -> Any:
    model = gtgbm.GTGBMClassifier(n_estimators=2, random_state=0, warm_start=True).fit(*_classes())
    return model.set_params(n_estimators=4).fit(*_classes())


def _queries() -> dict[str, Any]:
    return {"qid": np.arange(400) // 10}


MODELS: dict[str, Callable[[], Any]] = {
    "classifier": lambda: _fit(gtgbm.GTGBMClassifier, _classes()),
    "classifier-squared-error": lambda: _fit(gtgbm.GTGBMClassifier, _classes(), loss="squared_error"),
    "three-classes": lambda: _fit(gtgbm.GTGBMClassifier, _classes(3), n_estimators=3, search="auto"),
    "group-testing": lambda: _fit(gtgbm.GTGBMClassifier, _wide(), search="group-testing"),
    "group-testing-of-paper": lambda: _fit(
        gtgbm.GTGBMClassifier, _wide(), search="group-testing", test_rows=None, n_relevant=2, init="zero"
    ),
    "trend-tests": lambda: _fit(
        gtgbm.GTGBMRegressor, _numbers(3000, 60), search="group-testing", test_rows=400, n_estimators=4
    ),
    "limit": lambda: _fit(gtgbm.GTGBMRegressor, _numbers(), n_features_to_select=2, penalty=0.0),
    "limit-forward": lambda: _fit(
        gtgbm.GTGBMRegressor, _numbers(), n_features_to_select=2, penalty=0.0, selection="forward"
    ),
    "chance-price": lambda: _fit(gtgbm.GTGBMRegressor, _numbers(), penalty="auto"),
    "a-gbm-classifier": lambda: _fit(gtgbm.AGBMClassifier, _classes()),
    "a-gbm-regressor": lambda: _fit(gtgbm.AGBMRegressor, _numbers()),
    "gbfs-classifier": lambda: _fit(gtgbm.GBFSClassifier, _classes()),
    "gbfs-regressor": lambda: _fit(gtgbm.GBFSRegressor, _numbers(), penalty=20.0),
    "regressor": lambda: _fit(gtgbm.GTGBMRegressor, _numbers()),
    "regressor-weighted": lambda: _fit(gtgbm.GTGBMRegressor, _numbers(), {"sample_weight": _weights(400)}),
    "classifier-weighted": lambda: _fit(gtgbm.GTGBMClassifier, _classes(), {"sample_weight": _weights(400)}),
    "class-weight": lambda: _fit(gtgbm.GTGBMClassifier, _classes(), class_weight="balanced"),
    "newton": lambda: _fit(gtgbm.GTGBMClassifier, _classes(), criterion="newton"),
    "sampled": lambda: _fit(gtgbm.GTGBMRegressor, _numbers(), subsample=0.7, colsample=0.6),
    "monotone": lambda: _fit(gtgbm.GTGBMRegressor, _numbers(), monotone_constraints={1: 1, 4: -1}),
    "early-stopping": lambda: _fit(
        gtgbm.GTGBMClassifier, _classes(), early_stopping_rounds=2, n_estimators=40, eval_metric="auc"
    ),
    "eval-set": lambda: _fit(gtgbm.GTGBMRegressor, _numbers(), {"eval_set": [_numbers(100, seed=1)]}),
    "warm-start": _fit_warm,
    "absolute-error": lambda: _fit(gtgbm.GTGBMRegressor, _numbers(), loss="absolute_error"),
    "huber": lambda: _fit(gtgbm.GTGBMRegressor, _numbers(), loss="huber"),
    "quantile": lambda: _fit(gtgbm.GTGBMRegressor, _numbers(), loss=losses.Quantile(0.8)),
    "poisson": lambda: _fit(gtgbm.GTGBMRegressor, _classes(5), loss="poisson"),
    "tweedie": lambda: _fit(gtgbm.GTGBMRegressor, _classes(5), loss="tweedie"),
    "sparse": lambda: _fit(gtgbm.GTGBMClassifier, _counts()),
    "sparse-group-testing": lambda: _fit(gtgbm.GTGBMClassifier, _counts(), search="group-testing"),
    "dataframe": lambda: _fit(gtgbm.GTGBMClassifier, _frame(), search="auto"),
    "dataframe-by-column": lambda: _fit(gtgbm.AGBMClassifier, _frame(), categorical="column"),
    "lambdarank": lambda: _fit(gtgbm.GTGBMRanker, _classes(4), _queries()),
    "pairwise": lambda: _fit(gtgbm.GTGBMRanker, _classes(4), _queries(), loss="pairwise"),
    "tasks-classifier": lambda: _fit_tasks(gtgbm.MultitaskGTGBMClassifier),
    "tasks-regressor": lambda: _fit_tasks(gtgbm.MultitaskGTGBMRegressor, n_features_to_select=3),
    "tasks-forward": lambda: _fit_tasks(
        gtgbm.MultitaskGTGBMRegressor, n_features_to_select=3, selection="forward"
    ),
    "tasks-group-sparse": lambda: _fit_tasks(gtgbm.MultitaskGTGBMRegressor, method="group-sparse"),
    "tasks-independent": lambda: _fit_tasks(gtgbm.MultitaskGTGBMClassifier, method="independent"),
    "tasks-in-one": lambda: _fit_tasks(gtgbm.MultitaskGTGBMRegressor, method="single-task", search="auto"),
    "tasks-parallel": lambda: _fit_tasks(gtgbm.MultitaskGTGBMRegressor, task_order="parallel"),
    "tasks-common-trees": lambda: _fit_tasks(gtgbm.MultitaskGTGBMRegressor, n_common_rounds=2),
    "tasks-weighted": lambda: _fit_tasks(
        gtgbm.MultitaskGTGBMClassifier, {"sample_weight": _weights(600)}, early_stopping_rounds=3
    ),
    "tasks-by-column": _fit_columns,
    "tasks-classes": lambda: _fit_tasks(gtgbm.MultitaskGTGBMClassifier, labels=_different_classes),
    "tasks-rankings": lambda: _fit_tasks(
        gtgbm.MultitaskGTGBMRanker, {"qid": np.arange(600) // 30}, labels=_relevance, n_common_rounds=2
    ),
}
"""A function that trains each of the models, by name."""


def written(model: Any) -> dict[str, Any]:
    """Return a model file's content, without what differs from fit to fit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(path)
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for part in content["parts"]:
        del part["search"]["reason"]  # a sentence for people
    return {name: value for name, value in content.items() if name not in _LEFT_OUT}


def arithmetic() -> str:
    """Return a fingerprint of the functions of numpy whose last bit depends on the processor."""
    values = np.linspace(0.01, 20.0, 997)
    found = np.concatenate([np.log(values), np.exp(-values), np.logaddexp(0.0, values), np.log1p(values)])
    return hashlib.sha256(found.tobytes()).hexdigest()[:16]


def read(name: str) -> tuple[str, dict[str, Any]]:
    """Return the arithmetic under which a model was kept, and the model."""
    kept = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return kept["arithmetic"], kept["model"]


def write(name: str) -> None:
    """Train a model and keep it."""
    kept = {"arithmetic": arithmetic(), "model": written(MODELS[name]())}
    (FOLDER / f"{name}.json").write_text(json.dumps(kept) + "\n", encoding="utf-8")
