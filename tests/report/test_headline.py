"""The headline of a report: which rows it is of, how sure it is, and what it is compared with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gtgbm import GTGBMClassifier, GTGBMRanker, GTGBMRegressor, MultitaskGTGBMRegressor
from gtgbm.metrics import METRICS
from gtgbm.report import RowSource
from gtgbm.report.sample import draw_sample
from gtgbm.report.verdict import Value, metric_table
from tests.report.test_report import NASTY, SIGNAL, TASK, Page, report_of
from tests.report.test_report import X as TABLE

TRAIN, TEST = slice(0, 300), slice(300, 500)

pytestmark = pytest.mark.usefixtures("without_rendering")


@pytest.fixture(scope="module")
def model() -> Any:
    return GTGBMClassifier(penalty=0.01, n_estimators=20, random_state=0).fit(TABLE[TRAIN], SIGNAL[TRAIN] > 0)


def banners(page: Page) -> int:
    return sum("banner" in (attrs.get("class") or "") for _, attrs in page.tags)


def header_of(page: Page) -> str:
    return " ".join(page.text[""].split())


def metrics_of(model: Any, X: Any, y: Any, **given: Any) -> dict[str, Value]:
    given = {"qid": None, "task": None, "metric": None} | given
    sample = draw_sample(model, X, y, max_rows=9999, seed=0, **given)
    return {value.name: value for value in metric_table(sample, 0)}


def test_verdict_names_metric_interval_columns_rows_and_baseline(tmp_path: Path, model: Any) -> None:
    source = RowSource("clicks.csv", "held-out", "Every fifth row.", 1000)
    page = report_of(tmp_path, model, TABLE[TEST], SIGNAL[TEST] > 0, source=source)
    expected = METRICS["auc"](SIGNAL[TEST] > 0, model.predict_proba(TABLE[TEST])[:, 1])
    text = header_of(page)
    assert f"Using {model.n_selected_features_} of 12 columns" in text
    assert f"AUC {expected:.4f} (95% interval " in text
    assert "on 200 held-out rows of clicks.csv" in text
    assert "gives 0.5000; the model is clearly better" in text
    assert not banners(page)
    assert "200, drawn at random from 1,000" in page.text["data"]
    assert "Every fifth row." in page.text["data"]


def test_rows_that_were_trained_on_are_found_out(tmp_path: Path, model: Any) -> None:
    page = report_of(tmp_path, model, TABLE[TRAIN], SIGNAL[TRAIN] > 0)
    assert banners(page) == 1
    assert "300 training rows" in header_of(page)
    assert "The model was trained on these rows." in header_of(page)
    other = report_of(tmp_path, model, TABLE[TEST], SIGNAL[TEST] > 0)
    assert not banners(other)
    assert "Whether the model was trained on these rows is not known" in header_of(other)


@pytest.mark.parametrize(
    ("model", "y", "given"),
    [
        (GTGBMRegressor(n_estimators=5), SIGNAL, {}),
        (GTGBMClassifier(n_estimators=3), np.digitize(SIGNAL, [-1, 0, 1]), {}),
        (GTGBMRanker(n_estimators=5), np.digitize(SIGNAL, [-1, 0, 1]), {"qid": np.arange(500) // 7}),
        (MultitaskGTGBMRegressor(n_estimators=5), SIGNAL, {"task": TASK}),
        (MultitaskGTGBMRegressor(n_estimators=5), np.column_stack([SIGNAL, TABLE[:, 3]]), {}),
    ],
    ids=["numbers", "classes", "ranking", "tasks", "columns"],
)
def test_training_rows_of_every_kind_are_found_out(tmp_path: Path, model: Any, y: Any, given: Any) -> None:
    model.fit(TABLE, y, **given)
    assert banners(report_of(tmp_path, model, TABLE, y, max_rows=100, **given)) == 1
    shorter = {name: values[:-7] for name, values in given.items()}
    assert not banners(report_of(tmp_path, model, TABLE[:-7], y[:-7], **shorter))


def test_model_that_learnt_nothing_is_not_called_better(tmp_path: Path) -> None:
    noise = np.random.default_rng(3).normal(size=500) > 0
    model = GTGBMClassifier(n_estimators=3, random_state=0).fit(TABLE[TRAIN], noise[TRAIN])
    page = report_of(tmp_path, model, TABLE[TEST], noise[TEST])
    assert "the model is not clearly better" in header_of(page)


def test_names_of_tables_are_text(tmp_path: Path, model: Any) -> None:
    name = " ".join(NASTY)
    source = RowSource(name, "training", name)
    page = report_of(tmp_path, model, TABLE[TEST], SIGNAL[TEST] > 0, source=source)
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert not {tag for tag, _ in page.tags} & {"img"}


def test_constant_predictions_rank_as_a_random_order() -> None:
    relevance, qid = np.digitize(SIGNAL, [0.5, 1]), np.arange(500) // 10
    model = GTGBMRanker(n_estimators=5).fit(TABLE, relevance, qid=qid)
    rng = np.random.default_rng(0)
    found = metrics_of(model, TABLE, relevance, qid=qid)
    shuffled = [METRICS["mrr"](relevance, rng.random(500), None, qid) for _ in range(1000)]
    assert found["mrr"].without == pytest.approx(np.mean(shuffled), abs=0.01)
    assert found["mrr"].low < found["mrr"].value < found["mrr"].high


def test_tasks_are_measured_as_score_does(tmp_path: Path) -> None:
    y = SIGNAL + 5.0 * (TASK == "a")
    model = MultitaskGTGBMRegressor(n_estimators=8).fit(TABLE[TRAIN], y[TRAIN], task=TASK[TRAIN])
    found = metrics_of(model, TABLE[TEST], y[TEST], task=TASK[TEST])["r2"]
    assert found.value == pytest.approx(model.score(TABLE[TEST], y[TEST], task=TASK[TEST]))
    of_tasks = [
        METRICS["r2"](y[TEST][TASK[TEST] == t], model.predict(TABLE[TEST], task=TASK[TEST])[TASK[TEST] == t])
        for t in "ab"
    ]
    assert found.of_tasks == pytest.approx(np.mean(of_tasks))
    page = report_of(tmp_path, model, TABLE[TEST], y[TEST], task=TASK[TEST])
    assert "over the rows of all tasks together" in page.text["quality"]
    assert page.rows["quality"][0][-1] == "Mean over tasks"

    Y = np.column_stack([SIGNAL, TABLE[:, 3]])
    model = MultitaskGTGBMRegressor(n_estimators=8).fit(TABLE[TRAIN], Y[TRAIN])
    found = metrics_of(model, TABLE[TEST], Y[TEST])["r2"]
    assert found.value == pytest.approx(model.score(TABLE[TEST], Y[TEST]))
    assert "mean over 2 tasks" in report_of(tmp_path, model, TABLE[TEST], Y[TEST]).text["quality"]


def test_metric_stands_once_per_round(tmp_path: Path, model: Any) -> None:
    _, *rows = report_of(tmp_path, model, TABLE[TEST], SIGNAL[TEST] > 0).rows["selected"]
    rounds = [row[6] for row in rows]
    assert len(set(rounds)) < len(rounds), "some round selected several features"
    for k, row in enumerate(rows):
        assert bool(row[7]) == (rounds[k] not in rounds[k + 1 :])


def test_timings_are_folded_and_changed_settings_stand_out(tmp_path: Path, model: Any) -> None:
    page = report_of(tmp_path, model, TABLE[TEST], SIGNAL[TEST] > 0)
    text = page.source[page.source.index('<section id="settings">') :]
    before, after = text.split("parameters at their defaults")
    assert "penalty</dt><dd>0.01" in before
    assert "min_samples_leaf" not in before
    assert "min_samples_leaf" in after
    assert "<summary>Time of each stage of the fit</summary>" in after


def test_curves_of_two_classes_and_partial_dependence(tmp_path: Path, model: Any) -> None:
    page = report_of(tmp_path, model, TABLE[TEST], SIGNAL[TEST] > 0)
    for title in (
        "ROC curve",
        "Precision-recall curve",
        "Cumulative gain",
        "Calibration",
        "Confusion matrix at threshold 0.5",
    ):
        assert title in page.text["quality"]
    assert "Partial dependence" in page.text["adds"]


def test_captions_name_the_class_they_are_about(tmp_path: Path) -> None:
    y = np.where(SIGNAL > 0, "on time", "late")
    model = GTGBMClassifier(penalty=0.01, n_estimators=10).fit(TABLE[TRAIN], y[TRAIN])
    page = report_of(tmp_path, model, TABLE[TEST], y[TEST])
    assert re.search(r"recall 0\.\d+ for on time\.", page.text["quality"])
    assert "probability of on time" in page.text["adds"]


def test_model_of_all_features_is_compared_when_asked_for(tmp_path: Path, model: Any) -> None:
    y = SIGNAL > 0
    train: dict[str, Any] = {"X": TABLE[TRAIN], "y": y[TRAIN]}
    page = report_of(tmp_path, model, TABLE[TEST], y[TEST], train=train, compare_all=True)
    free = GTGBMClassifier(**model.get_params() | {"penalty": 0.0}).fit(**train)
    expected = METRICS["auc"](y[TEST], free.predict_proba(TABLE[TEST])[:, 1])
    n_columns = free.selected_features_.shape[0]
    sentence = f"Without feature cost, a model that uses {n_columns} columns reaches AUC {expected:.4f}."
    assert sentence in header_of(page)
    # Once: a model with a limit and selection="forward-backward" could not be compared.
    limited = GTGBMClassifier(n_features_to_select=2, selection="forward-backward", n_estimators=20)
    limited.fit(**train)
    page = report_of(tmp_path, limited, TABLE[TEST], y[TEST], train=train, compare_all=True)
    assert "Without feature cost, a model that uses 12 columns reaches" in header_of(page)
    with pytest.raises(ValueError, match="compare_all=True fits another model"):
        report_of(tmp_path, model, TABLE[TEST], y[TEST], compare_all=True)
