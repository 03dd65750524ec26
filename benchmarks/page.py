"""The page of the documentation, written from all results there are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.comparison.plans import PLANS
from benchmarks.comparison.results import RESULTS, Results, read_all
from benchmarks.comparison.summary import Bar, Found, sum_up
from benchmarks.comparison.tables import bars_table, frontier_table, rows_table
from benchmarks.speed.growth_page import growth_section
from measuring.files import ROOT, write_text
from measuring.markdown import facts, number, table

PAGE = ROOT / "docs" / "benchmarks.md"
PREDICTION = "prediction.json"
"""Written by the benchmark of prediction, if it was run: a list ``rows`` of objects with ``what``,
``ours_us``, ``lightgbm_us`` and ``ratio``."""
PERMUTATION = "permutation.json"
"""Written by the benchmark of permutation importance, if it was run: a list ``rows`` of objects with
``what``, ``milliseconds`` and ``predictions``, the ratio to one prediction."""
MOST_PREDICTIONS = 10
"""The importance of all features should take at most the time of so many predictions."""

HEAD = """# Benchmarks

<!-- Written by `python -m benchmarks page` from benchmarks/results/: run it again instead of editing. -->
"""
NOTES = """## How it was measured
- Runs: every fit in a process of its own, methods in turn, every second round backwards; medians and ranges.
- Seconds: from a table in memory to a fitted model. What a library has to build first (LightGBM's Dataset,
  XGBoost's quantile table, CatBoost's Pool) counts; loading, one-hot encoding and imports do not.
- Peak memory: the most a process held during the fit, above what it held before, its data included.
- All models: learning rate 0.1. Ours do not split nodes of less than 2% of the rows and leave at least a
  quarter of that in a leaf.
- Peers have as many leaves per tree as ours on average at the same penalty (CEGB as A-GBM, others as GT-GBM),
  the same smallest leaf where they count it in rows, otherwise their defaults. CatBoost's trees are
  symmetric, of the depth nearest to that.
- LightGBM: the faster of its two histogram layouts, and of codes and one-hot columns where there are
  categories. What was clearly slower in the first round is not repeated.
- Oracle: LightGBM told its own best features by gain; finding them is not counted. "Best by gain retrained":
  finding them is counted.
- CEGB: LightGBM's own price for a feature's first use (`cegb_penalty_feature_coupled`): the penalty times the
  squared error at the first root, for every feature. CatBoost's penalties: the same price.
- Features: categories count one by one, except in models of LightGBM, XGBoost and CatBoost on codes of
  categories, where columns count.
- Frontier: ours with a hard limit, at the largest penalty found that still buys so many; CEGB's penalty is
  searched for the nearest size; every split has the same seed for all methods.
"""


def bars_of(results: Results) -> list[Bar]:
    """Hold a data set's results against its bars."""
    found = Found(sum_up(results.runs), results.points, results.unfinished)
    return [bar for check in PLANS[results.data].checks for bar in check.hold(found)]


def section(results: Results) -> str:
    """Write what was measured on one data set."""
    rows = sum_up(results.runs)
    parts = [f"## {results.data}", PLANS[results.data].about[0].upper() + PLANS[results.data].about[1:]]
    if results.runs:
        job, record = results.runs[0]
        n, d = record.shape
        parts.append(f"{n:,} training rows × {d:,} columns; {job.n_trees} trees; {job.n_threads} threads.")
    if results.command.endswith("--quick"):
        parts.append("**A quick run, of few trees and rows: no figure here means anything.**")
    parts += [rows_table(rows), bars_table(bars_of(results))]
    if results.points:
        parts.append(frontier_table(results.points))
    notes = [f"`{results.command}`", facts(results.environment)]
    unsteady = [row.label for row in rows if not row.steady]
    if unsteady:
        notes.append(f"Repeats gave different models for {'; '.join(unsteady)}.")
    notes += [f"{name}: {reason}" for name, reason in results.failures.items()]
    parts.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(parts) + "\n"


def prediction_section(folder: Path) -> tuple[str, list[Bar]]:
    """Write the times to predict, if they were measured, and their bars."""
    path = folder / PREDICTION
    if not path.is_file():
        return "", []
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    times = table(
        ["the same trees predict", "ours, µs", "LightGBM, µs", "ratio"],
        [
            [row["what"], f"{row['ours_us']:,.1f}", f"{row['lightgbm_us']:,.1f}", number(row["ratio"], 3)]
            for row in rows
        ],
        numbers=True,
    )
    bars = [
        Bar(f"time to predict: {row['what']}", "≤ 1", f"{row['ratio']:.3f}", row["ratio"] <= 1)
        for row in rows
    ]
    return f"## Prediction\n\n{times}\n", bars


def permutation_section(folder: Path) -> tuple[str, list[Bar]]:
    """Write the times of permutation importance, if they were measured, and their bars."""
    path = folder / PERMUTATION
    if not path.is_file():
        return "", []
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = found["rows"]
    times = table(
        ["one permutation of each selected feature", "ms", "predictions"],
        [[row["what"], f"{row['milliseconds']:,.1f}", number(row["predictions"], 2)] for row in rows],
        numbers=True,
    )
    bars = [
        Bar(
            f"time over that of one prediction: {row['what']}",
            f"≤ {MOST_PREDICTIONS}",
            f"{row['predictions']:.2f}",
            row["predictions"] <= MOST_PREDICTIONS,
        )
        for row in rows
        if row["predictions"] != 1.0
    ]
    return f"## Permutation importance\n\n{times}\n\n{facts(found['environment'])}.\n", bars


def write_page(folder: Path = RESULTS, page: Path = PAGE) -> Sequence[Bar]:
    """Write the page from a folder of results and return its bars."""
    everything = list(read_all(folder, list(PLANS)))
    prediction, prediction_bars = prediction_section(folder)
    bars, places = [], []
    for results in everything:
        found = bars_of(results)
        bars += found
        places += [results.data] * len(found)
    permutation, permutation_bars = permutation_section(folder)
    bars += prediction_bars + permutation_bars
    places += ["prediction"] * len(prediction_bars) + ["permutation importance"] * len(permutation_bars)
    absent = [name for name in PLANS if name not in {results.data for results in everything}]
    parts = [HEAD, "## Bars\n\n" + bars_table(bars, places) + "\n" if bars else ""]
    if absent:
        parts.append(f"Not measured: {', '.join(absent)}.\n")
    parts += [section(results) for results in everything]
    parts += [prediction, permutation, growth_section(folder, page.parent), NOTES]
    write_text(page, "\n".join(part for part in parts if part))
    return bars
