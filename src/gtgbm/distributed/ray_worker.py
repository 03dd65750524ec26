"""What runs on a Ray cluster: an actor for each worker of a fit, and tasks that look at partitions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from socket import socket
from typing import Any

import ray

from gtgbm.boosting import CheckpointMemory, Progress
from gtgbm.distributed.callers_checkpoint import KeptState, newer_state
from gtgbm.distributed.mesh import Address, listen
from gtgbm.distributed.partitions import Facts, bundle, facts_of
from gtgbm.distributed.together import Seat, fit_together


class FitWorker:
    """A worker of one fit. One of its threads trains, the other answers the caller."""

    def __init__(self) -> None:
        self._listener: socket | None = None
        self._news: list[Progress] = []
        self._kept: CheckpointMemory | None = None

    def listen(self) -> tuple[Address, str, int]:
        """Listen for other workers; return the place, the node of the cluster, and the process."""
        host = ray.util.get_node_ip_address()
        self._listener = listen(host)
        node = ray.get_runtime_context().get_node_id()
        return (host, self._listener.getsockname()[1]), node, os.getpid()

    def fit(
        self,
        model: Any,
        seat: Seat,
        tables: Sequence[tuple[Sequence[int], Sequence[Any], int]],
        kept: CheckpointMemory | None,
    ) -> Any:
        """Fit together with the other workers; the first of them returns the model.

        Parameters
        ----------
        tables : sequence of (sequence of int, sequence of ObjectRef, int)
            Of each table: the first row of each partition, the partitions, and the rows of all workers.
        """
        assert self._listener is not None, "listen() comes first"
        self._kept = kept
        here = [(first, ray.get(list(refs)), n_total) for first, refs, n_total in tables]
        return fit_together(model, seat, self._listener, here, [self._news.append], kept)

    def news(self, n_seen: int) -> list[Progress]:
        """Return the rounds after those that the caller has seen."""
        return self._news[n_seen:]

    def kept(self, n_known: int) -> KeptState:
        """Return the state of training, if it is newer than one that the caller has."""
        return newer_state(self._kept, n_known)


FitActor: Any = ray.remote(max_concurrency=2, max_restarts=0)(FitWorker)


@ray.remote(num_cpus=0)  # type: ignore[untyped-decorator]
def bundled(X: Any, y: Any, weight: Any, qid: Any, names: Sequence[str]) -> tuple[Any, Facts]:
    """Put together what belongs to the rows of a partition, and look at it.

    Parameters
    ----------
    y, weight, qid : array, or str
        A name is that of a column of X.
    names : sequence of str
        What errors call the four.
    """
    columns = [one for one in (y, weight, qid) if isinstance(one, str)]
    if columns:
        values = [X[one].to_numpy() if isinstance(one, str) else one for one in (y, weight, qid)]
        content = bundle(X.drop_columns(columns), *values)
    else:
        content = bundle(X, y, weight, qid)
    return content, facts_of(content, names)
