"""The HTML report: what it says, and that nothing a user names can break it."""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

from gtgbm import (
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    MultitaskGTGBMRanker,
    MultitaskGTGBMRegressor,
    load_model,
    save_model,
)
from gtgbm.explain import columns_as_bought
from gtgbm.metrics import METRICS
from gtgbm.report import write_report
from gtgbm.report.sample import draw_sample
from gtgbm.report.similarity import groups, measure_similarity
from tests.data.test_frames import mixed_values, target_of

SECTIONS = ["quality", "selected", "adds", "path", "correlations", "data", "settings"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(500, 12))
X[:, 5] = X[:, 0] + 0.01 * RNG.normal(size=500)
X[:, 6] = -X[:, 0] + 0.01 * RNG.normal(size=500)
SIGNAL = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * RNG.normal(size=500)
TASK = np.array(["a", "b"])[np.arange(500) % 2]


class Page(HTMLParser):
    """What stands on a page: text by section, cells of tables, every tag with its attributes."""

    VOID = ("meta", "link", "input", "br", "wbr", "path", "use", "image", "rect", "circle", "line", "img")

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: dict[str, str] = {}
        self.rows: dict[str, list[list[str]]] = {}
        self.section = ""
        self.feed(self.source)
        self.close()
        assert not self.open, f"tags left open: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "section":
            self.section = dict(attrs)["id"] or ""
            self.rows[self.section] = []
        if tag == "tr":
            self.rows[self.section].append([])
        if tag in ("td", "th"):
            self.rows[self.section][-1].append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag
        if tag == "section":
            self.section = ""

    def handle_data(self, data: str) -> None:
        self.text[self.section] = self.text.get(self.section, "") + data
        if {"td", "th"} & set(self.open[-3:]):
            self.rows[self.section][-1][-1] += data


def report_of(tmp_path: Path, model: Any, table: Any = X, y: Any = SIGNAL > 0, **given: Any) -> Page:
    return Page(write_report(model, table, y, tmp_path / "report.html", **given))


@pytest.fixture(scope="module")
def model() -> Any:
    return GTGBMClassifier(penalty=0.01, n_estimators=20, random_state=0).fit(X, SIGNAL > 0)


def test_page_has_all_sections_and_needs_no_network(tmp_path: Path, model: Any) -> None:
    page = report_of(tmp_path, model, title="All <about> it")
    assert [attrs["id"] for tag, attrs in page.tags if tag == "section"] == SECTIONS
    assert "http:" not in page.source
    assert "https:" not in page.source
    for _, attrs in page.tags:
        for name in ("src", "href", "xlink:href"):
            target = attrs.get(name)
            assert target is None or target.startswith(("#", "data:")), target
    anchors = {attrs["href"] for tag, attrs in page.tags if tag == "a"}
    assert anchors == {f"#{section}" for section in SECTIONS}
    assert any(tag == "meta" and attrs.get("name") == "viewport" for tag, attrs in page.tags)
    assert "prefers-color-scheme: dark" in page.source
    assert sum(tag == "svg" for tag, _ in page.tags) >= 6
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids)), "an id must stand once"


@pytest.mark.usefixtures("without_rendering")
def test_table_of_selected_features_is_the_history(tmp_path: Path, model: Any) -> None:
    head, *rows = report_of(tmp_path, model).rows["selected"]
    assert head == ["Feature", "Order", "Adds", "Importance", "Gain", "Price", "Round", "AUC so far"]
    assert len(rows) == model.n_selected_features_
    for order, (row, entry) in enumerate(zip(rows, model.selection_history_, strict=True), 1):
        assert row[:2] == [f"x{entry.feature}", str(order)]
        assert row[6] == str(entry.tree + 1)
        assert float(row[4]) == pytest.approx(entry.gain, rel=0.05, abs=5e-5)
        assert float(row[3]) == pytest.approx(model.feature_importances_[entry.feature], rel=0.05, abs=5e-5)
    first = next(row for row in rows if row[0] in ("x0", "x5", "x6"))
    assert float(first[2]) == max(float(row[2]) for row in rows), (
        "the most important feature has the largest permutation importance"
    )


@pytest.mark.usefixtures("without_rendering")
def test_features_that_were_selected_beforehand_are_shown_by_importance(tmp_path: Path) -> None:
    model = GTGBMClassifier(n_features_to_select=3, n_estimators=8, random_state=0).fit(X, SIGNAL > 0)
    page = report_of(tmp_path, model)
    head, *rows = page.rows["selected"]
    assert head == ["Feature", "Order", "Adds", "Importance", "In selection"]
    shown = [float(row[4]) for row in rows]
    assert shown == pytest.approx([entry.gain for entry in model.selection_history_], rel=0.05, abs=5e-5)
    assert shown == sorted(shown, reverse=True)
    assert "before the first round" in page.source
    assert "over selected features" not in page.source, "there is one point only"


