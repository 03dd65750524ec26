"""Model files served with numpy alone: predictions are those of the estimators, bit for bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings

from gtgbm import (
    AGBMClassifier,
    GTGBMClassifier,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRanker,
    MultitaskGTGBMRegressor,
    load_model,
    losses,
    save_model,
    serving,
)
from gtgbm.losses import NAMED_LOSSES, Tweedie
from tests.export.models import Case, cases

FILES = Path(__file__).parents[1] / "model_file" / "v1"
RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5))
X[RNG.random(X.shape) < 0.1] = np.nan
SIGNAL = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2])
TASK = np.array(["a", "b"])[np.arange(300) % 2]


def served(model: Any, place: Path) -> serving.ServedModel:
    model.save_model(place / "model.json")
    return serving.load(place / "model.json")


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (GTGBMClassifier(n_estimators=8, random_state=0), SIGNAL > 0),
        (GTGBMClassifier(n_estimators=8, random_state=0), np.where(SIGNAL > 0, "yes", "no")),
        (AGBMClassifier(n_estimators=8, loss="squared_error"), SIGNAL > 0),
        (GTGBMClassifier(n_estimators=8, random_state=0), np.digitize(SIGNAL, [-1, 1])),
        (GTGBMRegressor(n_estimators=8, random_state=0), SIGNAL),
        (GTGBMRegressor(n_estimators=8, loss="poisson", random_state=0), np.exp(SIGNAL)),
        (GTGBMRegressor(n_estimators=8, loss=losses.Tweedie(1.2), random_state=0), np.exp(SIGNAL)),
    ],
)
def test_predictions_are_the_same_bits(estimator: Any, y: Any, tmp_path: Path) -> None:
    model = estimator.fit(X, y)
    found = served(model, tmp_path)
    rows = X[:, found.features]
    np.testing.assert_array_equal(found.predict(rows), model.predict(X))
    assert found.predict(rows[0]) == model.predict(X)[0]
    if hasattr(model, "classes_"):
        np.testing.assert_array_equal(found.predict_proba(rows), model.predict_proba(X))
        np.testing.assert_array_equal(found.predict_proba(rows[0]), model.predict_proba(X)[0])
    else:
        with pytest.raises(ValueError, match="use predict"):
            found.predict_proba(rows)


@given(cases())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_any_trees(tmp_path_factory: pytest.TempPathFactory, case: Case) -> None:
    path = tmp_path_factory.mktemp("case") / "model.json"
    case.estimator.timings_ = {}
    save_model(case.estimator, path)
    found = serving.load(path)
    expected = case.estimator.predict(case.X)
    np.testing.assert_array_equal(found.predict(case.X[:, found.features]), expected)


@pytest.mark.parametrize("method", ["multitask", "single-task"])
def test_tasks(method: str, tmp_path: Path) -> None:
    model = MultitaskGTGBMClassifier(n_estimators=6, method=method, random_state=0)
    model.fit(X, np.where(TASK == "a", 0.5, 0.0) < SIGNAL, task=TASK)
    found = served(model, tmp_path)
    rows = X[:, found.features]
    np.testing.assert_array_equal(found.predict(rows, task=TASK), model.predict(X, task=TASK))
    np.testing.assert_array_equal(found.predict_proba(rows, task="a"), model.predict_proba(X, ["a"] * 300))
    assert found.predict(rows[1], task="b") == model.predict(X, task=TASK)[1]
    for wrong, message in (
        (None, "task is missing"),
        ("c", "'c' is not a task"),
        (["a"], "one for each row"),
    ):
        with pytest.raises(ValueError, match=message):
            found.predict(rows, task=wrong)


def test_tasks_with_different_classes(tmp_path: Path) -> None:
    y = np.where(TASK == "a", np.digitize(SIGNAL, [-1, 1]), np.where(SIGNAL > 0, 3, 1))
    model = MultitaskGTGBMClassifier(n_estimators=6, random_state=0).fit(X, y, task=TASK)
    found = served(model, tmp_path)
    rows = X[:, found.features]
    np.testing.assert_array_equal(found.predict(rows, task=TASK), model.predict(X, task=TASK))
    np.testing.assert_array_equal(found.predict_proba(rows, task=TASK), model.predict_proba(X, task=TASK))
    np.testing.assert_array_equal(found.predict_proba(rows[1], task="b"), model.predict_proba(X, TASK)[1])
    columns = np.column_stack([np.digitize(SIGNAL, [-1, 1]), SIGNAL > 0]).astype(float)
    model = MultitaskGTGBMClassifier(n_estimators=6, random_state=0).fit(X, columns)
    found = served(model, tmp_path)
    np.testing.assert_array_equal(found.predict_proba(X[:, found.features]), model.predict_proba(X))
    np.testing.assert_array_equal(found.predict(X[:, found.features]), model.predict(X))


def test_tasks_of_rankings(tmp_path: Path) -> None:
    relevance = np.digitize(SIGNAL, [-1, 1])
    model = MultitaskGTGBMRanker(n_estimators=6, random_state=0)
    model.fit(X, relevance, task=TASK, qid=np.arange(300) // 20)
    found = served(model, tmp_path)
    np.testing.assert_array_equal(found.predict(X[:, found.features], task=TASK), model.predict(X, TASK))


def test_one_target_column_per_task(tmp_path: Path) -> None:
    model = MultitaskGTGBMRegressor(n_estimators=6, random_state=0).fit(X, np.column_stack([SIGNAL, -SIGNAL]))
    found = served(model, tmp_path)
    np.testing.assert_array_equal(found.predict(X[:, found.features]), model.predict(X))


def test_rows_by_name(tmp_path: Path) -> None:
    frame = pd.DataFrame({"size": X[:, 0], "town": np.array(["Ulm", "Bonn", None, "7"])[np.arange(300) % 4]})
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(300), unit="h")
    y = np.nan_to_num(X[:, 0]) + (frame["town"] == "Ulm") - frame["town"].isna() + np.arange(300) / 100
    model = GTGBMRegressor(n_estimators=12, penalty=0.0, random_state=0).fit(frame, y)
    found = served(model, tmp_path)
    assert found.feature_names == ["size", "town", "day"]
    rows = frame.assign(day=frame["day"].dt.to_pydatetime()).to_dict("records")
    np.testing.assert_array_equal(found.predict(rows), model.predict(frame))
    unseen = dict(rows[3], town="Graz", other=1)
    assert found.predict(unseen) == model.predict(frame.iloc[[3]].assign(town="Graz"))[0]
    with pytest.raises(ValueError, match="give a mapping"):
        found.predict([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="has no entries"):
        found.predict({"size": 1.0})
    with pytest.raises(ValueError, match="trained on numbers"):
        found.predict(dict(rows[0], size="1"))


@pytest.mark.parametrize("path", sorted(FILES.glob("*.json")), ids=lambda path: path.stem)
def test_files_of_all_versions_are_read(path: Path) -> None:
    model, found = load_model(path), serving.load(path)
    assert set(found.features.tolist()) <= set(model.selected_features_.tolist())


def test_what_cannot_be_served_is_refused(tmp_path: Path) -> None:
    model = GTGBMRegressor(n_estimators=3, random_state=0).fit(X, SIGNAL)
    found = served(model, tmp_path)
    with pytest.raises(ValueError, match=r"X has shape \(2, 9\): give"):
        found.predict(np.zeros((2, 9)))
    with pytest.raises(ValueError, match="no names: give an array"):
        found.predict({"a": 1})
    with pytest.raises(ValueError, match="single task"):
        found.predict(X[:, found.features], task="a")
    path = tmp_path / "model.json"
    whole = json.loads(path.read_bytes())
    tree = whole["parts"][0]["trees"][0]
    wrong: list[Any] = [{}, [], whole | {"version": 9}, whole | {"parts": None}, whole | {"format": "other"}]
    for broken in wrong:
        path.write_text(json.dumps(broken))
        with pytest.raises(ValueError, match="is not a model file"):
            serving.load(path)
    path.write_bytes(b'{"format": ' + b"[" * 100_000)
    with pytest.raises(ValueError, match="is not a model file"):
        serving.load(path)
    tree["left"][0] = 999
    path.write_text(json.dumps(whole))
    with pytest.raises(ValueError, match="child out of range"):
        serving.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"classes": {"labels": ["a"]}},
        {"classes": {"labels": [["a", "b"], ["c", "d"]]}},
        {"classes": {"labels": ["a", "b", "c"]}},
        {"parts": []},
        {"tasks": {"names": ["a", "b"], "by_column": False, "classes": None}},
    ],
    ids=["one class", "nested classes", "more classes than scores", "no parts", "more tasks than parts"],
)
def test_parts_that_do_not_fit_together_are_refused(change: dict[str, Any], tmp_path: Path) -> None:
    model = GTGBMClassifier(n_estimators=2, random_state=0).fit(X, SIGNAL > 0)
    served(model, tmp_path)
    path = tmp_path / "model.json"
    whole = json.loads(path.read_bytes())
    if "classes" in change:
        change = {"classes": whole["classes"] | change["classes"]}
    path.write_text(json.dumps(whole | change))
    with pytest.raises(ValueError, match="is not a model file"):
        serving.load(path)


def test_a_cold_start_needs_numpy_only(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    GTGBMRegressor(n_estimators=20, random_state=0).fit(X, SIGNAL).save_model(path)
    program = (
        "import sys\nfrom gtgbm import serving\n"
        f"model = serving.load({str(path)!r})\nmodel.predict([0.0] * model.features.shape[0])\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(names & {'scipy', 'sklearn', 'joblib', 'narwhals', 'msgspec', 'typer', 'pandas'}))\n"
        "print(sorted(name for name in sys.modules if name.startswith('gtgbm.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "['gtgbm._core', 'gtgbm.serving']"]


def test_all_losses_with_logarithmic_scores_are_known() -> None:
    named = {
        name for loss in NAMED_LOSSES if issubclass(loss, Tweedie) for name in (loss.name, loss.__name__)
    }
    assert set(serving._LOGARITHMIC) == named
