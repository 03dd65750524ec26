"""The measurement of one data set: rounds of fits, each saved as soon as it is done."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from pathlib import Path

from benchmarks.comparison.first_round import first_round
from benchmarks.comparison.frontier import measure_frontier
from benchmarks.comparison.plan import Plan
from benchmarks.comparison.results import Results, partial_path_of, path_of
from benchmarks.comparison.summary import Run, worth_repeating
from measuring.jobs import Job, Record
from measuring.processes import ProcessFailedError


class Measurement:
    """Runs jobs, keeps what they gave, and writes it down after each.

    Parameters
    ----------
    results : Results
        What is there so far: nothing, or what an interrupted measurement left.
    run : callable
        Runs a job or raises ``ProcessFailedError``.
    folder : Path
        Where results are written.
    """

    def __init__(self, results: Results, run: Callable[[Job], Record], folder: Path) -> None:
        self.results = results
        self._run = run
        self._folder = folder
        self._left_over = list(results.runs)
        results.runs = []

    def fit(self, job: Job) -> Record | None:
        """Run a job and keep its record; None if it fails, which is noted and not tried again."""
        record = self._take_left_over(job)
        if record is None:
            record = self.try_once(job)
        if record is not None:
            self.results.runs.append((job, record))
            self._save()
        return record

    def try_once(self, job: Job) -> Record | None:
        """Run a job without keeping its record."""
        name = f"{job.label} ({job.variant})" if job.variant else job.label
        if name in self.results.failures:
            return None
        try:
            record = self._run(job)
        except ProcessFailedError as failure:
            self.results.failures[name] = str(failure)
            if failure.at_least is not None:
                earlier = self.results.unfinished.get(job.label, failure.at_least)
                self.results.unfinished[job.label] = min(earlier, failure.at_least)
            print(f"{job.data.name}: {name}: FAILED: {failure}", flush=True)
            self._save()
            return None
        print(
            f"{job.data.name}: {name}: {record.seconds:.2f} s, {record.n_features} features, "
            f"{record.score:.4f}",
            flush=True,
        )
        return record

    def all_rounds(self, plan: Plan, base: Job, repeats: int, once_above: float = inf) -> None:
        """Run every method `repeats` times, interleaved, every second round backwards; then the frontier.

        Layouts and encodings that were clearly slower than another in the first round are not repeated, nor
        are fits that took more than `once_above` seconds.
        """
        first_round(plan, base, self.fit)
        first: list[Run] = list(self.results.runs)
        jobs = worth_repeating(first, once_above=once_above)
        for k in range(1, repeats):
            for job in reversed(jobs) if k % 2 else jobs:
                self.fit(job)
        if plan.frontier is not None:
            measure_frontier(plan, plan.frontier, base, self.try_once, self.results.points, self._save)

    def finish(self) -> None:
        """Put the complete results in place of older ones."""
        self.results.write(path_of(self._folder, self.results.data))
        partial_path_of(self._folder, self.results.data).unlink(missing_ok=True)

    def _take_left_over(self, job: Job) -> Record | None:
        wanted = job.without_places()
        for place, (earlier, record) in enumerate(self._left_over):
            if earlier == wanted:
                del self._left_over[place]
                return record
        return None

    def _save(self) -> None:
        self.results.write(partial_path_of(self._folder, self.results.data))
