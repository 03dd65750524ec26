"""Time of predictions against LightGBM, both with the same trees.

Run it with nothing else on the machine::

    python -m benchmarks.speed.prediction
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

from measuring.data.generated import demo_data, many_leaves
from measuring.environment import environment
from measuring.files import ROOT, write_json
from measuring.peers.gtgbm_models import compact_lightgbm_text, estimator
from measuring.predictions import time_in_process

OURS, LIGHTGBM = "gtgbm_models", "lightgbm_models"
N_BATCH = 100_000
LARGEST_DIFFERENCE = 1e-12
"""Of two probabilities; the libraries sum in the same order, but write exp their own way."""


@dataclass(frozen=True)
class Row:
    """One line of the result: medians over the repeats, in microseconds."""

    what: str
    ours_us: float
    lightgbm_us: float
    ratio: float


def _many_columns() -> tuple[Any, Any]:
    """Fit to a table of 400 columns, of which few are bought."""
    data = demo_data(20_000, N_BATCH, 400)
    model = estimator("auto", "binary", penalty=0.001, random_state=0)
    return model.fit(data.X_train, data.y_train), data.X_test


def _many_leaves() -> tuple[Any, Any]:
    """Fit 100 trees of some 80 leaves that use 70 features, all there are."""
    data = many_leaves(30_000, N_BATCH)
    model = estimator("exhaustive", "binary", penalty=0.0, min_node_fraction=0.022)
    return model.fit(data.X_train, data.y_train), data.X_test


CASES: dict[str, Callable[[], tuple[Any, Any]]] = {"demo": _many_columns, "large": _many_leaves}


def write_case(folder: Path, model: Any, batch: Any) -> str:
    """Write a case down for the workers, and return its description."""
    features = model.selected_features_
    model.export_lightgbm(folder / "full.txt")
    (folder / "compact.txt").write_text(compact_lightgbm_text(model), encoding="utf-8")
    (folder / "model.pickle").write_bytes(pickle.dumps(model))
    np.save(folder / "batch.npy", batch)
    np.save(folder / "features.npy", features)
    return (
        f"{len(model.trees_)} trees × {model.n_leaves_.mean():.0f} leaves, {features.shape[0]} of "
        f"{model.n_features_in_} columns, {batch.dtype}"
    )


def check_agreement(folder: Path) -> None:
    """Raise an error if the libraries predicted different probabilities."""
    with np.load(folder / f"{OURS}.npz") as ours, np.load(folder / f"{LIGHTGBM}.npz") as theirs:
        for what in ours.files:
            difference = float(np.abs(ours[what] - theirs[what]).max())
            if difference > LARGEST_DIFFERENCE:
                raise RuntimeError(f"{what}: predictions differ by {difference}; the trees are not the same")


def measure(case: str, repeats: int, threads: list[int]) -> list[Row]:
    """Time one case: the libraries take turns, each time in a new process."""
    times: dict[tuple[int, str, str], list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        description = write_case(folder, *CASES[case]())
        for _ in range(repeats):
            for n_threads in threads:
                for peer in (OURS, LIGHTGBM):
                    for what, microseconds in time_in_process(peer, folder, n_threads).items():
                        times[n_threads, what, peer].append(microseconds)
                check_agreement(folder)
    rows = []
    for n_threads, what in dict.fromkeys((n_threads, what) for n_threads, what, _ in times):
        ours, theirs = (median(times[n_threads, what, peer]) for peer in (OURS, LIGHTGBM))
        rows.append(Row(f"{description}; {n_threads} thread(s); {what}", ours, theirs, ours / theirs))
    return rows


def main() -> None:
    """Run the benchmark, print a table and write it down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.prediction", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="processes per library; medians are reported")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="numbers of threads")
    parser.add_argument("--case", choices=list(CASES), nargs="+", default=list(CASES))
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "prediction.json")
    arguments = parser.parse_args()
    described = environment(["gtgbm", "lightgbm", "numpy", "scikit-learn"])
    rows = [row for case in arguments.case for row in measure(case, arguments.repeats, arguments.threads)]
    print(f"{'ours µs':>12} {'LightGBM µs':>12} {'ratio':>6}  what")
    for row in rows:
        print(f"{row.ours_us:12.1f} {row.lightgbm_us:12.1f} {row.ratio:6.2f}  {row.what}")
    write_json(arguments.out, {"rows": [asdict(row) for row in rows], "environment": described})


if __name__ == "__main__":
    main()
