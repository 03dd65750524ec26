"""Time of contributions (TreeSHAP) against LightGBM's ``pred_contrib``, both with the same trees.

Run it with nothing else on the machine::

    python -m benchmarks.speed.contributions
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from measuring.data.generated import make_table, many_leaves
from measuring.environment import environment
from measuring.files import ROOT, write_json
from measuring.peers.gtgbm_models import estimator
from measuring.peers.lightgbm_models import contributions_of
from measuring.predictions import microseconds
from measuring.processes import call_in_process

N_ROWS = 500
OURS, LIGHTGBM = "gtgbm", "lightgbm"
LARGEST_DIFFERENCE = 1e-9


@dataclass(frozen=True)
class Row:
    """One line of the result: medians over the repeats, in milliseconds."""

    what: str
    ours_ms: float
    lightgbm_ms: float
    ratio: float


def _few_columns(n_rows: int, n_trees: int) -> tuple[Any, Any]:
    """Fit to a table of 400 columns, of which 20 are selected."""
    X, y = make_table(n_rows + N_ROWS, 400, 50, seed=0)
    model = estimator("auto", "binary", n_estimators=n_trees, n_features_to_select=20, random_state=0)
    return model.fit(X[:n_rows], y[:n_rows]), X[n_rows:]


def _many_columns(n_rows: int, n_trees: int) -> tuple[Any, Any]:
    """Fit trees of some 80 leaves that use 70 features, all there are."""
    data = many_leaves(n_rows, N_ROWS)
    model = estimator(
        "exhaustive", "binary", n_estimators=n_trees, penalty=0.0, min_node_fraction=0.022, random_state=0
    )
    return model.fit(data.X_train, data.y_train), data.X_test


CASES: dict[str, Callable[[int, int], tuple[Any, Any]]] = {"few": _few_columns, "many": _many_columns}


def write_case(folder: Path, case: str, n_rows: int = 20_000, n_trees: int = 100) -> str:
    """Write a model and rows down for the processes, and return a description."""
    model, X = CASES[case](n_rows, n_trees)
    model.export_lightgbm(folder / "model.txt")
    (folder / "model.pickle").write_bytes(pickle.dumps(model))
    np.save(folder / "rows.npy", X)
    return (
        f"{N_ROWS:,} rows, {model.n_selected_features_} of {model.n_features_in_} columns selected, "
        f"{len(model.trees_)} trees × {model.n_leaves_.mean():.0f} leaves"
    )


def time_once(library: str, folder: str, threads: int) -> float:
    """Return the microseconds of a call, made here several times; what it returned is kept in the folder."""
    place = Path(folder)
    X = np.load(place / "rows.npy")
    if library == OURS:
        model = pickle.loads((place / "model.pickle").read_bytes()).set_params(n_jobs=threads)

        def call() -> Any:
            return model.predict_contributions(X)
    else:
        contributions = contributions_of(place / "model.txt", threads)

        def call() -> Any:
            return contributions(X)

    np.save(place / f"{library}.npy", call())
    return microseconds(call)


def check_agreement(folder: Path) -> None:
    """Raise an error if the libraries found different contributions."""
    difference = float(np.abs(np.load(folder / f"{OURS}.npy") - np.load(folder / f"{LIGHTGBM}.npy")).max())
    if difference > LARGEST_DIFFERENCE:
        raise RuntimeError(f"contributions differ by {difference}; the trees are not the same")


def measure(case: str, repeats: int, threads: list[int]) -> list[Row]:
    """Time one case: the libraries take turns, each time in a new process."""
    times: dict[tuple[int, str], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        description = write_case(Path(name), case)
        for _ in range(repeats):
            for n_threads in threads:
                for library in (OURS, LIGHTGBM):
                    taken = call_in_process(
                        time_once, n_threads, library=library, folder=name, threads=n_threads
                    )
                    times[n_threads, library].append(taken / 1e3)
                check_agreement(Path(name))
    rows = []
    for n_threads in threads:
        ours, theirs = (median(times[n_threads, library]) for library in (OURS, LIGHTGBM))
        rows.append(Row(f"{description}; {n_threads} thread(s)", ours, theirs, ours / theirs))
    return rows


def main() -> None:
    """Run the benchmark, print a table and write it down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.contributions", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="processes per library; medians are reported")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads")
    parser.add_argument("--case", choices=list(CASES), nargs="+", default=list(CASES))
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "contributions.json")
    arguments = parser.parse_args()
    described = environment(["gtgbm", "lightgbm", "numpy", "scikit-learn"])
    rows = [row for case in arguments.case for row in measure(case, arguments.repeats, arguments.threads)]
    print(f"{'ours ms':>10} {'LightGBM ms':>12} {'ratio':>6}  what")
    for row in rows:
        print(f"{row.ours_ms:10.1f} {row.lightgbm_ms:12.1f} {row.ratio:6.3f}  {row.what}")
    write_json(arguments.out, {"rows": [asdict(row) for row in rows], "environment": described})


if __name__ == "__main__":
    main()
