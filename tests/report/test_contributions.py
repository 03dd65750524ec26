"""The report's picture of what columns contribute to single rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gtgbm import GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMRegressor
from gtgbm.explain import feature_names
from gtgbm.report import write_report
from gtgbm.report.contributions import _groups, _heights, contribution_picture
from gtgbm.report.sample import draw_sample

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
SIGNAL = X[:, 0] + X[:, 1]
FRAME = pd.DataFrame({"size": X[:, 0], "town": np.array(["Ulm", "Bonn", None])[np.arange(300) % 3]})
TITLE = "Contributions in single rows"


def drawn(model: Any, table: Any, y: Any) -> Any:
    sample = draw_sample(model, table, y, metric=None, qid=None, task=None, max_rows=9999, seed=0)
    return contribution_picture(model, sample, feature_names(model), 0)


def test_there_is_a_dot_for_each_row_of_each_column() -> None:
    y = X[:, 0] + (FRAME["town"] == "Ulm")
    model = GTGBMRegressor(n_estimators=8, penalty=0.0, random_state=0).fit(FRAME, y)
    found = drawn(model, FRAME, y)
    assert found.title == TITLE
    assert found.svg.count("<use ") >= 120 * len(model.selected_features_)
    for name in ("size", "town"):
        assert name in found.svg


def test_rows_with_several_scores_have_no_such_picture() -> None:
    classes, targets = np.digitize(SIGNAL, [-1, 1]), np.column_stack([SIGNAL, -SIGNAL])
    assert drawn(GTGBMClassifier(n_estimators=4, random_state=0).fit(X, classes), X, classes) is None
    assert drawn(MultitaskGTGBMRegressor(n_estimators=4, random_state=0).fit(X, targets), X, targets) is None


def test_the_report_shows_it(tmp_path: Path) -> None:
    model = GTGBMRegressor(n_estimators=4, random_state=0).fit(X, SIGNAL)
    page = Path(write_report(model, X, SIGNAL, tmp_path / "report.html"))
    assert TITLE in page.read_text(encoding="utf-8")


def test_dots_are_moved_apart_and_coloured_by_value() -> None:
    heights = _heights(np.array([0.0, 0.0, 0.0, 1.0]))
    assert len(set(heights[:3].tolist())) == 3
    assert np.abs(heights).max() == pytest.approx(0.4)
    assert heights[3] == 0.0
    values = np.array([1.0, 2.0, 3.0, np.nan])
    rows = [at.tolist() for _, at in _groups(values, False)]
    assert rows == [[3], [0], [1], [2]]
    assert [at.tolist() for _, at in _groups(values, True)] == [[0, 1, 2, 3], [], [], []]
