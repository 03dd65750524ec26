"""Speed and quality of the engine on gisette_like_mnist49, against LightGBM.

Run it with nothing else on the machine::

    python -m benchmarks.engine --data-dir DIR
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.jobs import Job, Record
from benchmarks.measuring import ROOT, environment
from benchmarks.summary import Bar, Row, Run, bars_table, quality_bar, ratio_bar, rows_table, sum_up
from benchmarks.worker import run_in_process

DATA_SET = "gisette_like_mnist49"
PENALTIES = (0.01, 0.003, 0.0015, 0.001)
MIDDLE_PENALTY = 0.003
"""The penalty at which sizes are matched and A-GBM is compared."""
LAYOUTS: tuple[Literal["col_wise", "row_wise"], ...] = ("col_wise", "row_wise")

MOST_TIME_OF_ALL_FEATURES = 0.1
MOST_TIME_OF_CEGB = 1.2
QUALITY = ((0.9930, 35), (0.9955, 90), (0.9965, 210))
"""Test AUC to reach, with at most so many features."""

A_GBM, LGB_ALL, LGB_CEGB = "A-GBM", "LightGBM, all features", "LightGBM, CEGB"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help=f"folder that holds {DATA_SET}/data.npz")
    parser.add_argument("--repeats", type=int, default=3, help="fits per method; medians are reported")
    parser.add_argument("--threads", type=int, default=2, help="threads of every method")
    parser.add_argument("--quick", action="store_true", help="one repeat of 10 trees: does everything run?")
    parser.add_argument("--out", type=Path, help="write every run to this JSON file")
    parser.add_argument(
        "--docs", type=Path, help="Markdown file to write (docs/benchmarks.md; none if quick)"
    )
    arguments = parser.parse_args()
    if arguments.repeats < 1 or arguments.threads < 1:
        parser.error("--repeats and --threads must be at least 1")
    if arguments.quick:
        arguments.repeats = 1
    elif arguments.docs is None:
        arguments.docs = ROOT / "docs" / "benchmarks.md"
    return arguments


def first_round(base: Job, run: Callable[[Job], Record]) -> list[Run]:
    """Run every method once; LightGBM's trees get as many leaves as ours turn out to have.

    LightGBM's two ways to fill histograms are both run, since it is compared at its best.
    """
    runs: list[Run] = []

    def add(job: Job) -> Record:
        record = run(job)
        runs.append((job, record))
        return record

    ours: dict[float, Record] = {}
    for penalty in PENALTIES:
        label = f"GT-GBM, penalty {penalty:g}"
        ours[penalty] = add(replace(base, label=label, model="GTGBMClassifier", penalty=penalty))
    middle = ours[MIDDLE_PENALTY]
    label = f"{A_GBM}, penalty {MIDDLE_PENALTY:g}"
    exhaustive = add(replace(base, label=label, model="AGBMClassifier", penalty=MIDDLE_PENALTY))

    peer = replace(base, peer="lightgbm_models", n_leaves=max(2, round(middle.mean_leaves)))
    everything = [add(replace(peer, label=LGB_ALL, model="all", layout=layout)) for layout in LAYOUTS]
    cegb = replace(
        peer,
        label=f"{LGB_CEGB}, penalty {MIDDLE_PENALTY:g}",
        model="cegb",
        penalty=MIDDLE_PENALTY,
        n_leaves=max(2, round(exhaustive.mean_leaves)),
    )
    best = everything[0].features_by_gain[: middle.n_features]
    # The ranking comes from a fit on all features, whose time is not counted here.
    oracle = replace(
        peer, label=f"LightGBM, told its top {len(best)} features (oracle)", model="all", columns=best
    )
    for job in (cegb, oracle):
        for layout in LAYOUTS:
            add(replace(job, layout=layout))
    return runs


def run_all(base: Job, repeats: int) -> list[Run]:
    """Run every method `repeats` times, interleaved, every second round backwards."""

    def run(job: Job) -> Record:
        record = run_in_process(job)
        layout = f" ({job.layout})" if job.layout else ""
        print(f"{job.label}{layout}: {record.seconds:.2f} s, {record.n_features} features", flush=True)
        return record

    runs = first_round(base, run)
    jobs = [job for job, _ in runs]
    for k in range(1, repeats):
        runs += [(job, run(job)) for job in (reversed(jobs) if k % 2 else jobs)]
    return runs


def hold_against_bars(rows: Iterable[Row]) -> list[Bar]:
    """Compare with what the engine has to reach."""
    by_label = {row.label: row for row in rows}
    ours = [row for row in by_label.values() if row.model == "GTGBMClassifier"]
    a_gbm = by_label[f"{A_GBM}, penalty {MIDDLE_PENALTY:g}"]
    cegb = by_label[f"{LGB_CEGB}, penalty {MIDDLE_PENALTY:g}"]
    bars = [ratio_bar(row, by_label[LGB_ALL], MOST_TIME_OF_ALL_FEATURES) for row in ours]
    bars.append(ratio_bar(a_gbm, cegb, MOST_TIME_OF_CEGB))
    bars += [quality_bar(ours, auc, size) for auc, size in QUALITY]
    return bars


def document(
    base: Job, command: str, shape: tuple[int, int], machine: dict[str, str], rows: list[Row], bars: list[Bar]
) -> str:
    """Write the page of the documentation."""
    unsteady = [row.label for row in rows if not row.steady]
    repeats = f"differed for {'; '.join(unsteady)}" if unsteady else "gave the same model for every method"
    notes = {
        **machine,
        "Data": f"`{DATA_SET}`, {shape[0]:,} training rows × {shape[1]:,} features. A stand-in made from "
        "MNIST (4 against 9) the way Gisette was made. **It is not Gisette**, and no figure "
        "here is Gisette's.",
        "Runs": f"every fit in a process of its own with {base.n_threads} threads, methods in turn, "
        f"{rows[0].n_runs} of each. Repeats {repeats}.",
        "Seconds": "medians, from a float32 table in memory to a fitted model (for LightGBM: building its "
        "Dataset and training).",
        "All models": f"{base.n_trees} trees, learning rate {base.learning_rate:g}, nodes of less than "
        f"{base.min_node_fraction:.0%} of the rows not split, at least a quarter of that in a leaf.",
        "LightGBM": f"as many leaves per tree as ours have on average at penalty {MIDDLE_PENALTY:g} "
        "(GT-GBM's; for CEGB those of A-GBM), the faster of its two histogram layouts, otherwise its "
        "defaults; it has no limit for nodes, only the one for leaves.",
        "CEGB": "LightGBM's own price for a feature's first use (`cegb_penalty_feature_coupled`): the "
        "penalty times the squared error at the first root, for every feature.",
        "Oracle": "told the best features by gain of a model on all features; finding them is not counted.",
    }
    facts = "\n".join(f"- {name}: {fact}" for name, fact in notes.items())
    return f"""# Benchmarks

