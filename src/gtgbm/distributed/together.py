"""A worker's part of a fit, on any cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from socket import socket
from typing import Any

from sklearn.base import clone

from gtgbm.boosting import AnyCallback, CheckpointMemory
from gtgbm.distributed.mesh import Address, Mesh
from gtgbm.estimators import ShardedTable, TablePart, fit_shard
from gtgbm.exact import WorkerError

PlacedTable = tuple[Sequence[int], Sequence[tuple[Any, Any, Any, Any]], int]
"""Of a table: the first row of each of a worker's partitions, what they hold (X, y, weight, qid), and the
rows of all workers."""


@dataclass(frozen=True)
class Seat:
    """The place of a worker in a fit.

    Attributes
    ----------
    rank : int
    addresses : sequence of (str, int)
        Where all workers listen, by rank.
    token : bytes
        Identifies the fit.
    timeout : float
        Seconds that other workers may take to answer.
    n_threads : int
        Threads that the cluster gives to the worker.
    """

    rank: int
    addresses: Sequence[Address]
    token: bytes
    timeout: float
    n_threads: int


def fit_together(
    model: Any,
    seat: Seat,
    listener: socket,
    tables: Sequence[PlacedTable],
    callbacks: Sequence[AnyCallback] = (),
    kept: CheckpointMemory | None = None,
) -> Any:
    """Fit a copy of a model together with the other workers; the first of them returns it.

    Parameters
    ----------
    listener : socket
        Where this worker listens for others; it is closed.
    tables : sequence of PlacedTable
        The training table and each eval set.
    callbacks : sequence
        Those of the first worker.
    """
    communicator = Mesh.connect(seat.rank, seat.addresses, listener, seat.token, seat.timeout)
    shards = []
    for first, partitions, n_total in tables:
        parts = [TablePart(start, *one) for start, one in zip(first, partitions, strict=True)]
        shards.append(ShardedTable(parts, n_total))
    model = clone(model)  # workers that share a process would share it
    given = {name: getattr(model, name) for name in ("verbose", "n_jobs")}
    # A bar is shown where the caller is.
    model.set_params(verbose=0, n_jobs=model.n_jobs or seat.n_threads)
    fit_shard(model, shards[0], communicator, shards[1:], callbacks if seat.rank == 0 else [], kept)
    return model.set_params(**given) if seat.rank == 0 else None


def cause_of(errors: Sequence[BaseException]) -> BaseException:
    """Return the error of the worker that failed first; others only tell that it did."""
    return next((error for error in errors if not isinstance(error, WorkerError)), errors[0])


def eval_pairs(eval_set: Any) -> list[Any]:
    """Return eval sets as a list."""
    return [] if eval_set is None else [eval_set] if isinstance(eval_set, tuple) else list(eval_set)


def per_eval_set(values: Any, n_sets: int, name: str) -> list[Any]:
    """Return what is given for each eval set, or None for each."""
    if values is None:
        return [None] * n_sets
    if not isinstance(values, list | tuple) or len(values) != n_sets:
        raise ValueError(f"{name} needs one entry for each of {n_sets} eval sets")
    return list(values)
