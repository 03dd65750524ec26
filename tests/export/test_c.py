"""Models as C: compiled with all warnings as errors, with scores equal bit for bit."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from gtgbm import (
    AGBMClassifier,
    GTGBMClassifier,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRegressor,
)
from gtgbm.exact.arrays import F64
from tests.export.models import Case, cases

COMPILER = shutil.which("gcc") or shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler is installed")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6))
X[RNG.random(X.shape) < 0.1] = np.nan
SIGNAL = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2])


def compiled(source: Path, function: str, X: F64, n_out: int) -> F64:
    """Compile a file and call a function of it for each row."""
    library = source.with_suffix(".so")
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O1"]
    subprocess.run([str(COMPILER), *flags, str(source), "-o", str(library), "-lm"], check=True)
    call = getattr(ctypes.CDLL(str(library)), function)
    out, rows = np.empty((X.shape[0], n_out)), np.ascontiguousarray(X)
    for k in range(X.shape[0]):
        call(ctypes.c_void_p(rows[k].ctypes.data), ctypes.c_void_p(out[k].ctypes.data))
    return out


@given(cases())
@settings(max_examples=12)
def test_any_trees_have_the_same_scores_bit_for_bit(case: Case) -> None:
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "model.c"
        case.estimator.export_c(source)
        found = compiled(source, "gtgbm_scores", case.X, case.scores.shape[0])
    np.testing.assert_array_equal(found.T, case.scores)


@pytest.mark.parametrize(
    ("estimator", "y"),
    [
        (GTGBMClassifier(n_estimators=8, random_state=0), SIGNAL > 0),
        (GTGBMClassifier(n_estimators=8, random_state=0), np.digitize(SIGNAL, [-1, 1])),
        (GTGBMRegressor(n_estimators=8, loss="poisson", random_state=0), np.exp(SIGNAL)),
    ],
)
def test_predictions(estimator: Any, y: Any, tmp_path: Path) -> None:
    model = estimator.fit(X, y)
    expected = model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)[:, None]
    expected = expected[:, 1:] if expected.shape[1] == 2 else expected
    model.export_c(tmp_path / "model.c")
    found = compiled(tmp_path / "model.c", "gtgbm_predict", X, expected.shape[1])
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_odd_names_and_odd_categories(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"*/ #error": X[:, 0], "/*/ ??/\n": X[:, 1], "b\\": np.round(X[:, 2] * 2) / 4})
    model = AGBMClassifier(n_estimators=4, categorical_features=["b\\"], penalty=0.0, min_samples_leaf=5)
    model.fit(frame, SIGNAL > 0)
    assert any(tree.is_category.any() for tree in model.trees_)
    model.export_c(tmp_path / "model.c")
    found = compiled(tmp_path / "model.c", "gtgbm_scores", frame.to_numpy(), 1)
    np.testing.assert_array_equal(found[:, 0], model.decision_function(frame))


@pytest.mark.parametrize("name", ["a???/", "bidi \u202e", "\u2066", "nul \x00", "\x1b[31m", "ü ??\t??/ 東"])
def test_names_that_compilers_warn_of(name: str, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    model = GTGBMRegressor(n_estimators=2, penalty=0.0).fit(pd.DataFrame({name: X[:, 0]}), SIGNAL)
    model.export_c(tmp_path / "model.c")
    compiled(tmp_path / "model.c", "gtgbm_scores", X[:1, :1], 1)
    shown = (tmp_path / "model.c").read_text(encoding="utf-8").splitlines()[1]
    assert shown.isprintable()
    assert ("ü" in shown) == ("ü" in name)


def test_each_task_is_a_file(tmp_path: Path) -> None:
    task = np.array(["a", "b"])[np.arange(300) % 2]
    model = MultitaskGTGBMClassifier(n_estimators=4, random_state=0).fit(X, SIGNAL > 0, task=task)
    model.export_c(tmp_path / "{task}.c")
    for name in ("a", "b"):
        found = compiled(tmp_path / f"{name}.c", "gtgbm_scores", X, 1)
        np.testing.assert_array_equal(found[:, 0], model.decision_function(X, task=[name] * 300))


def test_no_task_is_written_unless_all_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = MultitaskGTGBMRegressor(n_estimators=2, random_state=0).fit(X, np.column_stack([SIGNAL, -SIGNAL]))
    (tmp_path / "0.c").write_text("old")
    make, made = tempfile.mkstemp, list[str]()

    def full(**given: Any) -> tuple[int, str]:
        if made:
            raise OSError(28, "No space left on device")
        handle, name = make(**given)
        made.append(name)
        return handle, name

    monkeypatch.setattr(tempfile, "mkstemp", full)
    with pytest.raises(OSError, match="No space left"):
        model.export_c(tmp_path / "{task}.c")
    assert made
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("0.c", "old")]
