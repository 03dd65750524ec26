"""Training on a Ray cluster."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from os import PathLike
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayActorError, RayError, RayTaskError
from sklearn.base import clone

from gtgbm.boosting import Progress, ProgressBar
from gtgbm.distributed.callers_checkpoint import LONGEST_FETCH, CallersCheckpoint, KeptState
from gtgbm.distributed.ray_parts import Partitions, partitions_of
from gtgbm.distributed.ray_worker import FitActor
from gtgbm.distributed.together import Seat, cause_of, eval_pairs, per_eval_set
from gtgbm.exact import WorkerError

__all__ = ["fit"]

_START = 60.0
"""Seconds that workers have to start, at least."""
_POLL = 0.1
_GRACE = 1.0
"""Seconds between looks at the workers, and those that a worker has to tell its error after another did."""


def fit(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_workers: int | None = None,
    cpus_per_worker: int = 1,
    sample_weight: Any = None,
    qid: Any = None,
    eval_set: Any = None,
    eval_sample_weight: Any = None,
    eval_qid: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    timeout: float = 300.0,
) -> Any:
    """Fit an estimator to a table in the object store of a Ray cluster.

    The model is the same, byte for byte, as that of ``estimator.fit`` with the whole table on one machine.

    Parameters
    ----------
    estimator : estimator of a single task
        It is not changed.
    X : ray.data.Dataset, or list of ObjectRef
        References are those of arrays or dataframes of any library; partitions without rows are allowed.
    y : str, or list of ObjectRef
        Column of the dataset with the targets, or as many references as in `X`, of the same rows.
    n_workers : int, optional
        Workers of the fit; None: one for each node of the cluster.
    cpus_per_worker : int
        Processors that each worker reserves, and threads that it uses.
    sample_weight, qid : the same as y, optional
        Weights, and for rankers queries. All rows of a query are in one partition.
    eval_set : (X, y) or list of such pairs, optional
        Sets on which loss and metrics are evaluated after each round.
    eval_sample_weight, eval_qid : list, optional
        One entry for each eval set.
    checkpoint : str or path, optional
        File of this process, not of the workers, that holds the state of training. If the fit fails because a
        worker is lost, the same call goes on from the last round, to the same model. A finished fit
        removes it.
    progress : callable, optional
        Called with a ``Progress`` after each round.
    timeout : float
        Seconds that a worker may take to answer the others, before it is taken for lost.

    Returns
    -------
    estimator
        A fitted copy of the estimator.

    Raises
    ------
    gtgbm.distributed.WorkerError
        If a worker is lost or does not answer. Errors of workers are raised as they are.
    """
    if n_workers is None:
        n_workers = sum(1 for node in ray.nodes() if node["Alive"])
    for name, value in (("n_workers", n_workers), ("cpus_per_worker", cpus_per_worker)):
        if value < 1:
            raise ValueError(f"{name}={value}: give at least 1")
    tables = [partitions_of(X, y, sample_weight, qid, "X")]
    pairs = eval_pairs(eval_set)
    weights = per_eval_set(eval_sample_weight, len(pairs), "eval_sample_weight")
    qids = per_eval_set(eval_qid, len(pairs), "eval_qid")
    for k, (Z, z) in enumerate(pairs):
        tables.append(partitions_of(Z, z, weights[k], qids[k], f"eval_set[{k}]"))
    n_workers = min(n_workers, max(1, len(tables[0].refs)))
    with ExitStack() as stack:
        workers = _started(stack, n_workers, cpus_per_worker, timeout)
        fits = _Fits(workers, timeout)
        kept = None if checkpoint is None else CallersCheckpoint(checkpoint, fits.state)
        model = clone(estimator)
        bar = ProgressBar(bool(getattr(model, "verbose", 0)), getattr(model, "n_estimators", 0))
        stack.enter_context(bar)
        fits.begin(model, tables, cpus_per_worker, kept)
        return fits.result([bar.update, *([] if progress is None else [progress])], kept)


@dataclass(frozen=True)
class _Worker:
    """A worker: its actor, where it listens, its node, and what errors call it."""

    actor: Any
    address: tuple[str, int]
    node: str
    name: str


def _started(stack: ExitStack, n_workers: int, n_cpus: int, timeout: float) -> list[_Worker]:
    """Start workers, which end with the stack."""
    # Nodes take turns, so that each of them holds some of the rows.
    options = {"num_cpus": n_cpus, "scheduling_strategy": "SPREAD"}
    actors = [FitActor.options(**options).remote() for _ in range(n_workers)]
    for actor in actors:
        stack.callback(ray.kill, actor)
    longest = max(timeout, _START)
    try:
        places = ray.get([actor.listen.remote() for actor in actors], timeout=longest)
    except GetTimeoutError:
        total = ray.cluster_resources().get("CPU", 0)
        raise WorkerError(
            f"{n_workers} workers of {n_cpus} CPUs did not begin within {longest:g} s: the cluster has "
            f"{total:g} CPUs, which may be in use; give a lower n_workers or cpus_per_worker"
        ) from None
    return [
        _Worker(actor, address, node, f"{rank} ({address[0]}, process {pid})")
        for rank, (actor, (address, node, pid)) in enumerate(zip(actors, places, strict=True))
    ]


class _Fits:
    """The parts of a fit that workers do."""

    def __init__(self, workers: Sequence[_Worker], timeout: float) -> None:
        self._workers, self._timeout = workers, timeout
        self._refs: list[Any] = []
        self._n_seen = 0

    def begin(
        self, model: Any, tables: Sequence[Partitions], n_threads: int, kept: CallersCheckpoint | None
    ) -> None:
        """Let all workers begin."""
        token, content = secrets.token_bytes(16), None if kept is None else kept.content()
        nodes = {str(rank): worker.node for rank, worker in enumerate(self._workers)}
        owners = [table.placed(nodes) for table in tables]
        addresses = [worker.address for worker in self._workers]
        given = ray.put(model)
        for rank, worker in enumerate(self._workers):
            seat = Seat(rank, addresses, token, self._timeout, n_threads)
            parts = [table.of_worker(str(rank), owner) for table, owner in zip(tables, owners, strict=True)]
            self._refs.append(worker.actor.fit.remote(given, seat, parts, content))

    def result(self, listeners: Sequence[Callable[[Progress], None]], kept: CallersCheckpoint | None) -> Any:
        """Return the model of the first worker, or raise the error that came first."""
        pending = list(self._refs)
        try:
            while pending:
                done, pending = ray.wait(pending, num_returns=len(pending), timeout=_POLL)
                if any(self._error(ref) is not None for ref in done):
                    self._raise_cause()
                for news in self._news():
                    for listener in listeners:
                        listener(news)
                if kept is not None:
                    kept.keep_current(self._workers[0])
        except BaseException:
            # The error that ended the fit matters more than one of writing.
            with suppress(OSError):
                if kept is not None:
                    kept.keep_newest(self._answering())
            raise
        if kept is not None:
            kept.remove()
        return ray.get(self._refs[0])

    def _answering(self) -> list[_Worker]:
        """Return the workers that have ended their part; all, if none has: others may be frozen."""
        done, pending = ray.wait(self._refs, num_returns=len(self._refs), timeout=0)
        asked = done or pending
        return [worker for worker, ref in zip(self._workers, self._refs, strict=True) if ref in asked]

    def state(self, worker: _Worker, n_known: int) -> KeptState:
        """Return what a worker holds of a checkpoint, if it is newer than number `n_known`."""
        try:
            state: KeptState = ray.get(worker.actor.kept.remote(n_known), timeout=LONGEST_FETCH)
        except RayError:
            return None
        return state

    def _news(self) -> list[Progress]:
        """Return the rounds that are new."""
        try:
            news: list[Progress] = ray.get(
                self._workers[0].actor.news.remote(self._n_seen), timeout=LONGEST_FETCH
            )
        except RayError:
            return []
        self._n_seen += len(news)
        return news

    def _error(self, ref: Any) -> BaseException | None:
        """Return the error of a part that has ended."""
        try:
            ray.get(ref)
        except RayTaskError as error:
            cause = error.cause
            return cause if isinstance(cause, Exception) else error
        except RayActorError as error:
            return WorkerError(f"worker {self._workers[self._refs.index(ref)].name} was lost: {error}")
        return None

    def _raise_cause(self) -> None:
        """Raise the error of the worker that failed first."""
        done, _ = ray.wait(self._refs, num_returns=len(self._refs), timeout=_GRACE)
        errors = [self._error(ref) for ref in done]
        raise cause_of([error for error in errors if error is not None])
