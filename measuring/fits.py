"""One fit: here, or in a process of its own."""

from __future__ import annotations

import importlib
from dataclasses import asdict
from typing import Any

from measuring.data import Data, load
from measuring.jobs import Job, Record
from measuring.processes import call_in_process, say_loaded


def run_in_process(job: Job, limit: float | None = None) -> Record:
    """Run a job in a new process, `limit` seconds at most.

    Raises
    ------
    ProcessFailedError
        If the process fails or takes too long.
    """
    answer = call_in_process(load_and_run, job.n_threads, limit=limit, job=asdict(job))
    return Record(**answer)


def load_and_run(job: dict[str, Any]) -> dict[str, Any]:
    """Load a job's data and run it; the job and its record are plain JSON."""
    wanted = Job.from_dict(job)
    # Imported before the data are loaded, so that what is timed and weighed is the fit alone.
    importlib.import_module(f"measuring.peers.{wanted.peer}")
    data = load_for(wanted)
    say_loaded()
    return asdict(run_here(wanted, data))


def load_for(job: Job) -> Data:
    """Load a job's data as its model is to see them."""
    data = load(job.data)
    if job.encoding == "one-hot":
        data = data.one_hot()
    return data.only(job.columns)


def run_here(job: Job, data: Data) -> Record:
    """Run a job in this process."""
    peer = importlib.import_module(f"measuring.peers.{job.peer}")
    record: Record = peer.run(job, data)
    return record
