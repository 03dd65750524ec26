"""Partitions of a table on a Dask cluster: read, checked against each other, and placed on workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from dask import delayed
from distributed import Client, Future, wait

from gtgbm.data import listed
from gtgbm.distributed.partitions import (
    bundle,
    check_facts,
    facts_of,
    first_rows,
    number_of_partitions,
    placed,
)


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
        held = cluster.client.who_has(self.futures)
        holders = [held.get(future.key, ()) for future in self.futures]
        self.owner = placed(self.rows, cluster.workers, holders)
        return [worker for worker in cluster.workers if worker in self.owner]

    def of_worker(self, worker: str) -> tuple[list[int], list[Future], int]:
        """Return the first rows of a worker's partitions, the partitions, and the rows of all of them."""
        first = first_rows(self.rows)
        own = [k for k, one in enumerate(self.owner) if one == worker]
        return [first[k] for k in own], [self.futures[k] for k in own], int(self.rows.sum())


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
    n_parts = number_of_partitions(parts)
    bundles = [
        delayed(bundle, pure=False)(*(parts[what][k] if what in parts else None for what in given))
        for k in range(n_parts)
    ]
    client, workers = cluster.client, list(cluster.workers)
    futures = client.compute(bundles, workers=workers)
    wait(futures)
    facts = client.gather(client.map(facts_of, futures, names=list(given), workers=workers, pure=False))
    check_facts(facts, name, places)
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
