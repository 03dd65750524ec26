"""Partitions of a table on a Dask cluster: read, checked against each other, and placed on workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from dask import delayed
from distributed import Client, Future, wait

from gtgbm.data import as_frame, columns_of, issparse, listed

_IMBALANCE = 1.2
"""A worker keeps its partitions unless it would have so many times its share of the rows."""


@dataclass(frozen=True)
class Cluster:
    """A cluster, and the addresses of those of its workers that may take part."""

    client: Client
    workers: Sequence[str]

    @classmethod
    def of(cls, client: Client, workers: Sequence[str] | None) -> Cluster:
        """Return a cluster with some of its workers, or all."""
        known = sorted(client.nthreads())
        unknown = [worker for worker in workers or () if worker not in known]
        if unknown:
            raise ValueError(f"workers: the cluster has no worker {listed(unknown)}; it has {listed(known)}")
        chosen = known if workers is None else list(workers)
        if not chosen:
            raise ValueError("workers: there are none: start some, or give the addresses of some")
        return cls(client, chosen)


@dataclass(frozen=True)
class _Facts:
    """What is known of a partition: rows of each of its parts, and names and kinds of its columns."""

    rows: dict[str, int]
    columns: list[tuple[str, str]] | int | None


@dataclass
class Partitions:
    """The partitions of a table with its targets.

    Attributes
    ----------
    futures : list of Future
        Each holds (X, y, weight, qid).
    rows : ndarray of int64
        Rows of each partition.
    owner : list of str
        Worker of each partition, once they are placed.
    """

    futures: list[Future]
    rows: np.ndarray[Any, np.dtype[np.int64]]
    owner: list[str] = field(default_factory=list)

    def place(self, cluster: Cluster) -> list[str]:
        """Give each partition to a worker, and return the workers that have some.

        A partition stays where it is unless that worker would have far more rows than others.
        """
        known = cluster.workers
        holders = cluster.client.who_has(self.futures)
        load: Counter[str] = Counter()
        most = _IMBALANCE * max(float(self.rows.sum()) / len(known), float(self.rows.max(initial=1)))
        owner = [""] * len(self.futures)
        for k in np.argsort(-self.rows, kind="stable").tolist():
            here = [one for one in holders.get(self.futures[k].key, ()) if one in known]
            fits = [one for one in here if load[one] + self.rows[k] <= most]
            owner[k] = fits[0] if fits else min(known, key=lambda one: (load[one], one))
            load[owner[k]] += int(self.rows[k])
        self.owner = owner
        return [worker for worker in known if worker in owner]

    def of_worker(self, worker: str) -> tuple[list[int], list[Future], int]:
        """Return the first rows of a worker's partitions, the partitions, and the rows of all of them."""
        first = np.cumsum(self.rows) - self.rows
        own = [k for k, one in enumerate(self.owner) if one == worker]
        return [int(first[k]) for k in own], [self.futures[k] for k in own], int(self.rows.sum())


def partitions_of(
    cluster: Cluster,
    X: Any,
    y: Any,
    weight: Any,
    qid: Any,
    name: str,
    places: Sequence[str] | None = None,
) -> Partitions:
    """Compute the partitions of a table and check that they belong together.

    Parameters
    ----------
    X, y, weight, qid : dask collections, lists of delayed objects or futures, or None
    name : str
        What errors call the table.
    places : sequence of str, optional
        What errors call the partitions; None: their numbers.
    """
    y, weight, qid = (_with_chunks_of(X, one) for one in (y, weight, qid))
    given = {name: X, "y": y, "sample_weight": weight, "qid": qid}
    parts = {what: _parts(value, what) for what, value in given.items() if value is not None}
    n_parts = len(parts[name])
    for what, of_value in parts.items():
        if len(of_value) != n_parts:
            raise ValueError(
                f"{name} has {n_parts} partitions, {what} {len(of_value)}: repartition them alike"
            )
    bundles = [
        delayed(_bundle, pure=False)(*(parts[what][k] if what in parts else None for what in given))
        for k in range(n_parts)
    ]
    client, workers = cluster.client, list(cluster.workers)
    futures = client.compute(bundles, workers=workers)
    wait(futures)
    labels = [f"partition {k}" for k in range(n_parts)] if places is None else list(places)
    facts = client.gather(client.map(_facts, futures, names=list(given), workers=workers, pure=False))
    _check(facts, labels, name)
    return Partitions(futures, np.array([one.rows[name] for one in facts], dtype=np.int64))


