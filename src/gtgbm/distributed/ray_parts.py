"""Partitions of a table in the object store of a Ray cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayTaskError

from gtgbm.data import lacking, listed
from gtgbm.distributed.partitions import check_facts, first_rows, number_of_partitions, placed
from gtgbm.distributed.ray_worker import bundled
from gtgbm.exact import I64


@dataclass(frozen=True)
class Partitions:
    """The partitions of a table with its targets.

    Attributes
    ----------
    refs : list of ObjectRef
        Each is that of (X, y, weight, qid).
    rows : ndarray of int64
        Rows of each partition.
    """

    refs: list[Any]
    rows: I64

    def placed(self, nodes: Mapping[str, str]) -> list[str]:
        """Return the worker of each partition.

        Parameters
        ----------
        nodes : mapping
            Node of each worker, by the worker's name.
        """
        places = ray.experimental.get_object_locations(self.refs)
        held = [places[ref]["node_ids"] for ref in self.refs]
        holders = [[worker for worker, node in nodes.items() if node in of_part] for of_part in held]
        return placed(self.rows, list(nodes), holders)

    def of_worker(self, worker: str, owner: Sequence[str]) -> tuple[list[int], list[Any], int]:
        """Return the first rows of a worker's partitions, the partitions, and the rows of all of them."""
        first = first_rows(self.rows)
        own = [k for k, one in enumerate(owner) if one == worker]
        return [first[k] for k in own], [self.refs[k] for k in own], int(self.rows.sum())


def partitions_of(X: Any, y: Any, weight: Any, qid: Any, name: str) -> Partitions:
    """Put together the partitions of a table and check that they belong together.

    Parameters
    ----------
    X : ray.data.Dataset or list of ObjectRef
    y, weight, qid : str or list of ObjectRef, or None
    name : str
        What errors call the table.
    """
    given = {name: X, "y": y, "sample_weight": weight, "qid": qid}
    arguments: list[tuple[Any, ...]]
    if hasattr(X, "to_arrow_refs"):
        tables = _blocks(
            X, {what: value for what, value in given.items() if what != name and value is not None}
        )
        arguments = [(table, y, weight, qid) for table in tables]
    else:
        parts = {what: _refs(value, what) for what, value in given.items() if value is not None}
        n_parts = number_of_partitions(parts)
        arguments = [
            tuple(parts[what][k] if what in parts else None for what in given) for k in range(n_parts)
        ]
    made = [bundled.options(num_returns=2).remote(*one, list(given)) for one in arguments]
    try:
        facts = ray.get([of_part for _, of_part in made])
    except RayTaskError as error:
        raise (error.cause if isinstance(error.cause, Exception) else error) from None
    check_facts(facts, name)
    return Partitions([ref for ref, _ in made], np.array([one.rows[name] for one in facts], dtype=np.int64))


def _blocks(dataset: Any, columns: Mapping[str, Any]) -> list[Any]:
    """Return references to the blocks of a dataset, in the order of its rows."""
    for what, value in columns.items():
        if not isinstance(value, str):
            raise TypeError(
                f"{what} is a {type(value).__name__}: give the name of a column of the dataset that is X"
            )
    known = dataset.columns() or []
    absent = lacking(list(columns.values()), known)
    if absent:
        raise ValueError(f"the dataset has no columns {listed(absent)}: it has {listed(known)}")
    options = dataset.context.execution_options
    before = options.preserve_order
    options.preserve_order = True
    try:
        return list(dataset.to_arrow_refs())
    finally:
        options.preserve_order = before


def _refs(value: Any, what: str) -> list[Any]:
    if isinstance(value, list | tuple) and value and all(isinstance(one, ray.ObjectRef) for one in value):
        return list(value)
    raise TypeError(
        f"{what} is a {type(value).__name__}: give a ray.data.Dataset as X and names of its columns, or "
        "lists of ObjectRef; for a table in memory use estimator.fit"
    )
