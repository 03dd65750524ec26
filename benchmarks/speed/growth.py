"""How fit time grows with columns, rows and the number of features bought.

Run it with nothing else on the machine::

    python -m benchmarks.speed.growth
    python -m benchmarks.speed.growth --only columns --limit 60

Results go to benchmarks/results/growth.json; ``python -m benchmarks page`` draws and tabulates them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.comparison.results import results_folder
from benchmarks.speed.growth_page import GROWTH, GrowthPoint, GrowthResults
from measuring.data import Source
from measuring.environment import environment
from measuring.fits import run_in_process
from measuring.jobs import Job, Record, leaves_of
from measuring.methods import A_GBM, GT, LGB_ALL, lightgbm_job, our_job
from measuring.processes import ProcessFailedError

PENALTY = 0.003
OWNED_PENALTIES = (0.03, 0.01, 0.005, 0.0025, 0.0012, 0.0006, 0.0003)
OWNED_SHAPE = (20_000, 2_000)
LOADING_SECONDS = 240.0
"""Allowance on top of a fit's limit for making its table: 5 GB in the largest case."""


@dataclass(frozen=True)
class Step:
    """One table and penalty of a sweep; `at` is its place on the axis, None: the features bought."""

    at: int | None
    shape: tuple[int, int]
    penalty: float = PENALTY


def sweeps(quick: bool) -> dict[str, list[Step]]:
    """Return the steps of every sweep, cheapest first."""
    if quick:
        return {
            "columns": [Step(d, (1000, d)) for d in (200, 400, 800)],
            "rows": [Step(n, (n, 200)) for n in (500, 1000, 2000)],
            "owned": [Step(None, (1000, 200), penalty) for penalty in OWNED_PENALTIES[:3]],
        }
    return {
        "columns": [Step(1000 * 2**k, (5000, 1000 * 2**k)) for k in range(8)],
        "rows": [Step(5000 * 2**k, (5000 * 2**k, 2000)) for k in range(8)],
        "owned": [Step(None, OWNED_SHAPE, penalty) for penalty in OWNED_PENALTIES],
    }


def axis(name: str, shape: tuple[int, int]) -> str:
    """Say what the axis of a sweep shows, given the shape of one of its tables."""
    n, d = (f"{size:,}" for size in shape)
    fixed = {"columns": f"columns (d), {n} rows", "rows": f"rows (n), {d} columns"}
    return fixed.get(name, f"features bought, {n} rows × {d} columns")


class Sweeper:
    """Runs methods over growing tables, each until a fit of it takes too long."""

    def __init__(
        self,
        results: GrowthResults,
        run: Callable[[Job, float], Record],
        limits: dict[str, float],
        path: Path,
    ) -> None:
        self.results = results
        self._run = run
        self._limits = limits
        self._path = path

    def sweep(self, name: str, steps: Sequence[Step], base: Job) -> None:
        """Run one sweep, replacing what there was of it."""
        results = self.results
        results.points = [point for point in results.points if point.sweep != name]
        results.skipped = {
            key: why for key, why in results.skipped.items() if not key.startswith(f"{name}: ")
        }
        results.axes[name] = axis(name, steps[0].shape)
        stopped: set[str] = set()
        for step in steps:
            source = replace(base.data, shape=step.shape)
            ours = our_job(replace(base, data=source), "group-testing", step.penalty)
            tested = self._fit(name, step, ours, stopped)
            self._fit(name, step, our_job(ours, "exhaustive", step.penalty), stopped)
            # With all features there is nothing to own: one fit is enough for a line to compare with.
            if name != "owned" or step is steps[0]:
                self._fit(
                    name,
                    step,
                    lightgbm_job(replace(ours, n_leaves=leaves_of(tested)), LGB_ALL, "all"),
                    stopped,
                )

    def _fit(self, sweep: str, step: Step, job: Job, stopped: set[str]) -> Record | None:
        if job.method in stopped:
            return None
        limit = self._limits[job.method]
        where = f"{step.shape[0]:,} × {step.shape[1]:,}, penalty {step.penalty:g}"
        record, failure = None, ""
        try:
            record = self._run(job, limit + LOADING_SECONDS)
        except ProcessFailedError as failed:
            failure = str(failed)
        if record is not None:
            at = record.n_features if step.at is None else step.at
            point = GrowthPoint(sweep, job.method, at, record.seconds, record.n_features, record.score)
            self.results.points.append(point)
            print(
                f"{sweep}, {where}: {job.method}: {record.seconds:.2f} s, {record.n_features} features",
                flush=True,
            )
            if record.seconds > limit:
                failure = f"took {record.seconds:.0f} s, the limit is {limit:g} s"
        if failure:
            stopped.add(job.method)
            self.results.skipped[f"{sweep}: {job.method}"] = f"nothing after {where}: {failure}"
            print(f"{sweep}: {job.method}: nothing after {where}: {failure}", flush=True)
        self.results.write(self._path)
        return record


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed.growth", description=__doc__)
    parser.add_argument("--only", help="some of columns,rows,owned, separated by commas")
    parser.add_argument(
        "--limit", type=float, default=120, help="most seconds per fit; larger tables are left out"
    )
    parser.add_argument("--exhaustive-limit", type=float, default=60, help="the same for A-GBM")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="tiny tables: does it run?")
    parser.add_argument("--results", type=Path, help="folder to write to (benchmarks/results)")
    arguments = parser.parse_args()
    wanted = sweeps(arguments.quick)
    names = list(wanted) if arguments.only is None else arguments.only.split(",")
    if set(names) - set(wanted):
        parser.error(f"--only {arguments.only}: give some of {','.join(wanted)}")
    path = results_folder(arguments.results, arguments.quick) / GROWTH
    results = GrowthResults.read(path) if path.is_file() else GrowthResults()
    about = environment(("gtgbm", "lightgbm", "numpy"))
    limits = {GT: arguments.limit, LGB_ALL: arguments.limit, A_GBM: arguments.exhaustive_limit}
    base = Job("", "", "", Source("growth"), n_trees=arguments.trees, n_threads=arguments.threads)
    for name in names:
        results.about[name] = about | {"Trees": str(base.n_trees), "Threads": str(base.n_threads)}
        Sweeper(results, run_in_process, limits, path).sweep(name, wanted[name], base)
    print(f"{len(results.points)} points in {path}")


if __name__ == "__main__":
    _main()
