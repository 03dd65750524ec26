"""Kills fits at random moments and lets them go on from their checkpoints, until they are finished.

``python -m tests.estimators.killed_fits --times 50`` reports how many fits gave the same model file as a fit
that was never interrupted.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import gtgbm
from gtgbm.boosting import checkpoint_store

CASES = ("sampled", "selected", "tasks")
_PER_FIT = 2
"""Most times that a fit is killed."""


def fit(case: str, checkpoint_file: Path | None) -> Any:
    """Fit the model of a case: rows and columns drawn per round, forward-backward selection, or tasks."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 150))
    y = (X[:, 3] + X[:, 70] * X[:, 9] + 0.5 * rng.normal(size=800) > 0).astype(int)
    shape: dict[str, Any] = {"n_estimators": 25, "random_state": 0, "search": "group-testing", "n_jobs": 1}
    print("ready", flush=True)  # importing and generating is over
    if case == "sampled":
        drawn: dict[str, Any] = {"subsample": 0.7, "colsample": 0.7, "early_stopping_rounds": 20}
        return gtgbm.GTGBMClassifier(**shape | drawn).fit(X, y, checkpoint=checkpoint_file)
    if case == "selected":
        model = gtgbm.GTGBMClassifier(n_features_to_select=3, **shape)
        return model.fit(X, y, checkpoint=checkpoint_file)
    Y = np.stack([y, X[:, 3] - X[:, 20] > 0], axis=1).astype(float)
    model = gtgbm.MultitaskGTGBMClassifier(n_common_rounds=8, task_order="parallel", **shape)
    return model.fit(X, Y, checkpoint=checkpoint_file)


def written(model: Any, path: Path) -> dict[str, Any]:
    """Return the content of a model's file, without the seconds that the fit took."""
    model.save_model(path)
    content: dict[str, Any] = json.loads(path.read_text())
    content.pop("timings")
    return content


def killed_fits(times: int, seed: int, folder: Path) -> tuple[int, int]:
    """Kill fits so many times; return how many fits were finished, and how many of them are the same."""
    draw = random.Random(seed)
    n_kills = n_finished = n_same = 0
    expected: dict[str, tuple[dict[str, Any], float]] = {}
    while n_kills < times:
        case = CASES[n_finished % len(CASES)]
        if case not in expected:
            begin = time.monotonic()
            model = fit(case, None)
            expected[case] = written(model, folder / f"{case}.json"), time.monotonic() - begin
        same, seconds = expected[case]
        kept, out = folder / "checkpoint", folder / "out.json"
        last = min(n_kills + _PER_FIT, times)
        while not _finishes(case, kept, out, draw.uniform(0.0, 0.7 * seconds) if n_kills < last else None):
            n_kills += 1
        content = json.loads(out.read_text())
        content.pop("timings")
        n_finished, n_same = n_finished + 1, n_same + (content == same)
        assert sorted(file.name for file in folder.iterdir()) == sorted(
            [*(f"{known}.json" for known in expected), "out.json"]
        ), "a finished fit leaves nothing but its model"
    return n_finished, n_same


def _finishes(case: str, kept: Path, out: Path, seconds: float | None) -> bool:
    """Run a fit in another process and kill it after some seconds; return whether it was finished."""
    command = [sys.executable, "-m", "tests.estimators.killed_fits", "--child", case, str(kept), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        try:
            assert child.wait(seconds) == 0, "the fit failed"
        except subprocess.TimeoutExpired:
            child.kill()
            return False
    return True


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", nargs=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # of few features
    if options.child:
        checkpoint_store._SECONDS, checkpoint_store._SHARE = 0.0, 1.0  # after every round
        case, kept, out = options.child
        fit(case, Path(kept)).save_model(out)
        return
    with tempfile.TemporaryDirectory() as folder:
        n_finished, n_same = killed_fits(options.times, options.seed, Path(folder))
    print(f"{options.times} times killed, {n_same} of {n_finished} model files are the same")
    sys.exit(n_same != n_finished)


if __name__ == "__main__":
    main()
