"""gtgbm export: a model file in the formats of other tools."""

from __future__ import annotations

import sys
from pathlib import Path

import lightgbm
import numpy as np
import pytest

from gtgbm import GTGBMRegressor, MultitaskGTGBMRegressor
from tests.cli.tables import run, said

X = np.random.default_rng(0).normal(size=(200, 4))
Y = X[:, 0] + X[:, 1]


@pytest.fixture
def model_file(tmp_path: Path) -> Path:
    GTGBMRegressor(n_estimators=4, random_state=0).fit(X, Y).save_model(tmp_path / "model.json")
    return tmp_path / "model.json"


FIRST_BYTES = {"lightgbm": b"tree\n", "onnx": b"\x08", "treelite": b"\x04", "c": b"/* A gtgbm"}


@pytest.mark.parametrize(("file_format", "begin"), FIRST_BYTES.items())
def test_formats(file_format: str, begin: bytes, model_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "exported"
    done = run("export", model_file, "--format", file_format, "--out", out)
    assert done.exit_code == 0, done.output
    assert done.stdout.split() == [str(out)]
    assert out.read_bytes().startswith(begin)


def test_tasks(tmp_path: Path) -> None:
    model = MultitaskGTGBMRegressor(n_estimators=4, random_state=0).fit(X, np.column_stack([Y, -Y]))
    model.save_model(tmp_path / "model.json")
    options = ["export", tmp_path / "model.json", "--format", "lightgbm", "--out"]
    assert "put {task} into the path" in said(run(*options, tmp_path / "one.txt"))
    assert run(*options, tmp_path / "of{task}.txt").exit_code == 0
    assert run(*options, tmp_path / "second.txt", "--task", 1).exit_code == 0
    for name in ("of1.txt", "second.txt"):
        booster = lightgbm.Booster(model_file=tmp_path / name)
        np.testing.assert_array_equal(booster.predict(X), model.predict(X)[:, 1])
    assert "the model has the tasks 0, 1" in said(run(*options, tmp_path / "third.txt", "--task", 2))
    assert not (tmp_path / "third.txt").exists()


def test_errors_in_one_line(model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("export", model_file, "--format", "onnx", "--out", tmp_path / "none" / "model.onnx")
    assert done.exit_code == 2
    assert "create it" in said(done)
    done = run("export", model_file, "--format", "c", "--out", tmp_path / "model.c", "--task", "a")
    assert "the model has a single task" in said(done)
    monkeypatch.setitem(sys.modules, "onnx", None)
    done = run("export", model_file, "--format", "onnx", "--out", tmp_path / "model.onnx")
    assert done.exit_code == 2
    assert 'pip install "gtgbm[export]"' in said(done)
