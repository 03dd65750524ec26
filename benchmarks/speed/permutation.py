"""Time of the permutation importance of all selected features against that of one prediction.

Run it with nothing else on the machine::

    python -m benchmarks.speed.permutation
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

from measuring.data.generated import make_table
from measuring.environment import environment
from measuring.files import ROOT, write_json
from measuring.peers.gtgbm_models import estimator, permutation_importance
from measuring.predictions import microseconds
from measuring.processes import call_in_process

N_ROWS, N_COLUMNS, N_RELEVANT, N_SELECTED = 20_000, 400, 100, 50
PREDICTION, BY_LOSS, BY_AUC = "one prediction", "importance by the loss", "importance by AUC"
CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    PREDICTION: lambda model, X, _: model.predict_proba(X),
    BY_LOSS: lambda model, X, y: permutation_importance(model, X, y, n_repeats=1),
    BY_AUC: lambda model, X, y: permutation_importance(model, X, y, n_repeats=1, metric="auc"),
}


@dataclass(frozen=True)
class Row:
    """One line of the result: medians over the repeats, in milliseconds, and the ratio to one prediction."""

    what: str
    milliseconds: float
    predictions: float


def write_case(folder: Path, n_rows: int = N_ROWS, n_trees: int = 100) -> str:
    """Fit a model, write it and held-out rows down for the processes, and return a description."""
    X, y = make_table(2 * n_rows, N_COLUMNS, N_RELEVANT, seed=0)
    model = estimator(
        "auto",
        "binary",
        n_estimators=n_trees,
        n_features_to_select=N_SELECTED,
        penalty=0.0001,
        random_state=0,
    )
    model.fit(X[:n_rows], y[:n_rows])
    (folder / "model.pickle").write_bytes(pickle.dumps(model))
    np.savez(folder / "rows.npz", X=X[n_rows:], y=y[n_rows:])
    return (
        f"{n_rows:,} rows, {model.n_selected_features_} of {N_COLUMNS} columns selected, {len(model.trees_)} "
        f"trees × {model.n_leaves_.mean():.0f} leaves"
    )


def time_once(what: str, folder: str, threads: int) -> float:
    """Return the microseconds of a call, made here several times."""
    place = Path(folder)
    model = pickle.loads((place / "model.pickle").read_bytes())
    with np.load(place / "rows.npz") as stored:
        X, y = stored["X"], stored["y"]
    model.set_params(n_jobs=threads)
    return microseconds(lambda: CALLS[what](model, X, y))


def measure(repeats: int, threads: list[int]) -> list[Row]:
    """Time every call: they take turns, each time in a new process."""
    times: dict[tuple[int, str], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        description = write_case(Path(name))
        for _ in range(repeats):
            for n_threads in threads:
                for what in CALLS:
                    taken = call_in_process(time_once, n_threads, what=what, folder=name, threads=n_threads)
                    times[n_threads, what].append(taken / 1e3)
    rows = []
    for (n_threads, what), taken in times.items():
        ratio = median(taken) / median(times[n_threads, PREDICTION])
        rows.append(Row(f"{description}; {n_threads} thread(s); {what}", median(taken), ratio))
    return rows


def main() -> None:
    """Run the benchmark, print a table and write it down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.permutation", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="processes per call; medians are reported")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "permutation.json")
    arguments = parser.parse_args()
    described = environment(["gtgbm", "numpy", "scikit-learn"])
    rows = measure(arguments.repeats, arguments.threads)
    print(f"{'ms':>10} {'predictions':>12}  what")
    for row in rows:
        print(f"{row.milliseconds:10.1f} {row.predictions:12.2f}  {row.what}")
    write_json(arguments.out, {"rows": [asdict(row) for row in rows], "environment": described})


if __name__ == "__main__":
    main()
