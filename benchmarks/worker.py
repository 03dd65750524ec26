"""One fit in a process of its own: a job as JSON on stdin, its record as the last line of stdout."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys

from benchmarks.data import load
from benchmarks.jobs import Job, Record
from benchmarks.measuring import ROOT


class JobFailedError(Exception):
    """A worker gave no record; the message says why in one line."""


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
    except subprocess.TimeoutExpired:
        raise JobFailedError(f"not finished within {limit:g} s, loading included") from None
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise JobFailedError(last)
    return Record.from_json(done.stdout.splitlines()[-1])


def run_here(job: Job) -> Record:
    """Load a job's data and run it in this process."""
    peer = importlib.import_module(f"benchmarks.peers.{job.peer}")
    data = load(job.data)
    if job.encoding == "one-hot":
        data = data.one_hot()
    record: Record = peer.run(job, data.only(job.columns))
    return record


if __name__ == "__main__":
    print(run_here(Job.from_json(sys.stdin.read())).to_json())
