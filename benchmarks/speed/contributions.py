"""Time of contributions (TreeSHAP) against LightGBM's ``pred_contrib``, both with the same trees.

Run it with nothing else on the machine; it writes benchmarks/results/contributions.json and the table in
docs/contributions.md::

    python -m benchmarks.speed.contributions
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from measuring.data.generated import make_table, many_leaves
from measuring.environment import environment
from measuring.files import ROOT, write_json
from measuring.markdown import facts, number, table, write_between
from measuring.peers.gtgbm_models import estimator
from measuring.peers.lightgbm_models import contributions_of
from measuring.predictions import microseconds
from measuring.processes import call_in_process

N_ROWS = 500
OURS, LIGHTGBM, INTERACTIONS = "gtgbm", "lightgbm", "interactions"
PAGE = ROOT / "docs" / "contributions.md"
LARGEST_DIFFERENCE = 1e-9


@dataclass(frozen=True)
class Row:
    """One line of the result: medians over the repeats, in milliseconds."""

    what: str
    ours_ms: float
    lightgbm_ms: float
    ratio: float
    interactions_ms: float


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
    if library == LIGHTGBM:
        call = partial(contributions_of(place / "model.txt", threads), X)
    else:
        model = pickle.loads((place / "model.pickle").read_bytes()).set_params(n_jobs=threads)
        pairs = {"interactions": True, "selected_only": True} if library == INTERACTIONS else {}
        call = partial(model.predict_contributions, X, **pairs)
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
                for library in (OURS, LIGHTGBM, INTERACTIONS):
                    taken = call_in_process(
                        time_once, n_threads, library=library, folder=name, threads=n_threads
                    )
                    times[n_threads, library].append(taken / 1e3)
                check_agreement(Path(name))
    rows = []
    for n_threads in threads:
        ours, theirs, pairs = (
            median(times[n_threads, library]) for library in (OURS, LIGHTGBM, INTERACTIONS)
        )
        rows.append(Row(f"{description}; {n_threads} thread(s)", ours, theirs, ours / theirs, pairs))
    return rows


def written(rows: list[Row], about: Mapping[str, str]) -> str:
    """Return the table of the page."""
    head = ["milliseconds, medians", "contributions", "LightGBM's `pred_contrib`", "ratio", "interactions"]
    cells = []
    for row in rows:
        taken = (number(value, 1) for value in (row.ours_ms, row.lightgbm_ms))
        cells.append([row.what, *taken, number(row.ratio, 3), number(row.interactions_ms, 1)])
    return f"{table(head, cells, numbers=True)}\n\n{facts(about)}.\n"


def main() -> None:
    """Run the benchmark, print a table and write it down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.contributions", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="processes per library; medians are reported")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads")
    parser.add_argument("--case", choices=list(CASES), nargs="+", default=list(CASES))
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "contributions.json")
    arguments = parser.parse_args()
    described = environment(["gtgbm", "lightgbm", "numpy", "scikit-learn"])
    described |= {"Command": "`python -m benchmarks.speed.contributions`"}
    rows = [row for case in arguments.case for row in measure(case, arguments.repeats, arguments.threads)]
    print(written(rows, described))
    write_json(arguments.out, {"rows": [asdict(row) for row in rows], "environment": described})
    write_between(PAGE, "speed", written(rows, described))


if __name__ == "__main__":
    main()
