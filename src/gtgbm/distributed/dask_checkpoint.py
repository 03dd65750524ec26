"""The checkpoint of a fit on a Dask cluster: workers hold the state of training, the caller has the file."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from distributed import Client

from gtgbm.boosting import CheckpointFile, CheckpointMemory
from gtgbm.distributed.dask_worker import kept_by_worker

_LONGEST_FETCH = 1.0
"""Seconds that a worker has to send its state: one that is frozen never does."""


class CallersCheckpoint:
    """A file of the caller, written from the state that workers hold.

    All workers have the same state, so that those which are left after another was lost know the last round.

    Parameters
    ----------
    path : str or path
        It is read here, not by the workers.
    token : bytes
        Identifies the fit.
    """

    def __init__(self, path: str | PathLike[str], client: Client, token: bytes) -> None:
        self._file = CheckpointFile(path)
        self._client, self._token = client, token
        self._n_writes = 0
        self._file.check_writable()

    def content(self) -> CheckpointMemory:
        """Return the content of the file, with which workers begin."""
        return CheckpointMemory(self._file.name, self._file.read())

    def keep_current(self, worker: str) -> None:
        """Write the state of a worker into the file, if it is time to."""
        if self._file.is_due():
            self.keep_newest([worker])

    def keep_newest(self, workers: Sequence[str]) -> None:
        """Write the newest state of some workers into the file, if it is newer than that of the file."""
        newest: bytes | None = None
        for worker in workers:
            said = self._fetched(worker)
            if said is not None:
                self._n_writes, newest = said
        if newest is not None:
            self._file.write(newest)

    def remove(self) -> None:
        """Remove the file, since the fit is finished."""
        self._file.remove()

    def _fetched(self, worker: str) -> tuple[int, bytes] | None:
        """Return the state of a worker if it is newer, with its number."""
        client = self._client
        try:
            # Not `Client.run`, which would wait for a frozen worker.
            said = client.sync(
                client._run,
                kept_by_worker,
                self._token,
                self._n_writes,
                workers=[worker],
                on_error="ignore",
                callback_timeout=_LONGEST_FETCH,
            )
        except (TimeoutError, OSError):
            return None
        state: tuple[int, bytes] | None = said.get(worker)
        return state
