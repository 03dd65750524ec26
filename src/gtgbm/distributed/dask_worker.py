"""What runs on a Dask worker: its part of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from socket import socket
from typing import Any
from urllib.parse import urlsplit

from distributed import get_worker

from gtgbm.boosting import CheckpointMemory, Progress
from gtgbm.distributed.callers_checkpoint import KeptState, newer_state
from gtgbm.distributed.mesh import Address, listen
from gtgbm.distributed.together import PlacedTable, Seat, fit_together
from gtgbm.exact import WorkerError

_LISTENERS: dict[tuple[bytes, str], socket] = {}
"""Listeners of fits that are about to begin, by token and worker: several workers may share a process."""
_KEPT: dict[str, tuple[bytes, CheckpointMemory]] = {}
"""State of the last fit with a checkpoint of each worker, and the token of the fit."""


@dataclass(frozen=True)
class Job:
    """What a worker is told about a fit.

    Attributes
    ----------
    seat : Seat
    worker : str
        Address of the Dask worker that has this seat.
    topic : str
        Events of the progress.
    checkpoint : CheckpointMemory or None
        What is known of an interrupted fit.
    """

    seat: Seat
    worker: str
    topic: str
    checkpoint: CheckpointMemory | None


def listen_on_worker(token: bytes) -> Address:
    """Listen for the other workers of a fit; return the place where they reach this one."""
    address = get_worker().address
    host = urlsplit(address).hostname or "127.0.0.1"
    listener = _LISTENERS[token, address] = listen(host)
    return host, listener.getsockname()[1]


def kept_by_worker(token: bytes, n_known: int, dask_worker: Any) -> KeptState:
    """Return the state of training that this worker holds, with its number, if it is newer than one known."""
    of_fit, kept = _KEPT.get(dask_worker.address, (b"", None))
    return newer_state(kept if of_fit == token else None, n_known)


def fit_on_worker(model: Any, job: Job, tables: Sequence[PlacedTable]) -> Any:
    """Fit together with the other workers; the first of them returns the model."""
    worker, seat = get_worker(), job.seat
    if worker.address != job.worker or (seat.token, job.worker) not in _LISTENERS:
        raise WorkerError(f"worker {seat.rank} ({job.worker}) was lost, and its part of the fit with it")
    listener = _LISTENERS.pop((seat.token, job.worker))
    task = worker.get_current_task()

    def tell(progress: Progress) -> None:
        known = worker.state.tasks.get(task)
        if known is None or known.state != "executing":
            raise WorkerError("the fit was cancelled")
        worker.log_event(job.topic, progress._asdict())

    kept = None
    _KEPT.pop(job.worker, None)
    if job.checkpoint is not None:
        # Workers that share a process would share the one of the job.
        kept = CheckpointMemory(job.checkpoint.name, job.checkpoint.read())
        _KEPT[job.worker] = seat.token, kept
    return fit_together(model, seat, listener, tables, [tell], kept)
