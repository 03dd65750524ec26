"""The benchmark suite: ``run`` measures data sets, ``page`` writes docs/benchmarks.md from all results."""

from __future__ import annotations

import argparse
from dataclasses import replace
from math import inf
from pathlib import Path

from benchmarks.comparison.plans import PLANS, bars_only, quick
from benchmarks.comparison.results import RESULTS, Results, partial_path_of, results_folder
from benchmarks.comparison.rounds import Measurement
from benchmarks.comparison.summary import sum_up
from benchmarks.comparison.tables import BAR_WORDS, bars_table, frontier_table, rows_table
from benchmarks.page import PAGE, bars_of, write_page
from measuring.data import DataMissingError, Source, load
from measuring.environment import environment
from measuring.files import SCRATCH
from measuring.fits import run_in_process
from measuring.jobs import Job

PACKAGES = ("gtgbm", "lightgbm", "xgboost", "catboost", "scikit-learn", "numpy", "scipy")
QUICK_TREES, QUICK_ROWS = 10, 1000
QUICK_SHAPES = {"epsilon": (1000, 500), "wide": (200, 5000), "demo": (1000, 500)}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure data sets; with nothing else on the machine")
    run.add_argument("--data-dir", type=Path, help="folder of stored data sets; absent ones are skipped")
    run.add_argument("--only", help=f"some of {','.join(PLANS)}, separated by commas")
    run.add_argument("--repeats", type=int, default=3, help="fits per method; medians are reported")
    run.add_argument(
        "--once-above", type=float, default=inf, help="fits that take more seconds are not repeated"
    )
    run.add_argument("--threads", type=int, default=2, help="threads of every method")
    run.add_argument("--limit", type=float, default=900, help="most seconds for one fit, loading included")
    run.add_argument("--cache-dir", type=Path, default=SCRATCH / "tables", help="keeps generated tables")
    run.add_argument("--results", type=Path, help="folder to write to (benchmarks/results)")
    run.add_argument("--resume", action="store_true", help="go on where an interrupted run stopped")
    run.add_argument(
        "--quick", action="store_true", help="does everything run? Few trees, rows, peers; no figure counts"
    )
    run.add_argument(
        "--bars-only", action="store_true", help="only what is held against a bar: fewer peers, no frontiers"
    )
    page = commands.add_parser("page", help="write the page from all results")
    page.add_argument("--results", type=Path, default=RESULTS)
    page.add_argument("--docs", type=Path, default=PAGE)
    arguments = parser.parse_args()
    if arguments.command == "run":
        _check(parser, arguments)
    return arguments


def _check(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    if arguments.repeats < 1 or arguments.threads < 1:
        parser.error("--repeats and --threads must be at least 1")
    arguments.only = list(PLANS) if arguments.only is None else arguments.only.split(",")
    unknown = set(arguments.only) - set(PLANS)
    if unknown:
        parser.error(f"--only {','.join(sorted(unknown))}: give some of {','.join(PLANS)}")
    if arguments.quick:
        arguments.repeats = 1
    arguments.results = results_folder(arguments.results, arguments.quick)


def _start(arguments: argparse.Namespace, name: str) -> Results:
    """Return empty results, or with --resume what is there from the same machine, code and settings."""
    options = f"--only {name} --repeats {arguments.repeats} --threads {arguments.threads}"
    command = f"python -m benchmarks run --data-dir DIR {options}"
    command += f" --once-above {arguments.once_above:g}" if arguments.once_above < inf else ""
    command += " --bars-only" * arguments.bars_only + " --quick" * arguments.quick
    about = environment(PACKAGES)
    partial = partial_path_of(arguments.results, name)
    if not arguments.resume or not partial.is_file():
        return Results(name, command, about)
    earlier = Results.read(partial)
    same = [key for key in about if key not in ("Date", "Load at the start")]
    if earlier.command != command or any(about[key] != earlier.environment.get(key) for key in same):
        print(f"{name}: begun with other settings or versions, so measured anew")
        return Results(name, command, about)
    earlier.failures.clear()
    earlier.unfinished.clear()
    return earlier


def _measure(arguments: argparse.Namespace, name: str) -> None:
    plan = bars_only(PLANS[name]) if arguments.bars_only else PLANS[name]
    plan = quick(plan) if arguments.quick else plan
    source = Source(
        name,
        data_dir=None if arguments.data_dir is None else str(arguments.data_dir.resolve()),
        cache_dir=str(arguments.cache_dir.resolve()),
        max_rows=QUICK_ROWS if arguments.quick else None,
        shape=QUICK_SHAPES.get(name) if arguments.quick else None,
    )
    try:
        load(source)
    except DataMissingError as missing:
        print(f"{name}: skipped, {missing}", flush=True)
        return
    alpha = plan.min_node_fraction
    base = Job("", "", "", source, n_threads=arguments.threads, min_node_fraction=alpha)
    if arguments.quick:
        base = replace(base, n_trees=QUICK_TREES)
    limit = min(arguments.limit, plan.limit or arguments.limit)
    measurement = Measurement(
        _start(arguments, name), lambda job: run_in_process(job, limit), arguments.results
    )
    measurement.all_rounds(plan, base, arguments.repeats, arguments.once_above)
    measurement.finish()
    results = measurement.results
    print(f"\n{rows_table(sum_up(results.runs))}\n\n{bars_table(bars_of(results))}\n")
    if results.points:
        print(f"{frontier_table(results.points)}\n")


def _main() -> None:
    arguments = _arguments()
    if arguments.command == "page":
        for bar in write_page(arguments.results, arguments.docs):
            print(f"{BAR_WORDS[bar.reached]}: {bar.what}: {bar.measured} ({bar.wanted})")
        return
    for name in arguments.only:
        _measure(arguments, name)
    if arguments.quick:
        print("Quick: few trees, rows and peers, so no figure above means anything.")
    print(f"Results are in {arguments.results}; python -m benchmarks page writes them down.")


if __name__ == "__main__":
    _main()
