"""``gtgbm report`` looks at the rows that ``gtgbm fit --valid`` held out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from gtgbm import GTGBMClassifier, GTGBMRanker, GTGBMRegressor, MultitaskGTGBMRegressor, load_model
from gtgbm.cli import report as report_command
from gtgbm.cli.commands import app
from gtgbm.explain import held_out_again
from gtgbm.metrics import METRICS
from gtgbm.report import RowSource, write_report

pytestmark = pytest.mark.usefixtures("without_rendering")

N = 600
RNG = np.random.default_rng(0)
VALUES = RNG.normal(size=(N, 6))
TOWN = RNG.choice(["x", "y", "z"], N)
SIGNAL = VALUES[:, 0] + VALUES[:, 1] * VALUES[:, 2] + (TOWN == "z") + RNG.normal(size=N)
FRAME = pd.DataFrame(VALUES, columns=[f"c{j}" for j in range(6)]).assign(
    town=TOWN, clicked=(SIGNAL > 0).astype(int), query=np.arange(N) // 6
)


def run(*arguments: Any) -> Any:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == 0, done.output
    return done


def fit(tmp_path: Path, *arguments: Any, suffix: str = "csv") -> tuple[Path, Path]:
    table, out = tmp_path / f"table.{suffix}", tmp_path / "model.json"
    if suffix == "csv":
        FRAME.to_csv(table, index=False)
    else:
        FRAME.to_parquet(table)
    run("fit", table, "--target", "clicked", "--trees", 8, "--quiet", "--out", out, *arguments)
    return table, out


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What would have been written: a report takes seconds."""
    calls: list[dict[str, Any]] = []

    def keep(model: Any, X: Any, y: Any, out: Path, **given: Any) -> Path:
        calls.append({"model": model, "X": X, "y": y, **given})
        out.write_text("")
        return out

    monkeypatch.setattr("gtgbm.report.write_report", keep)
    return calls


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_held_out_by_a_fraction_are_drawn_again(
    tmp_path: Path, written: list[dict[str, Any]], suffix: str
) -> None:
    _, out = fit(tmp_path, "--valid", 0.25, "--random-state", 7, suffix=suffix)
    run("report", out, "--out", tmp_path / "report.html")
    (found,) = written
    assert found["source"].use == "held-out"
    assert found["source"].n_rows == len(found["y"]) == N // 4
    assert "--valid 0.25" in found["source"].note
    model = load_model(out)
    evaluated = next(values for name, values in model.evals_result_.items() if name != "training")["auc"][-1]
    again = METRICS["auc"](found["y"], model.predict_proba(found["X"])[:, 1])
    assert again == pytest.approx(evaluated, abs=1e-12), "the very rows that fit followed"