def _with_chunks_of(X: Any, values: Any) -> Any:
    """Give a dask array the chunks of the rows of X, where both are known."""
    chunks, own = getattr(X, "chunks", None), getattr(values, "chunks", None)
    if not chunks or not own or np.isnan([*chunks[0], *own[0]]).any() or chunks[0] == own[0]:
        return values
    if sum(chunks[0]) != sum(own[0]):
        raise ValueError(
            f"X has {sum(chunks[0])} rows, and there are {sum(own[0])} values of them: give as many"
        )
    return values.rechunk({0: chunks[0]})


def _parts(value: Any, what: str) -> list[Any]:
    """Return the partitions of a dask collection, or of a list."""
    if hasattr(value, "to_delayed"):
        if getattr(value, "ndim", 1) == 2 and hasattr(value, "rechunk"):
            value = value.rechunk({1: -1})
        return list(np.asarray(value.to_delayed(), dtype=object).ravel())
    if isinstance(value, list | tuple) and value and all(hasattr(one, "key") for one in value):
        return list(value)
    raise TypeError(
        f"{what} is a {type(value).__name__}: give a dask array, a dask dataframe, or a list of delayed "
        "objects or futures; for a table in memory use estimator.fit"
    )


def _bundle(X: Any, y: Any, weight: Any, qid: Any) -> tuple[Any, Any, Any, Any]:
    """Put together what belongs to the rows of a partition."""
    return X, y, weight, qid


def _facts(bundle: tuple[Any, ...], names: Sequence[str]) -> _Facts:
    """Look at a partition, on the worker that has it."""
    X = bundle[0]
    rows = {
        what: int(value.shape[0]) if hasattr(value, "shape") else len(value)
        for what, value in zip(names, bundle, strict=True)
        if value is not None
    }
    if rows[names[0]] == 0 or issparse(X):
        return _Facts(rows, None)
    frame = as_frame(X)
    if frame is None:
        return _Facts(rows, int(X.shape[1]) if X.ndim == 2 else -1)
    # A column without a single value may have any type.
    kinds = [
        (column.name, "" if frame[0][column.name].is_null().all() else str(column.kind))
        for column in columns_of(frame[0])
    ]
    return _Facts(rows, kinds)


def _check(facts: Sequence[_Facts], labels: Sequence[str], name: str) -> None:
    """Raise an error that names the partition that does not fit the others."""
    for label, one in zip(labels, facts, strict=True):
        for what, n_rows in one.rows.items():
            if n_rows != one.rows[name]:
                raise ValueError(
                    f"{label}: {name} has {one.rows[name]} rows, {what} {n_rows}: give partitions of "
                    "the same rows"
                )
    filled = [
        (label, one.columns) for label, one in zip(labels, facts, strict=True) if one.columns is not None
    ]
    for label, columns in filled[1:]:
        _compare(filled[0], (label, columns), name)


def _compare(first: tuple[str, Any], other: tuple[str, Any], name: str) -> None:
    """Compare the columns of a partition with those of the first one."""
    (one, expected), (label, columns) = first, other
    if isinstance(expected, int) or isinstance(columns, int):
        if expected != columns:
            raise ValueError(f"{label} of {name} has {_width(columns)} columns, {one} has {_width(expected)}")
        return
    known, own = dict(expected), dict(columns)
    lacking, more = [key for key in known if key not in own], [key for key in own if key not in known]
    if lacking or more:
        what = (
            f"lacks columns {listed(lacking)}"
            if lacking
            else f"has columns {listed(more)}, which {one} has not"
        )
        raise ValueError(f"{label} of {name} {what}: give all partitions the same columns")
    for key, kind in own.items():
        if kind and known[key] and kind != known[key]:
            raise ValueError(
                f"{label} of {name}: column {key!r} is of type {kind}, in {one} of type {known[key]}: "
                "convert it"
            )


def _width(columns: Any) -> int:
    return columns if isinstance(columns, int) else len(columns)
