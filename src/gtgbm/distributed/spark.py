"""Training on a Spark cluster, in a barrier stage."""

from __future__ import annotations

import pickle
import secrets
from collections.abc import Sequence
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import functions
from sklearn.base import clone

from gtgbm.data import lacking, listed
from gtgbm.distributed.spark_worker import RESULT, ROW, SET, Job
from gtgbm.distributed.together import cause_of
from gtgbm.exact import WorkerError

__all__ = ["fit"]


def fit(
    estimator: Any,
    df: Any,
    target: str,
    *,
    n_workers: int | None = None,
    sample_weight: str | None = None,
    qid: str | None = None,
    eval_set: Any = None,
    timeout: float = 300.0,
) -> Any:
    """Fit an estimator to a Spark dataframe.

    The model is the same, byte for byte, as that of ``estimator.fit`` with the rows of ``df.toArrow()`` on
    one machine, if the dataframe has the same rows in the same order each time it is computed.

    Parameters
    ----------
    estimator : estimator of a single task
        It is not changed.
    df : pyspark.sql.DataFrame
        All columns but those named below are features. Partitions without rows are allowed.
    target : str
        Column of the targets.
    n_workers : int, optional
        Tasks that train together, all at the same time; None: one for each partition, but not more than the
        cluster runs at a time.
    sample_weight, qid : str, optional
        Columns of weights and, for rankers, queries. All rows of a query are in one partition.
    eval_set : pyspark.sql.DataFrame or list of them, optional
        Sets on which loss and metrics are evaluated after each round, with the same columns as `df`.
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
    named = [target, sample_weight, qid]
    sets = [] if eval_set is None else list(eval_set) if isinstance(eval_set, list | tuple) else [eval_set]
    _check_columns(df, named, sets)
    context = df.sparkSession.sparkContext
    n_slots = context.defaultParallelism
    if n_workers is None:
        n_workers = min(df.rdd.getNumPartitions(), n_slots)
    if not 1 <= n_workers <= n_slots:
        raise ValueError(f"n_workers={n_workers}: give 1 to {n_slots}, the tasks that run at a time")
    n_threads = int(context.getConf().get("spark.task.cpus", "1"))
    job = Job(clone(estimator), named, 1 + len(sets), secrets.token_bytes(16), timeout, n_threads)
    marked = df.withColumn(SET, functions.lit(0))
    for k, of_set in enumerate(sets):
        marked = marked.unionByName(of_set.withColumn(SET, functions.lit(1 + k)))
    # A barrier stage begins with a shuffle, of which rows come in any order: they know where they were.
    rows = marked.withColumn(ROW, functions.monotonically_increasing_id())
    rows = rows.repartitionById(n_workers, (functions.spark_partition_id() % n_workers).cast("int"))
    try:
        results = rows.mapInArrow(job, RESULT, barrier=True).collect()
    except (PySparkException, Py4JJavaError) as error:
        reason = str(getattr(error, "java_exception", error)).split("\n")[0]
        raise WorkerError(f"a task of Spark was lost: {reason}") from error
    errors = [pickle.loads(bytes(row["error"])) for row in results if row["error"] is not None]
    if errors:
        raise cause_of(errors)
    return pickle.loads(bytes(next(row["model"] for row in results if row["model"] is not None)))


def _check_columns(df: Any, named: Sequence[str | None], sets: Sequence[Any]) -> None:
    """Raise an error if columns are missing, or if eval sets have others or of other types."""
    if not hasattr(df, "mapInArrow"):
        raise TypeError(
            f"df is a {type(df).__name__}: give a pyspark.sql.DataFrame; for a table in memory use "
            "estimator.fit"
        )
    absent = lacking([name for name in named if name is not None], df.columns)
    if absent:
        raise ValueError(f"df has no columns {listed(absent)}: it has {listed(df.columns)}")
    types = dict(df.dtypes)
    for k, of_set in enumerate(sets):
        own = dict(of_set.dtypes)
        lacks, more = lacking(list(types), list(own)), lacking(list(own), list(types))
        if lacks or more:
            what = f"lacks columns {listed(lacks)}" if lacks else f"has other columns {listed(more)}"
            raise ValueError(f"eval_set[{k}] {what}: give the columns of df")
        other = next((name for name in types if own[name] != types[name]), None)
        if other is not None:
            raise ValueError(
                f"eval_set[{k}]: column {other!r} is of type {own[other]}, in df of type {types[other]}: "
                "convert it"
            )