def test_whole_queries_are_held_out_and_drawn(
    tmp_path: Path, written: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out = fit(tmp_path, "--valid", 0.5, "--qid", "query", "--exclude", "town")
    run("report", out, "--out", tmp_path / "report.html")
    monkeypatch.setattr(report_command, "_MOST_ROWS", 100)
    run("report", out, "--out", tmp_path / "report.html")
    for found, n_rows in zip(written, (N // 2, 96), strict=True):
        assert found["source"].n_rows == N // 2
        assert len(found["y"]) == n_rows
        assert set(np.unique(found["qid"], return_counts=True)[1]) == {6}


def test_file_given_as_valid_is_the_default(tmp_path: Path, written: list[dict[str, Any]]) -> None:
    other = tmp_path / "later.csv"
    FRAME[400:].to_csv(other, index=False)
    _, out = fit(tmp_path, "--valid", other)
    run("report", out, "--out", tmp_path / "report.html")
    (found,) = written
    assert (found["source"].name, found["source"].use, len(found["y"])) == ("later.csv", "held-out", 200)


def test_training_rows_are_called_so(tmp_path: Path, written: list[dict[str, Any]]) -> None:
    table, out = fit(tmp_path)
    done = run("report", out, "--out", tmp_path / "report.html")
    assert "rows that the model was trained on" in " ".join(done.output.split())
    _, out = fit(tmp_path, "--valid", 0.25)
    FRAME[:-1].to_csv(table, index=False)
    run("report", out, "--out", tmp_path / "report.html")
    first, second = (one["source"] for one in written)
    assert first.use == second.use == "training"
    assert "had 600 rows when the model was trained and has 599 now" in second.note


def test_other_tables_are_of_unknown_use(tmp_path: Path, written: list[dict[str, Any]]) -> None:
    _, out = fit(tmp_path, "--valid", 0.25)
    other = tmp_path / "other.csv"
    FRAME[:100].to_csv(other, index=False)
    run("report", out, other, "--out", tmp_path / "report.html")
    source: RowSource = written[0]["source"]
    assert (source.name, source.use, source.n_rows) == ("other.csv", "unknown", 100)


def test_headline_is_of_the_held_out_rows(tmp_path: Path) -> None:
    _, out = fit(tmp_path, "--valid", 0.25)
    page = tmp_path / "report.html"
    run("report", out, "--out", page)
    assert "on 150 held-out rows of table.csv" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["classes", "numbers", "ranking", "tasks"])
def test_rows_of_validation_fraction_are_drawn_again(kind: str, tmp_path: Path) -> None:
    early: dict[str, Any] = {"early_stopping_rounds": 3, "validation_fraction": 0.2, "n_estimators": 30}
    X = VALUES
    more: dict[str, Any] = {}
    model: Any = GTGBMRegressor(**early, random_state=3)
    y = SIGNAL
    if kind == "classes":
        model, y = GTGBMClassifier(**early), np.where(SIGNAL > 0.5, "yes", "no")
    if kind == "ranking":
        model, y, more = GTGBMRanker(**early), np.digitize(SIGNAL, [0.5, 1]), {"qid": np.arange(N) // 6}
    if kind == "tasks":
        model, more = MultitaskGTGBMRegressor(**early, random_state=3), {"task": TOWN}
    model.fit(X, y, **more)
    rows = held_out_again(model, X, y, **more)
    assert rows is not None
    assert 0.15 * N < rows.shape[0] < 0.25 * N
    if kind == "numbers":
        last = model.evals_result_["validation_0"]["squared_error"][model.n_iter_ - 1]
        assert np.mean((model.predict(X[rows]) - y[rows]) ** 2) == pytest.approx(last, rel=1e-9)
    page = write_report(model, X, y, tmp_path / "report.html", **more).read_text()
    assert "The model was trained on these rows" not in page
    assert f"<b>{rows.shape[0]}</b> held-out rows" in page
    assert "validation_fraction=0.2 held out for early stopping" in page
    # Other rows, or an eval set instead of the fraction: nothing can be drawn again.
    fewer = {name: values[: N - 6] for name, values in more.items()}
    assert held_out_again(model, X[: N - 6], y[: N - 6], **fewer) is None
    if kind in ("classes", "numbers"):
        model.fit(X, y, eval_set=(X[:100], y[:100]))
        assert held_out_again(model, X, y) is None


def test_command_line_draws_the_rows_of_validation_fraction_again(
    tmp_path: Path, written: list[dict[str, Any]]
) -> None:
    _, out = fit(tmp_path, "--early-stopping", 3, "--validation-fraction", 0.2)
    done = run("report", out, "--out", tmp_path / "report.html")
    assert "trained on" not in done.output
    (found,) = written
    assert found["source"].use == "held-out"
    assert len(found["y"]) == N // 5
    model = load_model(out)
    again = METRICS["auc"](found["y"], model.predict_proba(found["X"])[:, 1])
    recorded = model.evals_result_["validation_0"]["auc"][model.n_iter_ - 1]
    assert again == pytest.approx(recorded, abs=1e-12)
