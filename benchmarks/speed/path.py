"""Time of a selection path of 10 sizes in 5 folds against recursive elimination with cross-validation.

Run it with nothing else on the machine::

    python -m benchmarks.speed.path --data-dir DIR

scikit-learn's RFECV drops a fixed number of columns in each step: halving is not one of its options, and one
column at a time takes thousands of fits. The peer does what RFECV would do with halves: in each fold,
LightGBM is fitted to all columns, scored on the held-out rows, the half of the columns with the smaller gains
is dropped, and so on to a single column; then the same with all rows, down to the best number. The folds are
the same.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from measuring.data import Data, whole
from measuring.data.whole import TableLoader
from measuring.environment import environment
from measuring.files import ROOT, write_json
from measuring.peers import lightgbm_models
from measuring.peers.gtgbm_models import estimator, selection_path
from measuring.processes import call_in_process
from measuring.selections import score, settings

TREES, FOLDS = 100, 5
SIZES = [1, 2, 3, 5, 8, 12, 18, 28, 42, 64]
TABLES: dict[str, tuple[TableLoader, int]] = {
    "madelon": (whole.from_source("madelon"), 2000),
    "gisette-like, 3,000 rows": (whole.from_source("gisette"), 3000),
}
OURS, PEER = "gtgbm, selection_path", "LightGBM, RFE by halves in each fold"


@dataclass(frozen=True)
class Row:
    """One line of the result: medians over the repeats, in seconds, and the ratio of ours to the other."""

    table: str
    gtgbm: float
    elimination: float
    ratio: float


def seconds_of(table: str, method: str, data_dir: str | None, threads: int) -> float:
    """Load a table and time a method on it."""
    loader, n_train = TABLES[table]
    data = loader(None if data_dir is None else Path(data_dir)).split(0, n_train, 1)
    folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(data.X_train, data.y_train))
    begin = perf_counter()
    if method == OURS:
        model = estimator("forward-backward", data.kind, n_estimators=TREES, n_jobs=threads, random_state=0)
        selection_path(model, data.X_train, data.y_train, cv=folds, sizes=SIZES)
    else:
        _eliminate(data, folds, settings(TREES, threads, 0))
    return perf_counter() - begin


def _eliminate(data: Data, folds: list[tuple[Any, Any]], job: Any) -> None:
    """Cross-validate recursive elimination by halves, then eliminate with all rows."""
    X, y = data.X_train, data.y_train
    total: dict[int, float] = defaultdict(float)
    for train, test in folds:
        for size, of_size in _halves(Data(X[train], y[train], X[test], y[test], kind=data.kind), job):
            total[size] += of_size
    best = max(total, key=lambda size: total[size])
    for size, _ in _halves(Data(X, y, X[:1], y[:1], kind=data.kind), job, scored=False):
        if size <= best:
            break


def _halves(data: Data, job: Any, *, scored: bool = True) -> Iterator[tuple[int, float]]:
    """Yield each number of columns and its score on the test rows."""
    columns = np.arange(data.n_columns)
    while True:
        trained = lightgbm_models.train(job, data, columns)
        n = columns.shape[0]
        yield n, score(data, trained.predict(data.X_test, num_threads=job.n_threads)) if scored else 0.0
        # `features` has only the columns that trees use, the best first.
        columns = trained.features()[: n // 2]
        if columns.shape[0] == 0:
            return


def measure(tables: list[str], repeats: int, threads: int, data_dir: str | None) -> list[Row]:
    """Time both methods on every table: they take turns, each time in a new process."""
    rows = []
    for table in tables:
        times: dict[str, list[float]] = defaultdict(list)
        for _ in range(repeats):
            for method in (OURS, PEER):
                taken = call_in_process(
                    seconds_of, threads, table=table, method=method, data_dir=data_dir, threads=threads
                )
                times[method].append(taken)
        ours, peer = median(times[OURS]), median(times[PEER])
        rows.append(Row(table, ours, peer, ours / peer))
        print(f"{table}: gtgbm {ours:.2f} s, {PEER} {peer:.2f} s ({ours / peer:.2f} ×)", flush=True)
    return rows


def main() -> None:
    """Run the benchmark, print a line for each table and write them down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.path", description=__doc__)
    parser.add_argument("--data-dir", help="folder of stored data sets; absent ones are generated")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    parser.add_argument("--repeats", type=int, default=5, help="processes per method; medians are reported")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "path.json")
    arguments = parser.parse_args()
    described = environment(["gtgbm", "lightgbm", "scikit-learn", "numpy"])
    rows = measure(arguments.tables, arguments.repeats, arguments.threads, arguments.data_dir)
    write_json(arguments.out, {"rows": [asdict(row) for row in rows], "environment": described})


if __name__ == "__main__":
    main()
