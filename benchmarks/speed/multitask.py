"""Seconds of fits of several tasks: in turns or side by side, binned once or task by task, or independent.

    python -m benchmarks.speed.multitask --data-dir DIR

Every fit has a process of its own, and those that are compared take turns; ratios are of medians. The table
goes into docs/multitask.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from measuring.data.multitask import Rows, amazon, generated_dense, generated_targets, school
from measuring.environment import environment
from measuring.files import ROOT
from measuring.markdown import facts, number, table, write_between
from measuring.peers.gtgbm_models import estimator, multitask_estimator
from measuring.processes import call_in_process

PAGE = ROOT / "docs" / "multitask.md"
_LIMIT = 100
THREADS = 2

PAIRS: dict[str, tuple[str, str]] = {
    "amazon4_multidomain, four tasks together / four fits at the same price": ("reviews", "alone"),
    "the same, 100 features in all / as many each": ("limited", "alone-limited"),
    "amazon4_multidomain, side by side / in turns": ("reviews-parallel", "reviews"),
    "school, 139 tasks, side by side / in turns": ("school-parallel", "school"),
    "4 tasks of 40,000 × 100, side by side / in turns": ("dense-parallel", "dense"),
    "12 targets of 8,000 × 800, binned once / row by row, all features looked at": ("targets", "stacked"),
}


def seconds_of(name: str, data_dir: str) -> float:
    """Fit once."""
    folder = Path(data_dir)
    kind, _, how = name.partition("-")
    order = "parallel" if how == "parallel" else "sequential"
    together: dict[str, Any] = {"task_order": order, "random_state": 0}
    fit: dict[str, Any] = {}
    if kind in ("reviews", "limited", "alone"):
        rows = amazon(folder, 0)[0]
        is_limited = "limited" in (kind, how)
        model = multitask_estimator("binary", **together, n_features_to_select=_LIMIT if is_limited else None)
        if kind == "alone":
            return _alone(rows, model, is_limited)
    elif kind == "school":
        rows = school(folder, 0)[0]
        model = multitask_estimator(
            "regression",
            **together,
            group_penalty=0.01,
            learning_rate=0.05,
            n_estimators=50,
            min_node_fraction=0.3,
        )
    elif kind == "dense":
        rows, model = generated_dense(), multitask_estimator("binary", **together, n_estimators=50)
    else:
        X, Y = generated_targets()
        model = multitask_estimator("binary", **together, n_estimators=50, search="exhaustive")
        rows = Rows(X, Y, np.empty(0))
        if kind == "stacked":
            task, at = np.nonzero(~np.isnan(Y.T))
            rows = Rows(X[at], Y[at, task], task)
    if rows.task.shape[0]:
        fit["task"] = rows.task
    begin = perf_counter()
    model.fit(rows.X, rows.y, **fit)
    return perf_counter() - begin


def _alone(rows: Rows, together: Any, is_limited: bool) -> float:
    """Fit four models at the price of new features; limited: each to as many as its task among others has."""
    if is_limited:
        together.fit(rows.X, rows.y, task=rows.task)
    seconds = 0.0
    for name in np.unique(rows.task):
        of_task = rows.at(rows.task == name)
        model = estimator(
            "auto",
            "binary",
            # That of task_penalty="auto".
            penalty=together.group_penalty + 8 / (8 + of_task.y.shape[0]),
            n_features_to_select=len(together.task_features_[name]) if is_limited else None,
            random_state=0,
        )
        begin = perf_counter()
        model.fit(of_task.X, of_task.y)
        seconds += perf_counter() - begin
    return seconds


def ratio(pair: tuple[str, str], repeats: int, data_dir: Path) -> tuple[float, list[float]]:
    """Ratio of the medians of two kinds of fits, and these."""
    found: dict[str, list[float]] = {name: [] for name in pair}
    for _ in range(repeats):
        for name in pair:
            found[name].append(call_in_process(seconds_of, THREADS, name=name, data_dir=str(data_dir)))
    medians = [median(found[name]) for name in pair]
    return medians[0] / medians[1], medians


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", help="pairs by the name of their first fit; the page is left as it is")
    options = parser.parse_args()
    about = environment(("gtgbm", "numpy"))
    rows = []
    for name, pair in PAIRS.items():
        if options.only and pair[0] not in options.only.split(","):
            continue
        times, (first, second) = ratio(pair, options.repeats, options.data_dir)
        rows.append([name, number(times, 2), f"{first:.2f} / {second:.2f}"])
        print(*rows[-1], sep=": ", flush=True)
    if not options.only:
        found = table(["", "ratio", "median seconds"], rows)
        write_between(PAGE, "speed", f"{found}\n\n{facts(about)}.\n")


if __name__ == "__main__":
    main()
