"""Fits an estimator to a table whose rows are divided among workers, who all end with the same model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import assert_all_finite, column_or_1d

from gtgbm.boosting import AnyCallback, CheckpointMemory
from gtgbm.estimators.rows import EvalSets, Rows, checked_qid, checked_weight, weight_of_queries
from gtgbm.estimators.sharded_tables import read_eval_shard, read_shard
from gtgbm.estimators.single_task import SingleTask
from gtgbm.estimators.target_values import target_values
from gtgbm.exact import F64, I64, Communicator, Shard, WorkerError, union


@dataclass(frozen=True)
class TablePart:
    """Rows of a table that follow each other.

    Attributes
    ----------
    first : int
        Number of the first row in the whole table.
    X : ndarray or dataframe, shape (n, d)
    y : array-like, shape (n,)
    weight, qid : array-like, shape (n,), or None
    """

    first: int
    X: Any
    y: Any
    weight: Any = None
    qid: Any = None


@dataclass(frozen=True)
class ShardedTable:
    """The parts of a table that a worker has, in the order of their rows.

    Attributes
    ----------
    parts : sequence of TablePart
    n_total : int
        Rows of all workers.
    """

    parts: Sequence[TablePart]
    n_total: int

    @property
    def ids(self) -> I64:
        """Numbers of this worker's rows in the whole table."""
        none = np.empty(0, dtype=np.int64)
        return np.concatenate([none, *(part.first + np.arange(part.X.shape[0]) for part in self.parts)])


def fit_shard(
    estimator: Any,
    data: ShardedTable,
    communicator: Communicator,
    eval_sets: Sequence[ShardedTable] = (),
    callbacks: Sequence[AnyCallback] = (),
    checkpoint: CheckpointMemory | None = None,
) -> Any:
    """Fit an estimator together with other workers, each of which calls this with its own rows.

    All parts have weights, or none of any worker has; the same holds for queries.

    Parameters
    ----------
    estimator : estimator of a single task
        The same on all workers; fitted in place.
    communicator : Communicator
        It is closed at the end; with the reason, if this worker fails.
    eval_sets : sequence of ShardedTable
        As many on all workers.
    callbacks : sequence
        Those of this worker; training stops if any worker's asks for it.
    checkpoint : CheckpointMemory or None
        The same content on all workers; each of them keeps the state of training in its own.

    Returns
    -------
    estimator
        The fitted estimator, the same on all workers, and the same as that of one worker with all rows.
    """
    try:
        _fit(estimator, data, communicator, eval_sets, callbacks, checkpoint)
    except WorkerError as error:
        # The others learn of the worker that failed first, not of this one.
        communicator.close(str(error))
        raise
    except BaseException as error:
        communicator.close(f"worker {communicator.rank} failed: {type(error).__name__}: {error}")
        raise
    communicator.close()
    return estimator


def _fit(
    estimator: Any,
    data: ShardedTable,
    communicator: Communicator,
    eval_sets: Sequence[ShardedTable],
    callbacks: Sequence[AnyCallback],
    checkpoint: CheckpointMemory | None,
) -> None:
    if not isinstance(estimator, SingleTask):
        raise TypeError(
            f"{type(estimator).__name__} cannot be trained on several workers yet: train it on one machine, "
            "or a model of one task on several"
        )
    if estimator._checked("warm_start"):
        raise ValueError("warm_start=True cannot be used on several workers yet: use warm_start=False")
    if estimator.n_features_to_select == "auto":
        raise ValueError(
            "n_features_to_select='auto' cannot be used on several workers yet: give a number, or choose it "
            "on one machine from a sample of the rows"
        )
    estimator._discard_fit()
    table = read_shard(estimator, [part.X for part in data.parts], communicator)
    rows = _rows(estimator, data, table, "y", communicator)
    rows = estimator._with_class_weight(rows.with_weight(communicator), communicator)
    evaluated = []
    for k, of_set in enumerate(eval_sets):
        name = f"eval_set[{k}]"
        table = read_eval_shard(estimator, [part.X for part in of_set.parts], name)
        evaluated.append(_rows(estimator, of_set, table, f"{name}: y", communicator))
    qids = [one.qid for one in evaluated] if evaluated else None
    sets = EvalSets(evaluated, qid=qids)
    estimator._fit(rows, sets, list(callbacks), checkpoint, communicator, reset=True)


def _rows(estimator: Any, data: ShardedTable, table: Any, name: str, communicator: Communicator) -> Rows:
    """Return rows whose targets are not converted yet."""
    shard = Shard(data.ids, data.n_total)
    y = _targets(estimator, data.parts, name)
    if not table.shape[0] == y.shape[0] == shard.n_rows:
        raise ValueError(f"X has {table.shape[0]} rows, {name} {y.shape[0]} values; they must match")
    qid = _queries(data.parts, shard.n_rows, communicator) if estimator._ranks else None
    weight: F64 | None = None
    given = [part.weight for part in data.parts if part.X.shape[0]]
    has_weight = float(any(one is not None for one in given))
    if communicator.max(np.array([has_weight]))[0]:
        own = np.concatenate([np.empty(0), *(np.asarray(one, dtype=np.float64) for one in given)])
        weight = checked_weight(own, shard.n_rows, "sample_weight", communicator)
        if qid is not None:
            weight = weight_of_queries(weight, qid, "sample_weight")
    return Rows(table, y, weight, qid, given_shard=shard)


def _targets(estimator: Any, parts: Sequence[TablePart], name: str) -> NDArray[Any]:
    values = []
    for part in (part for part in parts if part.X.shape[0]):
        y = column_or_1d(target_values(part.y, name, is_numeric=estimator._y_is_numeric), warn=True)
        if estimator._y_is_numeric and y.dtype.kind == "O":
            y = y.astype(np.float64)
        assert_all_finite(y, input_name=name)
        values.append(y)
    return np.concatenate(values) if values else np.empty(0)


def _queries(parts: Sequence[TablePart], n_rows: int, communicator: Communicator) -> I64:
    """Return the number of each row's query among those of all workers."""
    given = [np.asarray(part.qid) for part in parts if part.X.shape[0]]
    ids = checked_qid(np.concatenate(given) if given else np.empty(0), n_rows)
    all_ids = union(ids, communicator)
    number = np.searchsorted(all_ids, ids).astype(np.int64)
    n_workers = np.zeros(all_ids.shape[0], dtype=np.int64)
    n_workers[number] = 1
    split = np.flatnonzero(communicator.sum(n_workers) > 1)
    if split.shape[0]:
        raise ValueError(
            f"qid: the rows of query {all_ids[split[0]]} are on several workers: put all rows of a query "
            "into one part, sorted by query before the table is divided"
        )
    return number
