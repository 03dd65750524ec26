"""Training and prediction on the workers of a Dask cluster."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from os import PathLike
from typing import Any

from distributed import Client, Future, MultiLock, default_client, wait
from sklearn.base import clone

from gtgbm.boosting import Progress, ProgressBar
from gtgbm.distributed.callers_checkpoint import LONGEST_FETCH, CallersCheckpoint, KeptState
from gtgbm.distributed.dask_parts import Cluster, Partitions, partitions_of
from gtgbm.distributed.dask_prediction import predict
from gtgbm.distributed.dask_worker import Job, fit_on_worker, kept_by_worker, listen_on_worker
from gtgbm.distributed.mesh import Address
from gtgbm.distributed.parquet import parquet_parts
from gtgbm.distributed.together import Seat, cause_of, eval_pairs, per_eval_set
from gtgbm.exact import WorkerError

__all__ = ["fit", "fit_parquet", "predict"]

_POLL = 0.1
_GRACE = 1.0
"""Seconds between looks at the workers, and those that a worker has to tell its error after another did."""


@dataclass(frozen=True)
class _Options:
    """Arguments of a fit that are not about data or workers."""

    progress: Callable[[Progress], None] | None
    timeout: float
    checkpoint: str | PathLike[str] | None


def fit(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    client: Client | None = None,
    workers: Sequence[str] | None = None,
    sample_weight: Any = None,
    qid: Any = None,
    eval_set: Any = None,
    eval_sample_weight: Any = None,
    eval_qid: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    timeout: float = 300.0,
) -> Any:
    """Fit an estimator to a table whose partitions are on the workers of a cluster.

    The model is the same, byte for byte, as that of ``estimator.fit`` with the whole table on one machine.

    Parameters
    ----------
    estimator : estimator of a single task
        It is not changed.
    X : dask array, dask dataframe, or list of delayed objects or futures
        Partitions are arrays or dataframes of any library. Partitions without rows are allowed.
    y : the same, with as many partitions of the same lengths
    client : distributed.Client, optional
        None: the client that was created last.
    workers : sequence of str, optional
        Addresses of the workers that may take part; None: all of the cluster.
    sample_weight, qid : the same, optional
        Weights, and for rankers queries. All rows of a query are in one partition.
    eval_set : (X, y) or list of such pairs, optional
        Sets on which loss and metrics are evaluated after each round, partitioned like `X` and `y`.
    eval_sample_weight, eval_qid : list, optional
        One entry for each eval set.
    checkpoint : str or path, optional
        File of this process, not of the workers, that holds the state of training. If the fit fails because a
        worker is lost, the same call goes on from the last round, to the same model, on any workers. A
        finished fit removes it.
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
    cluster = Cluster.of(default_client() if client is None else client, workers)
    tables = [partitions_of(cluster, X, y, sample_weight, qid, "X")]
    pairs = eval_pairs(eval_set)
    weights = per_eval_set(eval_sample_weight, len(pairs), "eval_sample_weight")
    qids = per_eval_set(eval_qid, len(pairs), "eval_qid")
    for k, (Z, z) in enumerate(pairs):
        tables.append(partitions_of(cluster, Z, z, weights[k], qids[k], f"eval_set[{k}]"))
    return _fit_partitions(cluster, estimator, tables, _Options(progress, timeout, checkpoint))


def fit_parquet(
    estimator: Any,
    path: Any,
    target: str,
    *,
    client: Client | None = None,
    workers: Sequence[str] | None = None,
    sample_weight: str | None = None,
    qid: str | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: Callable[[Progress], None] | None = None,
    timeout: float = 300.0,
) -> Any:
    """Fit an estimator to Parquet files; the workers read them, a row group at a time.

    Parameters
    ----------
    estimator : estimator of a single task
        It is not changed.
    path : str, path, or list of them
        Files, folders or patterns such as ``"clicks/*.parquet"``, in a place that all workers can read.
    target : str
        Column of the targets.
    sample_weight, qid : str, optional
        Columns of weights and queries.
    client, workers, checkpoint, progress, timeout
        As in `fit`.

    Returns
    -------
    estimator
        A fitted copy of the estimator.
    """
    cluster = Cluster.of(default_client() if client is None else client, workers)
    X, columns, names = parquet_parts(path, [target, sample_weight, qid])
    y, weight, queries = columns
    table = partitions_of(cluster, X, y, weight, queries, "X", names)
    return _fit_partitions(cluster, estimator, [table], _Options(progress, timeout, checkpoint))