@pytest.mark.usefixtures("without_rendering")
def test_report_measures_the_given_rows(tmp_path: Path, model: Any) -> None:
    page = report_of(tmp_path, model)
    expected = METRICS["auc"](SIGNAL > 0, model.predict_proba(X)[:, 1])
    row = next(row for row in page.rows["quality"] if row[0] == "AUC")
    assert (row[1], row[3]) == (f"{expected:.4f}", "0.5000")
    low, high = map(float, row[2].split(" to "))
    assert low - 1e-4 < expected < high + 1e-4
    assert report_of(tmp_path, model, metric="log_loss").rows["quality"][1][0] == "log loss"


def test_interchangeable_columns_are_found(model: Any) -> None:
    sample = draw_sample(model, X, SIGNAL > 0, metric=None, qid=None, task=None, max_rows=9999, seed=0)
    (found,) = groups(measure_similarity(model, sample, 0), [f"x{j}" for j in range(12)], 0.9)
    assert {*found.selected, *found.others} == {"x0", "x5", "x6"}
    assert found.n_columns == 3
    assert set(found.selected) == {"x0", "x5", "x6"} & {f"x{j}" for j in model.selected_features_}


def test_each_column_is_in_one_group_at_most(model: Any) -> None:
    names = [f"x{j}" for j in range(12)]
    sample = draw_sample(model, X, SIGNAL > 0, metric=None, qid=None, task=None, max_rows=9999, seed=0)
    for threshold in (0.01, 0.1, 0.9, 1.0):
        listed = [
            name
            for group in groups(measure_similarity(model, sample, 0), names, threshold)
            for name in (*group.selected, *group.others)
        ]
        assert len(listed) == len(set(listed))


@pytest.mark.usefixtures("without_rendering")
def test_every_kind_of_table_gives_the_same_report(tmp_path: Path) -> None:
    table = np.rint(3 * X).astype(np.float64)
    frame = pd.DataFrame(table, columns=[f"x{j}" for j in range(12)])
    settings: dict[str, Any] = {"penalty": 0.01, "n_estimators": 5, "search": "exhaustive", "random_state": 0}
    plain = report_of(tmp_path, GTGBMRegressor(**settings).fit(table, SIGNAL), table, SIGNAL)
    for same in (frame, csr_matrix(table), table.astype(np.int16)):
        other = report_of(tmp_path, GTGBMRegressor(**settings).fit(same, SIGNAL), same, SIGNAL)
        for section in ("selected", "correlations", "quality"):
            assert other.rows[section] == plain.rows[section]


@pytest.mark.usefixtures("without_rendering")
def test_columns_of_dataframes_go_by_name(tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(12)])
    model = GTGBMRegressor(n_estimators=5, random_state=0).fit(frame, SIGNAL)
    plain = report_of(tmp_path, model, frame, SIGNAL)
    other = report_of(tmp_path, model, frame.iloc[:, ::-1].assign(more="text"), SIGNAL)
    for section in ("selected", "correlations", "quality"):
        assert other.rows[section] == plain.rows[section]
    with pytest.raises(ValueError, match="X lacks columns that the model was fitted on: column 3, column 7"):
        report_of(tmp_path, model, frame.drop(columns=["column 3", "column 7"]), SIGNAL)


NASTY = [
    "<script>alert(1)</script>",
    "</title></style></svg>",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "$\\frac{1}{0}$",
    "日本語の列 \U0001f600",
    "two\nlines",
    "half \ud800 pair",
    "x" * 300,
    "' onclick='alert(1)",
    "&amp;",
    "</script><script>alert(2)",
]


def test_names_are_text_whatever_they_are(tmp_path: Path) -> None:
    classes = np.array(["<b>no</b>", "<i>yes</i>"])[(SIGNAL > 0).astype(int)]
    model = GTGBMClassifier(penalty=0.0001, n_estimators=20, random_state=0).fit(X, classes)
    assert model.n_selected_features_ >= 8
    page = report_of(tmp_path, model, X, classes, title=NASTY[0], names=NASTY)
    plain = report_of(tmp_path, GTGBMClassifier(**model.get_params()).fit(X, SIGNAL > 0))
    counted = [[tag for tag, _ in one.tags].count("script") for one in (page, plain)]
    assert counted == [1, 1]
    assert not {tag for tag, _ in page.tags} & {"img", "i"}
    assert not any(name.startswith("on") for _, attrs in page.tags for name in attrs)
    assert "{{ 7 * 7 }}" in page.source
    names = [row[0] for row in page.rows["selected"][1:]]
    expected = [NASTY[j].replace("\ud800", "?") for j in columns_as_bought(model)]
    assert names == expected


