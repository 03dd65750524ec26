"""One fit in a process of its own: a job as JSON on stdin, its record as the last line of stdout."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

from benchmarks.data import load
from benchmarks.jobs import Job, Record
from benchmarks.measuring import ROOT


def run_in_process(job: Job) -> Record:
    """Start a worker for a job and wait for its record."""
    command = [sys.executable, "-m", "benchmarks.worker"]
    done = subprocess.run(command, input=job.to_json(), capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{job.label}: the worker failed\n{done.stderr}")
    return Record.from_json(done.stdout.splitlines()[-1])


def _main() -> None:
    job = Job.from_json(sys.stdin.read())
    peer = importlib.import_module(f"benchmarks.peers.{job.peer}")
    record: Record = peer.run(job, load(Path(job.data)).only(job.columns))
    print(record.to_json())


if __name__ == "__main__":
    _main()
