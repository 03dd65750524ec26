"""Models in treelite, predicted by its interpreter and by the C that tl2cgen compiles."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import treelite
from hypothesis import given

from gtgbm import AGBMClassifier, GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMRegressor, export
from tests.export.models import Case, cases

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 6))
X[RNG.random(X.shape) < 0.1] = np.nan
X[:, 3] = RNG.integers(0, 40, 400)
SIGNAL = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1] * X[:, 2]) + 2.0 * (X[:, 3] == 33)
SETTINGS: dict[str, Any] = {"n_estimators": 8, "categorical_features": [3], "random_state": 0}


@given(cases())
def test_any_trees_have_the_same_scores_bit_for_bit(case: Case) -> None:
    scores = treelite.gtil.predict(case.estimator.to_treelite(), case.X, pred_margin=True)
    np.testing.assert_array_equal(scores.reshape(case.X.shape[0], -1).T, case.scores)


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (GTGBMClassifier(**SETTINGS), SIGNAL > 0),
        (GTGBMClassifier(**SETTINGS), np.digitize(SIGNAL, [-1, 1])),
        (GTGBMRegressor(**SETTINGS), SIGNAL),
        (GTGBMRegressor(loss="poisson", **SETTINGS), np.exp(SIGNAL)),
    ],
)
def test_predictions(estimator: Any, y: Any) -> None:
    model = estimator.fit(X, y)
    expected = model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)
    expected = expected[:, 1] if expected.shape[1:] == (2,) else expected
    found = treelite.gtil.predict(model.to_treelite(), X).reshape(expected.shape)
    # Treelite's softmax rounds to float32.
    np.testing.assert_allclose(found, expected, rtol=1e-6 if expected.ndim == 2 else 1e-12)


def test_files_and_tasks(tmp_path: Path) -> None:
    tasks = MultitaskGTGBMRegressor(n_estimators=5, random_state=0).fit(X, np.column_stack([SIGNAL, -SIGNAL]))
    written = export.export_treelite(tasks, tmp_path / "{task}.treelite")
    assert sorted(written) == sorted(str(path) for path in tmp_path.iterdir())
    for task, model in tasks.to_treelite().items():
        read = treelite.Model.deserialize(str(tmp_path / f"{task}.treelite"))
        for one in (model, read, tasks.to_treelite(task=task)):
            np.testing.assert_array_equal(treelite.gtil.predict(one, X).ravel(), tasks.predict(X)[:, task])


def test_compiled_by_tl2cgen(tmp_path: Path) -> None:
    tl2cgen = pytest.importorskip("tl2cgen")
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    model = GTGBMClassifier(**SETTINGS).fit(X, SIGNAL > 0)
    tl2cgen.export_lib(model.to_treelite(), toolchain="gcc", libpath=str(tmp_path / "model.so"), params={})
    predictor = tl2cgen.Predictor(str(tmp_path / "model.so"))
    scores = predictor.predict(tl2cgen.DMatrix(X, dtype="float64"), pred_margin=True)
    np.testing.assert_array_equal(scores.ravel(), model.decision_function(X))


def test_infinite_thresholds_are_compiled(tmp_path: Path) -> None:
    """The compiler takes a comparison with minus infinity for one that is never true."""
    tl2cgen = pytest.importorskip("tl2cgen")
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    rows = np.array([-np.inf, -1e308, 0.0, 1e308, np.inf, np.nan])[:, None]
    model = GTGBMRegressor(n_estimators=3, penalty=0.0, min_node_fraction=0.0)
    model.fit(np.repeat(rows, 40, axis=0), np.repeat([3.0, 0.0, 1.0, 5.0, 2.0, 9.0], 40))
    assert any((tree.threshold == -np.inf).any() for tree in model.trees_)
    exported = model.to_treelite()
    np.testing.assert_array_equal(treelite.gtil.predict(exported, rows).ravel(), model.predict(rows))
    tl2cgen.export_lib(exported, toolchain="gcc", libpath=str(tmp_path / "model.so"), params={})
    predictor = tl2cgen.Predictor(str(tmp_path / "model.so"))
    found = predictor.predict(tl2cgen.DMatrix(rows, dtype="float64"))
    np.testing.assert_array_equal(found.ravel(), model.predict(rows))


def test_categories_that_treelite_cannot_have_are_refused() -> None:
    numbers = np.where(X[:, 3] > 20, -1.5, X[:, 3])[:, None]
    model = AGBMClassifier(n_estimators=2, categorical_features=[0], penalty=0.0)
    model.fit(numbers, numbers[:, 0] == -1.5)
    with pytest.raises(ValueError, match=r"'Column_0' has the category -1\.5: for treelite"):
        model.to_treelite()


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = GTGBMRegressor(**SETTINGS).fit(X, SIGNAL)
    monkeypatch.setitem(sys.modules, "treelite.model_builder", None)
    with pytest.raises(ImportError, match=r"to_treelite needs treelite: pip install 'gtgbm\[export\]'"):
        model.to_treelite()
    with pytest.raises(ImportError, match="export_treelite needs treelite"):
        export.export_treelite(model, tmp_path / "model.treelite")
    assert not list(tmp_path.iterdir())
