"""The checkpoint of a fit on a cluster: workers hold the state of training, the caller has the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

from gtgbm.boosting import CheckpointFile, CheckpointMemory

LONGEST_FETCH = 1.0
"""Seconds that a worker has to send its state: one that is frozen never does."""
KeptState = tuple[int, bytes] | None
"""State of a worker, with its number: of several, the highest is the newest."""


def newer_state(kept: CheckpointMemory | None, n_known: int) -> KeptState:
    """Return the state that a worker holds, if it is newer than one that is known."""
    if kept is None or kept.n_writes <= n_known:
        return None
    content = kept.read()
    return None if content is None else (kept.n_writes, content)


class CallersCheckpoint:
    """A file of the caller, written from the state that workers hold.

    All workers have the same state, so that those which are left after another was lost know the last round.

    Parameters
    ----------
    path : str or path
        It is read here, not by the workers.
    fetch : callable
        ``fetch(worker, n_known)`` returns the state of a worker if it is newer than number `n_known`; None if
        not, or if the worker does not answer.
    """

    def __init__(self, path: str | PathLike[str], fetch: Callable[[Any, int], KeptState]) -> None:
        self._file = CheckpointFile(path)
        self._fetch = fetch
        self._n_writes = 0
        self._file.check_writable()

    def content(self) -> CheckpointMemory:
        """Return the content of the file, with which workers begin."""
        return CheckpointMemory(self._file.name, self._file.read())

    def keep_current(self, worker: Any) -> None:
        """Write the state of a worker into the file, if it is time to."""
        if self._file.is_due():
            self.keep_newest([worker])

    def keep_newest(self, workers: Sequence[Any]) -> None:
        """Write the newest state of some workers into the file, if it is newer than that of the file."""
        newest: bytes | None = None
        for worker in workers:
            said = self._fetch(worker, self._n_writes)
            if said is not None:
                self._n_writes, newest = said
        if newest is not None:
            self._file.write(newest)

    def remove(self) -> None:
        """Remove the file, since the fit is finished."""
        self._file.remove()
