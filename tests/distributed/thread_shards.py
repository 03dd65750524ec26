"""Threads as workers, each with rows of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sklearn.base import clone

from gtgbm.estimators import ShardedTable, TablePart, fit_shard
from gtgbm.exact import F64, I64, WorkerError

_TIMEOUT = 60.0


class _Meeting:
    def __init__(self, world: int) -> None:
        self.barrier = threading.Barrier(world)
        self.values: list[Any] = [None] * world
        self.reason: str | None = None


class ThreadCommunicator:
    """Workers that are threads of one process."""

    def __init__(self, meeting: _Meeting, rank: int) -> None:
        self._meeting = meeting
        self.rank, self.world = rank, len(meeting.values)

    @classmethod
    def all_of(cls, world: int) -> list[ThreadCommunicator]:
        meeting = _Meeting(world)
        return [cls(meeting, rank) for rank in range(world)]

    def _exchange(self, value: Any) -> list[Any]:
        meeting = self._meeting
        meeting.values[self.rank] = value
        try:
            meeting.barrier.wait(_TIMEOUT)
            values = list(meeting.values)
            meeting.barrier.wait(_TIMEOUT)
        except threading.BrokenBarrierError:
            raise WorkerError(meeting.reason or "a worker left") from None
        return values

    def sum(self, values: I64) -> I64:
        parts = self._exchange(values.copy())
        assert all(part.shape == values.shape and part.dtype == np.int64 for part in parts)
        values[...] = np.sum(np.stack(parts), axis=0, dtype=np.int64)
        return values

    def max(self, values: F64) -> F64:
        parts = self._exchange(values.copy())
        assert all(part.shape == values.shape for part in parts)
        values[...] = np.max(np.stack(parts), axis=0)
        return values

    def share(self, message: bytes) -> list[bytes]:
        return self._exchange(message)

    def close(self, reason: str | None = None) -> None:
        if reason is not None:
            self._meeting.reason = self._meeting.reason or reason
            self._meeting.barrier.abort()


def run(communicators: Sequence[Any], work: Callable[[Any], Any]) -> list[Any]:
    """Let every worker work in a thread of its own; raise the error of the first that failed."""
    with ThreadPoolExecutor(len(communicators)) as pool:
        done = [pool.submit(work, communicator) for communicator in communicators]
    errors = [one.exception() for one in done]
    own = [error for error in errors if error is not None and not isinstance(error, WorkerError)]
    for error in [*own, *errors]:
        if error is not None:
            raise error
    return [one.result() for one in done]


def shards_of(owner: I64, world: int, X: Any, y: Any, **more: Any) -> list[ShardedTable]:
    """Divide a table: row i is that of worker ``owner[i]``; runs of rows are parts."""
    n = len(y)
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    tables: list[ShardedTable] = []
    for rank in range(world):
        parts = []
        for first, last in zip(starts, [*starts[1:], n], strict=True):
            if owner[first] == rank:
                rows = slice(int(first), int(last))
                table = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
                given = {name: None if value is None else value[rows] for name, value in more.items()}
                parts.append(TablePart(int(first), table, y[rows], **given))
        tables.append(ShardedTable(parts, n))
    return tables


def fit_threads(
    estimator: Any, tables: Sequence[ShardedTable], eval_tables: Sequence[Sequence[ShardedTable]] = ()
) -> list[Any]:
    """Fit an estimator with every table on a thread of its own."""

    def fit(communicator: ThreadCommunicator) -> Any:
        rank = communicator.rank
        sets = [of_set[rank] for of_set in eval_tables]
        return fit_shard(clone(estimator), tables[rank], communicator, sets)

    return run(ThreadCommunicator.all_of(len(tables)), fit)