def _fit_partitions(
    cluster: Cluster,
    estimator: Any,
    tables: Sequence[Partitions],
    options: _Options,
) -> Any:
    """Let all workers that get partitions fit a copy of the estimator, and return that of the first."""
    model, client = clone(estimator), cluster.client
    workers = tables[0].place(cluster)
    for table in tables[1:]:
        table.place(Cluster(client, workers))
    token = secrets.token_bytes(16)
    kept = None if options.checkpoint is None else _checkpoint(options.checkpoint, client, token)
    topic = f"gtgbm-{token.hex()}"
    with ExitStack() as stack:
        bar = stack.enter_context(
            ProgressBar(bool(getattr(model, "verbose", 0)), getattr(model, "n_estimators", 0))
        )
        refused: list[Exception] = []

        def tell(event: tuple[Any, Any]) -> None:
            news = Progress(*(event[1][name] for name in Progress._fields))
            try:
                bar.update(news)
                if options.progress is not None:
                    options.progress(news)
            except Exception as error:  # raised again by the thread that waits
                refused.append(error)

        # Two fits at once would wait for each other's threads.
        stack.enter_context(MultiLock(names=[f"gtgbm-{worker}" for worker in workers], client=client))
        client.subscribe_topic(topic, tell)
        stack.callback(client.unsubscribe_topic, topic)
        addresses = _listening(client, workers, token, options.timeout)
        content = None if kept is None else kept.content()
        n_threads = client.nthreads()
        jobs = [
            Job(
                Seat(rank, addresses, token, options.timeout, n_threads.get(worker, 1)),
                worker,
                topic,
                content,
            )
            for rank, worker in enumerate(workers)
        ]
        fits = [_begun(client, model, job, tables) for job in jobs]
        return _result(client, dict(zip(workers, fits, strict=True)), refused, kept)


def _begun(client: Client, model: Any, job: Job, tables: Sequence[Partitions]) -> Future:
    """Let a worker begin its part of a fit."""
    parts = [table.of_worker(job.worker) for table in tables]
    # Where its worker is lost, a task moves to another one, and fails there at once.
    return client.submit(
        fit_on_worker,
        model,
        job,
        parts,
        workers=[job.worker],
        allow_other_workers=True,
        pure=False,
        retries=0,
    )


def _checkpoint(path: str | PathLike[str], client: Client, token: bytes) -> CallersCheckpoint:
    """Return the checkpoint of a fit, whose state the workers hold."""

    def fetch(worker: str, n_known: int) -> KeptState:
        try:
            # Not `Client.run`, which would wait for a frozen worker.
            said = client.sync(
                client._run,
                kept_by_worker,
                token,
                n_known,
                workers=[worker],
                on_error="ignore",
                callback_timeout=LONGEST_FETCH,
            )
        except (TimeoutError, OSError):
            return None
        state: KeptState = said.get(worker)
        return state

    return CallersCheckpoint(path, fetch)


def _listening(client: Client, workers: Sequence[str], token: bytes, timeout: float) -> list[Address]:
    """Return where the workers listen for each other."""
    futures = [
        client.submit(listen_on_worker, token, workers=[worker], pure=False, allow_other_workers=False)
        for worker in workers
    ]
    try:
        wait(futures, timeout=timeout)
    except TimeoutError:
        late = next(worker for worker, one in zip(workers, futures, strict=True) if one.status == "pending")
        raise WorkerError(
            f"worker {late} did not begin within {timeout:g} s: it is busy or lost; restart it"
        ) from None
    addresses: list[Address] = client.gather(futures)
    return addresses


def _result(
    client: Client,
    fits: Mapping[str, Future],
    refused: Sequence[Exception],
    kept: CallersCheckpoint | None,
) -> Any:
    """Return the model of the first worker, or raise the error that came first.

    Parameters
    ----------
    fits : mapping
        The part of each worker, by its address.
    refused : sequence of Exception
        Errors of the caller's progress.
    """
    futures = list(fits.values())
    try:
        while any(future.status == "pending" for future in futures):
            if any(future.status == "error" for future in futures):
                break
            if refused:
                raise refused[0]
            known = client.nthreads()
            gone = [worker for worker in fits if worker not in known]
            if gone:
                # The others notice as well: their errors are the same.
                raise WorkerError(f"worker {gone[0]} was lost: the cluster does not know it any more")
            if kept is not None:
                kept.keep_current(next(iter(fits)))
            time.sleep(_POLL)
        _raise_cause(futures)
        model = futures[0].result()  # raises an error if it was cancelled
    except BaseException:
        if kept is not None:
            known = client.nthreads()
            # The error that ended the fit matters more than one of writing.
            with suppress(OSError):
                kept.keep_newest([worker for worker in fits if worker in known])
        raise
    finally:
        client.cancel(futures, force=True)
    if kept is not None:
        kept.remove()
    return model


def _raise_cause(futures: Sequence[Future]) -> None:
    """Raise the error of the worker that failed first; others only tell that it did."""
    if not any(future.status == "error" for future in futures):
        return
    deadline = time.monotonic() + _GRACE
    while time.monotonic() < deadline and any(future.status == "pending" for future in futures):
        time.sleep(_POLL)
    raise cause_of([future.exception() for future in futures if future.status == "error"])