<!-- Written by benchmarks/engine.py: run it again instead of editing this page. -->

`{command}`

{rows_table(rows)}

{bars_table(bars)}

{facts}
"""


def _main() -> None:
    arguments = _arguments()
    data = arguments.data_dir / DATA_SET / "data.npz"
    if not data.is_file():
        raise SystemExit(f"--data-dir {arguments.data_dir}: {DATA_SET}/data.npz is not there")
    with np.load(data, allow_pickle=False) as arrays:
        shape = arrays["X_train"].shape
    machine = {"Date": f"{datetime.now(timezone.utc):%Y-%m-%d}"}
    machine |= environment(["gtgbm", "lightgbm", "numpy", "scikit-learn"])
    command = f"python -m benchmarks.engine --data-dir DIR --repeats {arguments.repeats}"
    command += f" --threads {arguments.threads}" + (" --quick" if arguments.quick else "")
    base = Job(
        label="",
        peer="gtgbm_models",
        model="",
        data=str(data.resolve()),
        n_trees=10 if arguments.quick else 100,
        learning_rate=0.1,
        min_node_fraction=0.02,
        n_threads=arguments.threads,
    )
    runs = run_all(base, arguments.repeats)
    rows = sum_up(runs)
    bars = hold_against_bars(rows)
    print(f"\n{rows_table(rows)}\n\n{bars_table(bars)}")
    if arguments.quick:
        print("\nQuick: 10 trees and one repeat, so no figure above means anything.")
    if arguments.out:
        content = {
            "command": command,
            "environment": machine,
            "bars": [asdict(bar) for bar in bars],
            "rows": [asdict(row) for row in rows],
            "runs": [{"job": asdict(job) | {"data": DATA_SET}, "record": asdict(r)} for job, r in runs],
        }
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if arguments.docs:
        arguments.docs.parent.mkdir(parents=True, exist_ok=True)
        arguments.docs.write_text(document(base, command, shape, machine, rows, bars), encoding="utf-8")


if __name__ == "__main__":
    _main()