@pytest.mark.parametrize(
    ("model", "y", "given"),
    [
        (GTGBMRegressor(n_estimators=8), SIGNAL, {}),
        (GTGBMRegressor(n_estimators=8, loss="poisson"), np.rint(np.exp(SIGNAL / 2)), {}),
        (GTGBMClassifier(n_estimators=4), np.digitize(SIGNAL, [-1, 0, 1]), {}),
        (GTGBMRanker(n_estimators=8), np.digitize(SIGNAL, [-1, 0, 1]), {"qid": np.arange(500) // 7}),
        (MultitaskGTGBMClassifier(n_estimators=8), SIGNAL > 0, {"task": TASK}),
        (MultitaskGTGBMClassifier(n_estimators=8, method="single-task"), SIGNAL > 0, {"task": TASK}),
        (MultitaskGTGBMRegressor(n_estimators=8), np.column_stack([SIGNAL, X[:, 3]]), {}),
        (MultitaskGTGBMClassifier(n_estimators=4), np.digitize(SIGNAL, [-1, 1]), {"task": TASK}),
        (
            MultitaskGTGBMClassifier(n_estimators=4),
            np.column_stack([np.digitize(SIGNAL, [-1, 1]), np.where(X[:, 3] > 1, np.nan, X[:, 3] > 0)]),
            {},
        ),
        (
            MultitaskGTGBMRanker(n_estimators=4),
            np.digitize(SIGNAL, [-1, 1]),
            {"task": TASK, "qid": np.arange(500) // 15},
        ),
        (
            MultitaskGTGBMRanker(n_estimators=4),
            np.column_stack([np.digitize(SIGNAL, [-1, 1]), np.where(X[:, 3] > 1, np.nan, X[:, 3] > 0)]),
            {"qid": np.arange(500) // 7},
        ),
    ],
    ids=[
        *("numbers", "counts", "classes", "ranking", "tasks", "single-task", "columns"),
        *("classes of tasks", "columns of classes", "rankings of tasks", "columns of relevance"),
    ],
)
def test_every_kind_of_model_has_a_report(tmp_path: Path, model: Any, y: Any, given: Any) -> None:
    model.fit(X, y, **given)
    page = report_of(tmp_path, model, X, y, **given)
    is_multitask = hasattr(model, "tasks_")
    assert ("tasks" in page.rows) == is_multitask
    assert len(page.rows["selected"]) == 1 + model.n_selected_features_
    if "qid" in given:
        assert {row[2] for row in page.rows["correlations"][1:]} == {"–"}, "scores have no residuals"
    if is_multitask:
        assert [row[0] for row in page.rows["tasks"][1:]] == [str(task) for task in model.tasks_]


def test_models_with_few_features_or_odd_columns(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="no features are selected"):
        nothing = GTGBMClassifier(penalty=0.999, n_estimators=2).fit(X, SIGNAL > 0)
    page = report_of(tmp_path, nothing)
    assert "No feature was selected" in page.text["selected"]
    one = GTGBMRegressor(n_features_to_select=1, n_estimators=3).fit(X, SIGNAL)
    assert len(report_of(tmp_path, one, X, SIGNAL).rows["selected"]) == 2
    odd = X.copy()
    odd[:, 3], odd[:, 4], odd[0, 7] = 1 / 3, np.nan, np.inf
    odd[RNG.random(odd.shape) < 0.3] = np.nan
    model = GTGBMRegressor(n_estimators=5, penalty=0.0001).fit(odd, SIGNAL)
    page = report_of(tmp_path, model, odd, SIGNAL)
    assert "Constant columns2" in page.text["data"], "one of a number, one all missing"


def test_few_rows_and_rows_of_one_class(tmp_path: Path, model: Any) -> None:
    for rows in (slice(0, 1), slice(0, 2), SIGNAL > 0):
        page = report_of(tmp_path, model, X[rows], (SIGNAL > 0)[rows])
        assert [tag for tag, _ in page.tags].count("section") == len(SECTIONS)
    regressor = GTGBMRegressor(n_estimators=3).fit(X, SIGNAL)
    report_of(tmp_path, regressor, X[:1], SIGNAL[:1])


def test_categories_are_named(tmp_path: Path) -> None:
    colour = RNG.integers(0, 5, 500).astype(np.float64)
    colour[::9] = np.nan
    table = np.column_stack([colour, X[:, 1]])
    y = (colour == 3) | np.isnan(colour)
    model = GTGBMClassifier(categorical_features=[0], n_estimators=5, min_samples_leaf=5).fit(table, y)
    page = report_of(tmp_path, model, table, y, names=["colour", "wind"])
    assert {row[0] for row in page.rows["selected"][1:]} >= {"colour = 3", "colour = missing"}


@pytest.mark.usefixtures("without_rendering")
def test_many_rows_are_sampled_and_the_report_says_so(tmp_path: Path) -> None:
    relevance, qid = np.digitize(SIGNAL, [0, 1]), np.arange(500) // 7
    ranker = GTGBMRanker(n_estimators=3).fit(X, relevance, qid=qid)
    sample = draw_sample(ranker, X, relevance, metric=None, qid=qid, task=None, max_rows=100, seed=0)
    assert 90 < sample.n_rows <= 100
    assert all(np.count_nonzero(sample.qid == one) == 7 for one in np.unique(sample.qid)[:-1])
    model = GTGBMRegressor(n_estimators=3).fit(X, SIGNAL)
    page = report_of(tmp_path, model, X, SIGNAL, max_rows=50)
    assert "50, drawn at random from 500" in page.text["data"]


def test_wide_tables(tmp_path: Path) -> None:
    wide = np.random.default_rng(1).normal(size=(300, 5000)).astype(np.float32)
    model = GTGBMRegressor(n_estimators=3, penalty=0.02).fit(wide, wide[:, 4321])
    page = report_of(tmp_path, model, wide, wide[:, 4321])
    assert page.rows["selected"][1][0] == "x4321"
    assert len(page.source) < 2_000_000


@pytest.mark.usefixtures("without_rendering")
def test_models_with_fewer_features(tmp_path: Path, model: Any) -> None:
    page = report_of(tmp_path, model, train={"X": X, "y": SIGNAL > 0})
    head, *rows = page.rows["path"]
    assert head[0] == "Features"
    counts = [int(row[0]) for row in rows]
    assert counts[0] == 1
    assert counts[-1] == model.n_selected_features_
    one = GTGBMClassifier(**model.get_params() | {"n_features_to_select": 1, "selection": "forward"})
    one.fit(X, SIGNAL > 0)
    expected = METRICS["auc"](SIGNAL > 0, one.predict_proba(X)[:, 1])
    assert rows[0][1] == f"{expected:.4f}"


@pytest.mark.usefixtures("without_rendering")
def test_file_is_whole_or_not_there(tmp_path: Path, model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError("disk full")

    target = tmp_path / "report.html"
    target.write_text("before")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report(model, X, SIGNAL > 0, target)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert target.read_text() == "before"


def test_mistakes_are_named_before_work_begins(tmp_path: Path, model: Any) -> None:
    target = tmp_path / "report.html"
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        write_report(model, X, SIGNAL > 0, tmp_path / "absent" / "report.html")
    with pytest.raises(ValueError, match="X has 3 columns"):
        write_report(model, X[:, :3], SIGNAL > 0, target)
    with pytest.raises(ValueError, match="y has 7 targets, X 500 rows"):
        write_report(model, X, SIGNAL[:7] > 0, target)
    with pytest.raises(ValueError, match="threshold=2"):
        write_report(model, X, SIGNAL > 0, target, threshold=2)
    with pytest.raises(ValueError, match="max_rows=0"):
        write_report(model, X, SIGNAL > 0, target, max_rows=0)
    with pytest.raises(ValueError, match="train must hold the arguments of fit"):
        write_report(model, X, SIGNAL > 0, target, train=(X, SIGNAL > 0))  # type: ignore[arg-type]
    with pytest.raises(NotFittedError, match="not fitted"):
        write_report(GTGBMClassifier(), X, SIGNAL > 0, target)
    with pytest.raises(ValueError, match="names has 2 entries"):
        write_report(model, X, SIGNAL > 0, target, names=["a", "b"])
    assert not target.exists()


def test_dataframes_of_every_kind_of_column(tmp_path: Path) -> None:
    columns = mixed_values(800)
    frame, y = pl.DataFrame(columns), target_of(columns)
    model = GTGBMClassifier(n_estimators=15, categorical="column", random_state=0).fit(frame, y)
    page = report_of(tmp_path, model, frame, y)
    assert {row[0] for row in page.rows["selected"][1:]} <= set(frame.columns)
    assert "town" in {row[0] for row in page.rows["selected"][1:]}
    save_model(model, tmp_path / "model.json")
    loaded = report_of(tmp_path, load_model(tmp_path / "model.json"), frame, y)
    assert loaded.rows["selected"] == page.rows["selected"]
    assert loaded.rows["correlations"] == page.rows["correlations"]
