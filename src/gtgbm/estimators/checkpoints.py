"""Opens the checkpoint of a fit, which must be of the same data and parameters."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gtgbm.boosting import (
    NO_CHECKPOINT,
    Checkpoint,
    CheckpointFile,
    CheckpointMemory,
    FitIdentity,
    Model,
    StoredCheckpoint,
)
from gtgbm.data import ParquetNumbers
from gtgbm.estimators.rows import Rows
from gtgbm.exact import ALONE, Communicator, digest_of_rows

_NO_INFLUENCE = ("n_jobs", "verbose", "memory_limit")
"""Parameters that do not change the model."""
_BLOCK = 1 << 24
"""Values that are read at a time."""


def open_checkpoint(
    place: str | PathLike[str] | CheckpointMemory | None,
    estimator: Any,
    rows: Mapping[Any, Rows],
    validations: Mapping[Any, Sequence[Rows]],
    continued: Model | None = None,
    communicator: Communicator = ALONE,
) -> Checkpoint:
    """Return the checkpoint of a fit; None: nothing is kept.

    Parameters
    ----------
    place : str, path, CheckpointMemory or None
    rows, validations : mapping
        Training rows and eval sets of each task; targets have been converted to numbers.
    continued : Model or None
        The model that the fit continues.
    """
    if place is None:
        return NO_CHECKPOINT
    store = place if isinstance(place, CheckpointMemory) else CheckpointFile(place)
    parameters = {
        name: _described(value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in _NO_INFLUENCE
    }
    settings = parameters | {"estimator": type(estimator).__name__, "gtgbm": version("gtgbm")}
    if settings.get("n_features_to_select") == "'auto'":
        # Chosen anew by every call, from draws that depend on random_state.
        settings["n_features_to_select"] = f"'auto', which chose {estimator.selection_path_.one_se_size}"
    data: dict[str, str] = {}
    digests = _Digests(communicator)
    for task, of_task in rows.items():
        data |= digests.of(of_task, "" if task is None else f" of task {task!r}")
    for task, sets in validations.items():
        for k, of_set in enumerate(sets):
            where = f" of eval_set[{k}]" if task is None else f" of the eval_set of task {task!r}"
            data |= digests.of(of_set, where)
    data["columns of X"] = _digest(repr(estimator._schema))
    classes = getattr(estimator, "classes_", None), getattr(estimator, "task_classes_", None)
    data["classes of y"] = _digest(repr(classes))
    data["model to continue"] = "" if continued is None else _digest_of_model(continued)
    return StoredCheckpoint(store, FitIdentity(settings, data))


class _Digests:
    """Digests of rows, which may be divided among workers: these do not depend on who has which rows."""

    def __init__(self, communicator: Communicator) -> None:
        self._communicator = communicator
        self._tables: dict[int, str] = {}  # tasks may share a table, which is read once

    def of(self, rows: Rows, where: str) -> dict[str, str]:
        """Return digests of table, targets and what else there is, by name."""
        if rows.given_shard is not None:
            of_table = self._digest(rows.table, rows)
        else:
            key = id(rows.table)
            of_table = self._tables[key] = self._tables.get(key) or _digest_of_table(rows.table)
        digests = {f"X{where}": of_table}
        others = {
            "y": rows.y,
            "sample_weight": rows.weight,
            "offset": rows.offset,
            "set of rows": rows.shared,
            # Ids may be text of any length.
            "qid": None if rows.qid is None else np.unique(rows.qid, return_inverse=True)[1],
        }
        if rows.given_shard is not None:
            others["qid"] = rows.qid  # which workers have numbered together
        given = {f"{name}{where}": values for name, values in others.items() if values is not None}
        return digests | {name: self._digest(values, rows) for name, values in given.items()}

    def _digest(self, values: NDArray[Any], rows: Rows) -> str:
        if rows.given_shard is None:
            return digest_of(values)
        return f"{rows.shard.n_total} rows {digest_of_rows(values, rows.shard, self._communicator)}"


def _digest_of_table(table: Any) -> str:
    if isinstance(table, ParquetNumbers):
        return _digest(table.identity())
    if issparse(table):
        parts = [digest_of(part) for part in (table.data, table.indices, table.indptr)]
        return _digest(repr((table.format, table.shape, parts)))
    return digest_of(table)


def _digest_of_model(model: Model) -> str:
    arrays = [part for tree in model.trees for part in (tree.feature, tree.threshold, tree.value)]
    return _digest(repr((model.history, [digest_of(part) for part in [model.start, *arrays]])))


def digest_of(values: NDArray[Any]) -> str:
    """Return a digest of an array of numbers; it depends on the order in memory, so that it is fast."""
    if values.ndim == 2 and values.flags.f_contiguous and not values.flags.c_contiguous:
        return "columns " + digest_of(values.T)
    length = max(1, _BLOCK // max(1, values[:1].size))
    blocks = (values[first : first + length] for first in range(0, values.shape[0], length))
    sums = [zlib.crc32(np.ascontiguousarray(block).data) for block in blocks]
    return _digest(repr((values.dtype.str, values.shape, sums)))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _described(value: Any) -> str:
    """Return a text that is the same in another process."""
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return type(value).__name__  # its seed is in the checkpoint
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_described(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_described, value)) + "]"
    if hasattr(value, "__array__") and np.ndim(value):
        return _described(np.asarray(value).tolist())
    text = repr(value)
    # Functions, and objects without a text of their own, are known by name.
    return getattr(value, "__qualname__", type(value).__qualname__) if " at 0x" in text else text
