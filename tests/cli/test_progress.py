"""What is said while and after a model is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gtgbm import GTGBMRegressor, MultitaskGTGBMRegressor
from gtgbm.boosting import Progress, ProgressBar
from tests.cli.tables import frame, run, said, write
from tests.strategies import selects_few


def test_the_end_of_a_fit_says_what_counts(tmp_path: Path) -> None:
    path, out = write(tmp_path, ".csv", frame()), tmp_path / "model.json"
    fit = ("fit", path, "--target", "clicked", "--exclude", "amount", "--max-features", 3, "--out", out)
    done = run(*fit, "--valid", "0.25", "--trees", 30)
    assert done.exit_code == 0, done.output
    assert "rough estimate" not in said(done)
    last = [line for line in done.output.splitlines() if line.startswith("Held out: ")]
    assert len(last) == 1
    assert " auc 0." in last[0]
    assert "; 3 features, 30 rounds, the best was round " in last[0]


@selects_few
def test_the_bar_of_a_path_counts_the_rounds_of_each_model(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []
    monkeypatch.setattr(ProgressBar, "update", lambda _, progress: rounds.append(progress.round))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    task = np.arange(120) % 2
    settings: dict[str, Any] = {"n_estimators": 3, "random_state": 0}
    GTGBMRegressor(**settings)._fit_sizes([2, 1], X, X[:, 0] + X[:, 1])
    MultitaskGTGBMRegressor(**settings)._fit_sizes([2, 1], X, X[:, 0] + X[:, 1], task=task)
    assert rounds == [1, 2, 3] * 4


@pytest.mark.parametrize(
    ("followed", "shown"),
    [
        (
            [{"log_loss": 0.5, "auc": 0.7}, {"log_loss": 0.4, "auc": 0.6}],
            "held-out auc 0.60000  best round 1",
        ),
        ([{"log_loss": 0.5}, {"log_loss": 0.4}], "held-out log_loss 0.40000  best round 2"),
        ([{"log_loss": 0.5, "mine": 1.0}, {"log_loss": 0.4, "mine": 2.0}], "held-out mine 2.00000"),
        ([{}, {}], "loss 0.30000"),
    ],
)
def test_the_bar_follows_the_held_out_metric(followed: list[dict[str, float]], shown: str) -> None:
    bar = ProgressBar(True, 2)
    for round_, values in enumerate(followed, start=1):
        evaluations = {"validation_0": values} if values else {}
        bar.update(Progress(round_, 2, 0.3, 4, None, evaluations))
    assert bar._bar.tasks[0].fields["state"] == f"features 4  {shown}"


def test_the_progress_of_tasks_has_the_mean_of_their_metrics() -> None:
    rng = np.random.default_rng(0)
    X, task = rng.normal(size=(90, 3)), np.repeat(["a", "b", "c"], 30)
    seen: list[Progress] = []
    model = MultitaskGTGBMRegressor(task_penalty=0, n_estimators=3, eval_metric="mae", random_state=0)
    # Task c has no validation rows.
    model.fit(
        X, X[:, 0], task=task, eval_set=(X[:60], X[:60, 0]), eval_task=task[:60], callbacks=[seen.append]
    )
    for round_, progress in enumerate(seen):
        assert list(progress.evaluations) == ["validation_0"]
        for name, value in progress.evaluations["validation_0"].items():
            of_tasks = [model.evals_result_[k]["validation_0"][name][round_] for k in ("a", "b")]
            assert value == pytest.approx(np.mean(of_tasks), rel=1e-12)
    assert [progress.round for progress in seen] == [1, 2, 3]
