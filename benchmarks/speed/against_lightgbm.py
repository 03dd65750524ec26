"""Fit times, peak memory and prediction times as ratios to LightGBM and XGBoost, each with its bar.

Run it with nothing else on the machine::

    python -m benchmarks.speed.against_lightgbm --data-dir DIR
    python -m benchmarks.speed.against_lightgbm --data-dir DIR --only Epsilon wide   # rows by parts of names

Every fit has a process of its own, and the methods of a row take turns. LightGBM gets as many leaves as our
trees have on average; both its layouts are measured, the clearly slower one only once. Results are kept after
every turn: what is there is not measured again. The tables go into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.speed import multitask, prediction
from benchmarks.speed.cases import (
    ALL,
    CASES,
    ONE_THREAD,
    ORACLE,
    OURS,
    THREADS,
    TREES,
    XGBOOST,
    Bar,
    Case,
    Place,
)
from measuring.cost import measure
from measuring.environment import environment
from measuring.files import ROOT, SCRATCH, write_json
from measuring.jobs import LAYOUTS, Layout
from measuring.markdown import facts, number, table, write_between
from measuring.methods import lightgbm_settings
from measuring.predictions import COMPACT_BATCH, SINGLE_ROW_CALL
from measuring.processes import ProcessFailedError, call_in_process, say_loaded

PAGE = ROOT / "docs" / "performance.md"
_NOT_WORTH_REPEATING = 1.25
"""A layout that took so many times as long as the other one the first time is not measured again."""
_PREDICTION = {SINGLE_ROW_CALL: 1.0, COMPACT_BATCH: 0.3}
_MULTITASK = {"reviews": 1.1, "reviews-parallel": 1.0, "school-parallel": 1.0, "dense-parallel": 1.0}
"""Pairs of `benchmarks.speed.multitask` by their first fit, with the most their ratio may be."""

Row = dict[str, Any]


def fit_once(
    case: str, method: str, layout: Layout | None, shape: dict[str, Any], place: dict[str, Any]
) -> Row:
    """Fit once; returns seconds, megabytes above the input, and of our models leaves and columns."""
    chosen, where = CASES[case], _place(place)
    n_trees = 10 if where.quick else TREES
    fold = chosen.fold(where)
    if method in (OURS, ONE_THREAD):
        from measuring.peers import gtgbm_models as ours

        model = ours.estimator(
            "auto",
            chosen.target,
            n_estimators=n_trees,
            n_jobs=1 if method == ONE_THREAD else THREADS,
            random_state=0,
            **chosen.parameters,
        )
        say_loaded()
        _, cost = measure(lambda: ours.fit_fold(model, fold))
        return asdict(cost) | {"leaves": ours.leaves_of_model(model), "columns": ours.features_of(model)}
    job = lightgbm_settings(shape["leaves"], n_trees=n_trees, n_threads=THREADS)
    # Our smallest leaf is a quarter of the smallest node that is split.
    job = replace(job, min_node_fraction=chosen.parameters.get("min_node_fraction", 0.02), layout=layout)
    if method == XGBOOST:
        from measuring.peers import xgboost_models

        say_loaded()
        return asdict(measure(lambda: xgboost_models.train_fold(job, fold))[1])
    from measuring.peers import lightgbm_models

    columns = np.array(shape["columns"]) if method == ORACLE else None
    if columns is not None:
        # The oracle is handed a table of its columns.
        fold = replace(fold, X=np.ascontiguousarray(fold.X[:, columns]))
    say_loaded()
    return asdict(measure(lambda: lightgbm_models.train_fold(job, fold, chosen.target))[1])


def _place(values: dict[str, Any]) -> Place:
    return Place(Path(values["data_dir"]), Path(values["cache_dir"]), values["quick"])


def ways(method: str) -> list[tuple[str, Layout | None]]:
    """Return the ways to run a method: LightGBM has two layouts."""
    if method not in (ALL, ORACLE):
        return [(method, None)]
    return [(f"{method}, {layout}", layout) for layout in LAYOUTS]


def add_turn(name: str, case: Case, row: Row, place: dict[str, Any], limit: float) -> None:
    """Run every method of a row once more."""
    runs: dict[str, list[Row]] = row.setdefault("runs", {})
    stopped: dict[str, float] = row.setdefault("stopped", {})
    for method in case.methods:
        if any(way in stopped for way, _ in ways(method)):
            continue
        for way, layout in ways(method):
            if not _is_worth_it(way, [other for other, _ in ways(method)], runs):
                continue
            shape = {key: runs[OURS][0][key] for key in ("leaves", "columns")} if runs.get(OURS) else {}
            try:
                found = call_in_process(
                    fit_once,
                    THREADS,
                    limit=limit,
                    case=name,
                    method=method,
                    layout=layout,
                    shape=shape,
                    place=place,
                )
            except ProcessFailedError as failed:
                if failed.at_least is None:
                    raise
                stopped[way] = failed.at_least
                break
            runs.setdefault(way, []).append(found)


def _is_worth_it(way: str, both: list[str], runs: dict[str, list[Row]]) -> bool:
    if any(other not in runs for other in both):
        return True
    best = min(median(run["seconds"] for run in runs[other]) for other in both)
    return bool(median(run["seconds"] for run in runs[way]) <= _NOT_WORTH_REPEATING * best)


def held(name: str, bar: Bar, row: Row) -> list[str]:
    """Return a line of the table: what is compared, both figures, their ratio, the bar, is it reached."""

    def figure(way: str) -> float | None:
        values = [run[bar.figure] for run in row["runs"].get(way, []) if run[bar.figure] is not None]
        return median(values) if values else None

    ours = figure(OURS)
    theirs = {way: figure(way) for way, _ in ways(bar.against)}
    measured = {way: value for way, value in theirs.items() if value is not None}
    limit = [seconds for way, seconds in row["stopped"].items() if way in theirs]
    unit = "s" if bar.figure == "seconds" else "MB"
    digits = 3 if bar.figure == "seconds" else 0
    what = bar.against if bar.figure == "seconds" else f"{bar.against}, peak memory above the input"
    if ours is None or not (measured or (limit and bar.figure == "seconds")):
        return [name, what, "–", "–", "–", _shown(bar.most), "not measured"]
    if measured:
        # By seconds, also for memory: LightGBM runs in its faster layout.
        best = min(measured, key=lambda way: median(run["seconds"] for run in row["runs"][way]))
        other, sign = measured[best], ""
    else:
        other, sign = max(limit), "< "
    ratio = ours / other
    is_reached = "yes" if ratio <= bar.most else ("no" if measured else "unknown")
    shown = f"{'> ' if sign else ''}{number(other, digits)} {unit}"
    return [
        name,
        what,
        f"{number(ours, digits)} {unit}",
        shown,
        f"{sign}{ratio:.3f}",
        _shown(bar.most),
        is_reached,
    ]


def _shown(most: float) -> str:
    return f"≤ {most:.2g}" if most >= 0.05 else f"≤ 1/{1 / most:.0f}"


def other_rows(results: Row, only: list[str], repeats: int, data_dir: Path, out: Path) -> None:
    """Measure predictions and fits of several tasks, which have scripts of their own."""
    if _is_wanted("prediction", only) and "prediction" not in results:
        rows = prediction.measure("large", repeats, [1, THREADS])
        results["prediction"] = [asdict(row) for row in rows]
        write_json(out, results)
    for name, (first, second) in multitask.PAIRS.items():
        pairs = results.setdefault("multitask", {})
        if first in _MULTITASK and name not in pairs and _is_wanted(f"multitask {name}", only):
            pairs[name] = multitask.ratio((first, second), repeats, data_dir)[1]
            write_json(out, results)


def other_lines(results: Row) -> list[list[str]]:
    """Return the lines of predictions and of several tasks."""
    lines = []
    for row in results.get("prediction", []):
        for what, most in _PREDICTION.items():
            if row["what"].endswith(what):
                ours, theirs, ratio = row["ours_us"], row["lightgbm_us"], row["ratio"]
                figures = [f"{ours:.1f} µs", f"{theirs:.1f} µs", f"{ratio:.3f}", _shown(most)]
                lines.append(
                    [row["what"], "LightGBM, same trees", *figures, "yes" if ratio <= most else "no"]
                )
    for name, (ours, theirs) in results.get("multitask", {}).items():
        most = _MULTITASK[multitask.PAIRS[name][0]]
        figures = [f"{ours:.3f} s", f"{theirs:.3f} s", f"{ours / theirs:.3f}", _shown(most)]
        lines.append([name, "itself", *figures, "yes" if ours / theirs <= most else "no"])
    return lines


def _is_wanted(name: str, only: list[str]) -> bool:
    return not only or any(part.lower() in name.lower() for part in only)


def main() -> None:
    """Measure what is missing, print the table, and write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.against_lightgbm", description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--only", nargs="+", default=[], help="parts of names of rows")
    parser.add_argument("--repeats", type=int, default=5, help="fits per method; medians are reported")
    parser.add_argument("--limit", type=float, default=600.0, help="most seconds of a fit")
    parser.add_argument("--again", action="store_true", help="measure rows anew that have results")
    parser.add_argument("--quick", action="store_true", help="small tables, one fit each; no page is written")
    options = parser.parse_args()
    repeats = 1 if options.quick else options.repeats
    out = (SCRATCH if options.quick else ROOT / "benchmarks" / "results") / "against_lightgbm.json"
    results: Row = json.loads(out.read_text(encoding="utf-8")) if out.is_file() and not options.quick else {}
    place = {"data_dir": str(options.data_dir), "cache_dir": str(SCRATCH), "quick": options.quick}
    rows: Row = results.setdefault("rows", {})
    for name in [name for name in CASES if _is_wanted(name, options.only)]:
        if options.again:
            rows.pop(name, None)
        row = rows.setdefault(name, {})
        begin = time.perf_counter()
        while row.get("turns", 0) < repeats:
            add_turn(name, CASES[name], row, place, options.limit)
            row["turns"] = row.get("turns", 0) + 1
            results["environment"] = environment(["gtgbm", "lightgbm", "xgboost", "numpy", "pandas"])
            write_json(out, results)
        for bar in CASES[name].bars:
            print(*held(name, bar, row), sep=" | ", flush=True)
        print(f"  ({time.perf_counter() - begin:.0f} s)", flush=True)
    other_rows(results, options.only, repeats, options.data_dir, out)
    lines = [held(name, bar, rows[name]) for name in CASES if name in rows for bar in CASES[name].bars]
    lines += other_lines(results)
    print(*(" | ".join(line) for line in other_lines(results)), sep="\n")
    if not options.quick:
        head = ["what", "against", "gtgbm", "other", "ratio", "bar", "reached"]
        write_between(PAGE, "against", f"{table(head, lines)}\n\n{facts(results['environment'])}.\n")


if __name__ == "__main__":
    main()
