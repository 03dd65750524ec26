"""``python -m experiments NAME``: measure, write table and figure; ``page``: docs/reproduction.md."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

# Before any library starts its threads: waiting ones must not take a core from whoever shares the machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from experiments.common.frontier_plans import PLANS, QUICK_PLANS
from experiments.common.page import PAGE, write_page
from experiments.common.record import Context
from experiments.common.store import QUICK_RESULTS, RESULTS, run_and_store
from experiments.registry import EXPERIMENTS
from measuring.data.downloads import DatasetError
from measuring.selections import LABELS


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    choices = [*EXPERIMENTS, "all", "page"]
    parser.add_argument("names", nargs="+", choices=choices, metavar="NAME", help=", ".join(choices))
    parser.add_argument("--data-dir", type=Path, help="folder of stored data sets; absent ones are generated")
    parser.add_argument(
        "--real", type=Path, help="folder for the real Gisette, Epsilon, Flight; downloads them"
    )
    parser.add_argument(
        "--quick", action="store_true", help="small tables, few repeats: minutes, not an hour"
    )
    parser.add_argument("--threads", type=int, default=2, help="of every method")
    parser.add_argument(
        "--out", type=Path, help="folder of results (experiments/results; quick: a temporary one)"
    )
    parser.add_argument("--tables", type=_names, default=(), help=f"frontier: some of {','.join(PLANS)}")
    parser.add_argument("--methods", type=_names, default=(), help=f"frontier: some of {','.join(LABELS)}")
    parser.add_argument("--splits", type=int, help="frontier: random splits; 0 shows what is kept so far")
    parser.add_argument("--docs", type=Path, default=PAGE, help="the page to write")
    arguments = parser.parse_args()
    if arguments.threads < 1:
        parser.error(f"--threads {arguments.threads}: give at least 1")
    if arguments.splits is not None and arguments.splits < 0:
        parser.error(f"--splits {arguments.splits}: give at least 0")
    known = QUICK_PLANS if arguments.quick else PLANS
    for option, given, names in (
        ("--tables", arguments.tables, known),
        ("--methods", arguments.methods, LABELS),
    ):
        for name in set(given) - set(names):
            parser.error(f"{option} {name}: give some of {','.join(names)}")
    return arguments


def _main() -> None:
    arguments = _arguments()
    folder = arguments.out or (QUICK_RESULTS if arguments.quick else RESULTS)
    context = Context(
        quick=arguments.quick,
        data_dir=None if arguments.data_dir is None else arguments.data_dir.resolve(),
        real_dir=None if arguments.real is None else arguments.real.resolve(),
        threads=arguments.threads,
        folder=folder,
        tables=arguments.tables,
        methods=arguments.methods,
        splits=arguments.splits,
    )
    names = list(EXPERIMENTS) if "all" in arguments.names else arguments.names
    for name in names:
        if name == "page":
            continue
        for claim in run_and_store(EXPERIMENTS[name], context, folder):
            print(
                f"{name}: {'holds' if claim.holds else 'DOES NOT HOLD'}: {claim.text}: {claim.numbers}",
                flush=True,
            )
    if "page" in arguments.names:
        absent = write_page(folder, arguments.docs)
        print(f"{arguments.docs}" + (f"; not run yet: {', '.join(absent)}" if absent else ""))
    else:
        print(f"Results are in {folder}; python -m experiments page writes them down.")


if __name__ == "__main__":
    try:
        _main()
    except DatasetError as error:
        sys.exit(str(error))
