"""One fit in a process of its own: a job as JSON on stdin, its record as the last line of stdout."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from time import perf_counter

from benchmarks.data import Data, load
from benchmarks.jobs import Job, Record
from benchmarks.measuring import ROOT

_LOADED = "loaded after "
_START_SECONDS = 5.0
"""Allowance for what a process does before it can look at a clock: starting, importing numpy and scipy."""


class JobFailedError(Exception):
    """A worker gave no record; the message says why in one line.

    Attributes
    ----------
    at_least : float or None
        Seconds the fit had run when it was stopped, if it was.
    """

    def __init__(self, why: str, at_least: float | None = None) -> None:
        super().__init__(why)
        self.at_least = at_least


def run_in_process(job: Job, limit: float | None = None) -> Record:
    """Start a worker for a job and wait for its record, `limit` seconds at most.

    Raises
    ------
    JobFailedError
        If the worker fails or takes too long.
    """
    command = [sys.executable, "-m", "benchmarks.worker"]
    # Some libraries only listen to the environment, and numpy's own threads should not be in the way either.
    threads = {f"{name}_NUM_THREADS": str(job.n_threads) for name in ("OMP", "OPENBLAS", "MKL")}
    try:
        done = subprocess.run(
            command,
            input=job.to_json(),
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=os.environ | threads,
            timeout=limit,
            check=False,
        )
    except subprocess.TimeoutExpired as stopped:
        raise _stopped(stopped) from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise JobFailedError(last)
    return Record.from_json(done.stdout.splitlines()[-1])


def _stopped(stopped: subprocess.TimeoutExpired) -> JobFailedError:
    # What was written until then may be bytes, whatever was asked for.
    output = stopped.stdout or ""
    written = output.decode() if isinstance(output, bytes) else output
    if not written.startswith(_LOADED):
        return JobFailedError(f"data not loaded within {stopped.timeout:g} s")
    at_least = stopped.timeout - float(written.splitlines()[0].removeprefix(_LOADED))
    return JobFailedError(f"fit stopped after {at_least:.0f} s", at_least)


def load_for(job: Job) -> Data:
    """Load a job's data as its model is to see them."""
    data = load(job.data)
    if job.encoding == "one-hot":
        data = data.one_hot()
    return data.only(job.columns)


def run_here(job: Job, data: Data) -> Record:
    """Run a job in this process."""
    peer = importlib.import_module(f"benchmarks.peers.{job.peer}")
    record: Record = peer.run(job, data)
    return record


def _main() -> None:
    begin = perf_counter()
    job = Job.from_json(sys.stdin.read())
    importlib.import_module(f"benchmarks.peers.{job.peer}")
    data = load_for(job)
    # Should the process be stopped, its parent knows how long the fit has run at least.
    print(f"{_LOADED}{perf_counter() - begin + _START_SECONDS}", flush=True)
    print(run_here(job, data).to_json())


if __name__ == "__main__":
    _main()
