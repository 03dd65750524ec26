"""What runs in a task of a Spark barrier stage: a worker of a fit."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from pyspark import BarrierTaskContext

from gtgbm.distributed.mesh import Address, listen
from gtgbm.distributed.partitions import bundle
from gtgbm.distributed.together import PlacedTable, Seat, fit_together

SET, ROW = "__gtgbm_set", "__gtgbm_row"
"""Columns that tell of a row to which table it belongs (0: training rows), and where it was."""
RESULT = "model binary, error binary"
"""Columns of what tasks return."""
_PLACES = 33
"""Bits of the row within its partition, in Spark's monotonically_increasing_id."""


@dataclass(frozen=True)
class Job:
    """What tasks are told about a fit.

    Attributes
    ----------
    model : estimator
    named : list of (str or None)
        Columns of target, weights and queries.
    n_tables : int
        The training table and eval sets.
    token, timeout, n_threads
        As in `Seat`.
    """

    model: Any
    named: Sequence[str | None]
    n_tables: int
    token: bytes
    timeout: float
    n_threads: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Fit together with the other tasks; the first returns the model, and each its error."""
        import pyarrow as pa

        model = error = None
        try:
            fitted = self._fit(list(batches))
            model = None if fitted is None else pickle.dumps(fitted)
        except Exception as raised:  # an error of a task would be a text of Spark's at the caller
            error = _pickled(raised)
        yield pa.RecordBatch.from_pydict(
            {"model": pa.array([model], pa.binary()), "error": pa.array([error], pa.binary())}
        )

    def _fit(self, batches: Sequence[Any]) -> Any:
        import pyarrow as pa

        context = BarrierTaskContext.get()
        rank = context.partitionId()
        host = context.getTaskInfos()[rank].address.rsplit(":", 1)[0]
        listener = listen(host)
        parts = _partitions(pa.Table.from_batches(batches)) if batches else {}
        own = {"port": listener.getsockname()[1], "host": host, "rows": _row_counts(parts)}
        said = [json.loads(message) for message in context.allGather(json.dumps(own))]
        addresses: list[Address] = [(one["host"], one["port"]) for one in said]
        rows = [tuple(entry) for one in said for entry in one["rows"]]
        tables = [self._table(parts, rows, number) for number in range(self.n_tables)]
        seat = Seat(rank, addresses, self.token, self.timeout, self.n_threads)
        return fit_together(self.model, seat, listener, tables)

    def _table(
        self, parts: dict[tuple[int, int], Any], rows: Sequence[tuple[int, int, int]], number: int
    ) -> PlacedTable:
        """Return the partitions of a table that this task has, and where they are in the whole table."""
        first, n_total = {}, 0
        for _, partition, n_rows in sorted(entry for entry in rows if entry[0] == number):
            first[partition] = n_total
            n_total += n_rows
        own = sorted(partition for table, partition in parts if table == number)
        contents = [self._content(parts[number, partition]) for partition in own]
        return [first[partition] for partition in own], contents, n_total

    def _content(self, table: Any) -> tuple[Any, Any, Any, Any]:
        values = [None if name is None else table[name].to_numpy() for name in self.named]
        return bundle(table.drop_columns([name for name in self.named if name is not None]), *values)


def _partitions(table: Any) -> dict[tuple[int, int], Any]:
    """Divide the rows of a task by their table and the partition where they were."""
    place = table[ROW].to_numpy()
    if np.any(place[1:] < place[:-1]):
        table = table.take(np.argsort(place))
    sets = table[SET].to_numpy().astype(np.int64)
    partition = table[ROW].to_numpy().astype(np.int64) >> _PLACES
    features = table.drop_columns([SET, ROW])
    changes = (np.diff(sets) != 0) | (np.diff(partition) != 0)
    bounds = [0, *(np.flatnonzero(changes) + 1).tolist(), table.num_rows]
    return {
        (int(sets[begin]), int(partition[begin])): features.slice(begin, end - begin)
        for begin, end in pairwise(bounds)
        if begin < end
    }


def _row_counts(parts: dict[tuple[int, int], Any]) -> list[tuple[int, int, int]]:
    return [(number, partition, table.num_rows) for (number, partition), table in parts.items()]


def _pickled(error: Exception) -> bytes:
    try:
        return pickle.dumps(error)
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
