"""Model files: what is read predicts as what was written; what is broken is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import is_classifier

import gtgbm
from gtgbm import (
    AGBMRegressor,
    GBFSClassifier,
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    ModelFileError,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
    load_model,
    losses,
    save_model,
)
from gtgbm.model_file import ESTIMATORS, read_model_file
from tests.data.test_frames import frame_of, mixed_values, target_of

FILES = Path(__file__).parent


def table(n: int = 300, d: int = 6, seed: int = 0) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.1] = np.nan
    return X, np.nan_to_num(X[:, 1]) + np.nan_to_num(X[:, 4]) ** 2


def models() -> dict[str, tuple[Any, Any]]:
    """Fitted models of many kinds, with tables to predict."""
    X, y = table()
    columns = mixed_values(400)
    frame = frame_of("pandas", columns)
    few: dict[str, Any] = {"n_estimators": 4, "random_state": 0}
    categories = X.copy()
    categories[:, 0] = np.random.default_rng(1).integers(0, 4, X.shape[0])
    return {
        "classifier": (GTGBMClassifier(**few).fit(X, y > 0.5), X),
        "three classes": (GTGBMClassifier(**few).fit(X, np.digitize(y, [0.0, 1.0])), X),
        "text classes": (GBFSClassifier(**few).fit(X, np.where(y > 0.5, "late", "early")), X),
        "paper's classifier": (GTGBMClassifier(loss="squared_error", init="zero", **few).fit(X, y > 0.5), X),
        "regressor": (AGBMRegressor(**few).fit(X, y), X),
        "loss object": (GTGBMRegressor(loss=losses.Quantile(0.9), **few).fit(X, y), X),
        "counts": (GTGBMRegressor(loss="poisson", **few).fit(X, np.rint(np.abs(y))), X),
        "ranker": (GTGBMRanker(**few).fit(X, y > 0.5, qid=np.arange(300) // 10), X),
        "dataframe": (GTGBMClassifier(**few).fit(frame, target_of(columns)), frame),
        "whole columns": (
            GTGBMClassifier(categorical="column", **few).fit(frame, target_of(columns)),
            frame,
        ),
        "categories": (
            GTGBMRegressor(categorical_features=[0], monotone_constraints={1: 1}, **few).fit(
                categories, y + (categories[:, 0] == 2)
            ),
            categories,
        ),
        "early stopping": (
            GTGBMRegressor(early_stopping_rounds=2, **few).fit(X, y, eval_set=(X[:50], y[:50])),
            X,
        ),
        **multitask_models(few),
        "infinite categories": (
            GTGBMRegressor(categorical_features=[0], **few).fit(
                np.where(categories > 2, np.inf, categories), y + (categories[:, 0] > 2)
            ),
            np.where(categories > 2, np.inf, categories),
        ),
        "nothing selected": (nothing_selected(X, y, few), X),
        "infinite values": (AGBMRegressor(**few).fit(np.where(X > 1, np.inf, X), y), X),
    }


def nothing_selected(X: Any, y: Any, few: dict[str, Any]) -> GTGBMRegressor:
    with pytest.warns(UserWarning, match="no features are selected"):
        return GTGBMRegressor(penalty=0.9, **few).fit(X, y)


def multitask_models(few: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    X, y = table()
    columns = mixed_values(400)
    frame, task = frame_of("pandas", columns), np.array(["a", "b"])[np.arange(400) % 2]
    by_column = np.column_stack([y, -y])
    by_column[:50, 1] = np.nan
    return {
        "tasks by column": (MultitaskGTGBMRegressor(**few).fit(X, by_column), X),
        "all tasks in one": (MultitaskGTGBMRegressor(method="single-task", **few).fit(X, by_column), X),
        "tasks of a dataframe": (
            MultitaskGTGBMClassifier(**few).fit(frame, target_of(columns), task=task),
            (frame, task),
        ),
    }


MODELS = models()


def outputs(model: Any, X: Any) -> list[bytes]:
    names = ("predict", "predict_proba", "decision_function")
    given = X if isinstance(X, tuple) else (X,)
    found = [getattr(model, name)(*given) for name in names if hasattr(model, name)]
    return [np.asarray(one).astype("U" if one.dtype.kind in "OU" else one.dtype).tobytes() for one in found]


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_saved_one(name: str, tmp_path: Path) -> None:
    model, X = MODELS[name]
    path = tmp_path / "model.json"
    model.save_model(path)
    loaded = load_model(path)
    assert type(loaded) is type(model)
    assert outputs(loaded, X) == outputs(model, X)
    assert repr(loaded.selection_history_) == repr(model.selection_history_)
    assert repr(loaded.evals_result_) == repr(model.evals_result_)
    for attribute in ("selected_features_", "feature_importances_"):
        np.testing.assert_array_equal(getattr(loaded, attribute), getattr(model, attribute))
    for attribute in ("n_selected_features_", "n_iter_", "best_iteration_", "search_", "timings_"):
        assert getattr(loaded, attribute) == getattr(model, attribute)
    assert repr(loaded.n_leaves_) == repr(model.n_leaves_)
    assert repr(loaded.selected_categories_) == repr(model.selected_categories_)
    assert repr(loaded.get_params()) == repr(model.get_params())
    if hasattr(loaded, "tasks_"):
        assert repr(loaded.task_features_) == repr(model.task_features_)
        assert repr(loaded.shared_features_) == repr(model.shared_features_)
    else:
        selected = X if isinstance(X, pd.DataFrame) else X[:, loaded.selected_features_]
        assert outputs(loaded.compact(), selected) == outputs(model, X)
    again = tmp_path / "again.json"
    save_model(loaded, again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", sorted(FILES.glob("*/*.json")), ids=lambda path: str(path.stem))
def test_files_of_every_version_are_read(path: Path) -> None:
    """Each file stands beside what its model predicted when it was written."""
    expected = json.loads(path.with_suffix(".expected").read_text())
    X = (
        pd.DataFrame(expected["X"])
        if isinstance(expected["X"], dict)
        else np.array(expected["X"], dtype=float)
    )
    prediction = load_model(path).predict(X)
    assert prediction.tolist() == expected["prediction"]


def test_there_are_files_of_the_version_written_now() -> None:
    assert list(FILES.glob("v1/*.json"))


def test_files_can_hold_every_estimator() -> None:
    """What a file must hold is known without scikit-learn, and must agree with the estimators."""
    names = {name for name in gtgbm.__all__ if hasattr(getattr(gtgbm, name), "fit")}
    assert set(ESTIMATORS) == names
    for name, kind in ESTIMATORS.items():
        estimator = getattr(gtgbm, name)()
        assert kind.has_classes == is_classifier(estimator)
        assert kind.has_tasks == ("method" in estimator.get_params())


@pytest.mark.parametrize("left", [0, 10**6])
def test_a_stored_model_has_no_circles(left: int, tmp_path: Path) -> None:
    """What is read without an estimator is checked as well."""
    path = tmp_path / "model.json"
    path.write_bytes(altered({TREE + "left.0": left}))
    with pytest.raises(ModelFileError, match="is not a valid gtgbm model file"):
        read_model_file(path)


def test_files_are_readable(tmp_path: Path) -> None:
    model, _ = MODELS["dataframe"]
    path = tmp_path / "model.json"
    save_model(model, path)
    found = json.loads(path.read_text())
    assert found["model"] == "GTGBMClassifier"
    assert found["version"] == 1
    thresholds = {value for tree in found["parts"][0]["trees"] for value in tree["threshold"]}
    assert "Bonn" in thresholds
    lines = path.read_text().splitlines()
    assert sum(line.startswith('{"output"') for line in lines) == len(model.trees_)


def test_no_half_of_a_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = MODELS["regressor"]
    path = tmp_path / "model.json"
    save_model(model, path)
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(KeyboardInterrupt):
        save_model(MODELS["classifier"][0], path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["model.json"]


def test_what_cannot_be_saved_says_so(tmp_path: Path) -> None:
    X, y = table()

    class Own(losses.LossFunction):
        def value(self, y: Any, score: Any) -> Any:
            return (y - score) ** 2 / 2

        def gradient(self, y: Any, score: Any) -> Any:
            return score - y

        def curvature(self, y: Any, score: Any) -> Any:
            return np.ones_like(y + score)

    with pytest.raises(ValueError, match="pickle the model instead"):
        save_model(GTGBMRegressor(loss=Own(), n_estimators=2).fit(X, y), tmp_path / "model.json")
    with pytest.raises(ValueError, match="call fit first"):
        save_model(GTGBMRegressor(), tmp_path / "model.json")
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        save_model(MODELS["regressor"][0], tmp_path / "nowhere" / "model.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("settings", [{}, {"early_stopping_rounds": 3}, {"subsample": 0.5}])
def test_a_loaded_model_continues_as_the_one_in_memory(settings: dict[str, Any], tmp_path: Path) -> None:
    X, y = table()
    path = tmp_path / "model.json"
    model = GTGBMRegressor(n_estimators=3, warm_start=True, random_state=0, **settings).fit(X, y)
    model.save_model(path)
    loaded = load_model(path)
    for one in (model, loaded):
        one.set_params(n_estimators=6).fit(X, y)
    assert loaded.n_iter_ == model.n_iter_ > 3
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.selection_history_ == model.selection_history_
    assert loaded.set_params(warm_start=False).fit(X, y).n_iter_ == 6


def test_rows_that_a_loaded_model_held_out_must_be_known(tmp_path: Path) -> None:
    X, y = table()
    path = tmp_path / "model.json"
    model = GTGBMRegressor(n_estimators=3, early_stopping_rounds=3, warm_start=True)
    model.fit(X, y).save_model(path)
    loaded = load_model(path).set_params(n_estimators=5)
    with pytest.raises(ValueError, match="does not tell which rows the previous fit held out"):
        loaded.fit(X, y)
    assert loaded.fit(X, y, eval_set=(X, y)).n_iter_ == 5


def test_parameters_that_no_fit_takes_are_no_reason_not_to_predict(tmp_path: Path) -> None:
    X, y = table()
    path = tmp_path / "model.json"
    model = GTGBMRegressor(n_estimators=3, warm_start=True, random_state=0).fit(X, y)
    model.set_params(max_bins=-1).save_model(path)
    loaded = load_model(path)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="parameters that no fit takes"):
        loaded.set_params(max_bins=255).fit(X, y)


def altered(change: dict[str, Any], name: str = "dataframe") -> bytes:
    found = json.loads(saved(name))
    for path, value in change.items():
        *way, last = path.split(".")
        place: Any = found
        for key in way:
            place = place[int(key) if isinstance(place, list) else key]
        place[int(last) if isinstance(place, list) else last] = value
    return json.dumps(found).encode()


_SAVED: dict[str, bytes] = {}


def saved(name: str) -> bytes:
    if name not in _SAVED:
        import tempfile

        with tempfile.TemporaryDirectory() as place:
            save_model(MODELS[name][0], Path(place) / "model.json")
            _SAVED[name] = (Path(place) / "model.json").read_bytes()
    return _SAVED[name]


TREE = "parts.0.trees.0."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "format"),
        ({"version": 99}, "this gtgbm reads up to 1: upgrade gtgbm"),
        ({"model": "os.system"}, "model 'os.system' is unknown"),
        ({"model": "compare_tasks"}, "is unknown"),
        (
            {"parameters.loss": {"loss": "Popen", "settings": {}}},
            "not a plain value, a list of pairs or a loss",
        ),
        ({"parameters.loss": {"loss": "Quantile", "settings": {"share": 7}}}, "share"),
        ({"parameters.loss": "unknown"}, "loss='unknown'"),
        ({"parameters.more": 1}, "has no parameters 'more'"),
        ({"n_features": 10**15}, "n_features"),
        ({"n_features": 3}, "a different number of names"),
        ({"feature_names": None, "kinds": None}, "categories of text"),
        ({"kinds": {}}, "kinds of columns do not match"),
        ({"kinds": {"99": "time"}}, "kinds of columns do not match"),
        ({"feature_names": ["a"] * 7}, "same name"),
        ({"classes.labels": [1, 1]}, "not distinct"),
        ({"classes.labels": ["a", 1]}, "not all of type"),
        ({"classes.labels": [0, 2**63]}, "."),
        ({"parts": []}, "parts"),
        ({"parts.0.start": []}, "scores"),
        ({"parts.0.start": [0.0, 0.0]}, "scores"),
        ({TREE + "feature.0": 7}, "feature 7 of 7"),
        ({TREE + "feature.0": 2**40}, "."),
        ({TREE + "feature.0": -7}, "feature -7"),
        ({TREE + "left.0": 0}, "."),
        ({TREE + "left.0": 10**6}, "."),
        ({TREE + "left": [1]}, "differ in length"),
        ({TREE + "output": 1}, "."),
        ({TREE + "category": [9999]}, "beyond its end"),
        ({TREE + "missing_left": [9999]}, "does not have"),
        ({TREE + "value.0": "x"}, "value"),
        ({"parts.0.history.0.feature": 7}, "its history lacks"),
        ({"parts.0.history.0.tree": 99}, "rounds after the last one"),
        ({"parts.0.training_loss": []}, "fewer rounds"),
        ({"parameters.init": {"pairs": [[[1], 2]]}}, "does not hold pairs"),
        ({"parameters.loss": {"loss": [], "settings": {}}}, "not a plain value, a list of pairs or a loss"),
        ({"tasks": {"names": ["a"], "by_column": False, "owned": []}}, "its model has none"),
        ({"model": "MultitaskGTGBMClassifier", "parameters": {}}, "its tasks are missing"),
    ],
)
def test_invalid_files_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(altered(change))
    with pytest.raises(ModelFileError, match=f"is not a valid gtgbm model file: .*{message}"):
        load_model(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tasks": None}, "its tasks are missing"),
        ({"tasks.names": ["a", "a"]}, "several tasks of the same name"),
        ({"tasks.names": ["a", "c"]}, "parts and tasks do not match"),
        ({"tasks.names": ["a"]}, "parts and tasks do not match"),
        ({"tasks.owned": [{"feature": 7}]}, "features that it does not have"),
        ({"parameters.method": "single-task"}, "method has one part, but it has several"),
        ({"classes": None}, "classes do not match its model"),
        ({"classes.labels": [0, 1, 2]}, "different number of scores than its loss"),
    ],
)
def test_invalid_tasks_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(altered(change, "tasks of a dataframe"))
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 100_000, b"\xff", b"null", b'{"format": "gtgbm"}'])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="is not a valid gtgbm model file"):
        load_model(path)


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    content, path = saved("three classes"), tmp_path / "model.json"
    for end in np.linspace(0, len(content.rstrip()) - 1, 200).astype(int):
        path.write_bytes(content[:end])
        with pytest.raises(ModelFileError):
            load_model(path)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), name=st.sampled_from(["dataframe", "categories", "three classes"]))
def test_mutated_files_are_read_or_refused(data: st.DataObject, name: str, tmp_path_factory: Any) -> None:
    """See ``tools/fuzz.py`` for a hundred thousand of them."""
    content = bytearray(saved(name))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = tmp_path_factory.mktemp("fuzz") / "model.json"
    path.write_bytes(bytes(content))
    try:
        model = load_model(path)
    except ModelFileError:
        return
    assert isinstance(model, getattr(gtgbm, type(model).__name__))
    try:
        model.predict(MODELS[name][1])
    except (ValueError, TypeError):  # a name may have been changed, or n_jobs
        return
