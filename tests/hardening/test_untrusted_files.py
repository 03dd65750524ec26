"""The claims of docs/security.md on files and messages that have no tests elsewhere."""

from __future__ import annotations

import builtins
import csv
import io
import pickle
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from gtgbm import AGBMClassifier, AGBMRegressor
from gtgbm.boosting import checkpoint_store
from gtgbm.cli import app
from gtgbm.exact.messages import array_of, bytes_of
from gtgbm.export import TRUSTED_TYPES
from tests.project.pages import DOCS, ROOT

X = np.random.default_rng(0).normal(size=(120, 3))


class InterruptedFitError(Exception):
    """Stands for whatever ends a process."""


class Trap:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> Any:
        return exec, ("import builtins; builtins.gtgbm_trap = True",)


@pytest.fixture(autouse=True)
def _trap() -> Any:
    yield
    vars(builtins).pop("gtgbm_trap", None)


def is_sprung() -> bool:
    return hasattr(builtins, "gtgbm_trap")


def test_a_pickle_runs_code() -> None:
    pickle.loads(pickle.dumps(AGBMRegressor(loss=Trap())))
    assert is_sprung()


def test_skops_refuses_types_beyond_the_list() -> None:
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    model: Any = AGBMRegressor(n_estimators=2).fit(X, X[:, 0])
    model.extra_ = Trap()
    content = skops.dumps(model)
    with pytest.raises(skops.exceptions.UntrustedTypesFoundException, match="Trap"):
        skops.loads(content, trusted=TRUSTED_TYPES)
    assert not is_sprung()


def test_a_checkpoint_is_read_without_pickle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_store, "_SECONDS", 0.0)
    monkeypatch.setattr(checkpoint_store, "_SHARE", 1e9)
    path = tmp_path / "checkpoint"

    def interrupt(progress: Any) -> None:
        if progress.round == 3:
            raise InterruptedFitError

    def fit(*callbacks: Any) -> None:
        model = AGBMRegressor(n_estimators=5, random_state=0)
        model.fit(X, X[:, 1] + X[:, 2], checkpoint=path, callbacks=list(callbacks))

    with pytest.raises(InterruptedFitError):
        fit(interrupt)
    content = path.read_bytes()
    assert isinstance(msgspec.msgpack.decode(content[16:]), dict | list), "plain values after a digest"
    for at in np.linspace(0, len(content) - 1, 40).astype(int):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(ValueError, match="is not a checkpoint"):
            fit()
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ValueError, match="is not a checkpoint"):
        fit()
    assert not is_sprung()


def test_messages_are_arrays_and_nothing_else() -> None:
    for values in (np.arange(5), np.array(["a", "bc"]), np.array(["a", "bc"], dtype=object)):
        assert array_of(bytes_of(values)).tolist() == values.tolist()
    objects = io.BytesIO()
    np.save(objects, np.array([Trap()], dtype=object), allow_pickle=True)
    for message in (objects.getvalue(), pickle.dumps(Trap())):
        with pytest.raises(ValueError, match="pickle"):
            array_of(message)
    assert not is_sprung()


def test_labels_of_a_csv_are_unchanged(tmp_path: Path) -> None:
    labels = np.array(["=HYPERLINK(0)", '@a"b,\n-1'])
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    model = AGBMClassifier(n_estimators=3, random_state=0).fit(table, labels[(X[:, 0] > 0).astype(int)])
    model.save_model(tmp_path / "model.json")
    table.to_csv(tmp_path / "table.csv", index=False)
    out = tmp_path / "predicted.csv"
    names = ["predict", str(tmp_path / "model.json"), str(tmp_path / "table.csv"), "--out", str(out)]
    done = CliRunner().invoke(app, names)
    assert done.exit_code == 0, done.output
    with out.open(newline="") as file:
        found = [row["prediction"] for row in csv.DictReader(file)]
    assert found == model.predict(table).tolist()
    assert set(found) == set(labels)
    assert '"=HYPERLINK(0)"' in out.read_text(), "text is in quotes"


def test_the_page_names_tests_that_exist() -> None:
    page = (DOCS / "security.md").read_text(encoding="utf-8")
    tests = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    named = set(re.findall(r"`(test_\w+)`", page))
    assert len(named) >= 10
    for name in named:
        assert any(f"def {name}(" in text for text in tests.values()), name
    for path in set(re.findall(r"`(t\w+/[\w/]+\.py)`", page)):
        assert (ROOT / path).is_file(), path
