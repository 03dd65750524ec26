"""What runs on a Dask worker: its part of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from socket import socket
from typing import Any
from urllib.parse import urlsplit

from distributed import get_worker
from sklearn.base import clone

from gtgbm.boosting import CheckpointMemory, Progress
from gtgbm.distributed.mesh import Address, Mesh, listen
from gtgbm.estimators import ShardedTable, TablePart, fit_shard
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
    rank : int
    worker : str
        Address of the Dask worker that has this rank.
    addresses : sequence of (str, int)
        Where all workers listen, by rank.
    token : bytes
        Identifies the fit.
    timeout : float
        Seconds that other workers may take to answer.
    topic : str
        Events of the progress.
    checkpoint : CheckpointMemory or None
        What is known of an interrupted fit.
    """

    rank: int
    worker: str
    addresses: Sequence[Address]
    token: bytes
    timeout: float
    topic: str
    checkpoint: CheckpointMemory | None


def listen_on_worker(token: bytes) -> Address:
    """Listen for the other workers of a fit; return the place where they reach this one."""
    address = get_worker().address
    host = urlsplit(address).hostname or "127.0.0.1"
    listener = _LISTENERS[token, address] = listen(host)
    return host, listener.getsockname()[1]


def kept_by_worker(token: bytes, n_known: int, dask_worker: Any) -> tuple[int, bytes] | None:
    """Return the state of training that this worker holds, with its number, if it is newer than one known."""
    kept_token, kept = _KEPT.get(dask_worker.address, (b"", None))
    if kept is None or kept_token != token or kept.n_writes <= n_known:
        return None
    content = kept.read()
    return None if content is None else (kept.n_writes, content)


def fit_on_worker(model: Any, job: Job, tables: Sequence[tuple[Sequence[int], list[Any], int]]) -> Any:
    """Fit together with the other workers; the first of them returns the model.

    Parameters
    ----------
    tables : sequence of (sequence of int, list, int)
        Of the training table and each eval set: the first row of each of the worker's partitions, what they
        hold (X, y, weight, qid), and the rows of all workers.
    """
    worker = get_worker()
    if worker.address != job.worker or (job.token, job.worker) not in _LISTENERS:
        raise WorkerError(f"worker {job.rank} ({job.worker}) was lost, and its part of the fit with it")
    listener = _LISTENERS.pop((job.token, job.worker))
    communicator = Mesh.connect(job.rank, job.addresses, listener, job.token, job.timeout)
    shards = []
    for first, partitions, n_total in tables:
        parts = [TablePart(start, *one) for start, one in zip(first, partitions, strict=True)]
        shards.append(ShardedTable(parts, n_total))

    task = worker.get_current_task()

    def tell(progress: Progress) -> None:
        known = worker.state.tasks.get(task)
        if known is None or known.state != "executing":
            raise WorkerError("the fit was cancelled")
        worker.log_event(job.topic, progress._asdict())

    model = clone(model)  # workers that share a process would share it
    given = {name: getattr(model, name) for name in ("verbose", "n_jobs")}
    # The bar is shown where the client is, and threads are those that the cluster gives to a worker.
    model.set_params(verbose=0, n_jobs=model.n_jobs or worker.state.nthreads)
    kept = None
    _KEPT.pop(job.worker, None)
    if job.checkpoint is not None:
        kept = CheckpointMemory(job.checkpoint.name, job.checkpoint.read())
        _KEPT[job.worker] = job.token, kept
    fit_shard(model, shards[0], communicator, shards[1:], [tell] if job.rank == 0 else [], kept)
    return model.set_params(**given) if job.rank == 0 else None
