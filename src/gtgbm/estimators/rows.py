"""The validated arguments of fit: tables, targets, weights, queries, eval sets, callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.boosting import AnyCallback, Callback, Dataset
from gtgbm.data import EncodedFrame, as_table
from gtgbm.exact import ALONE, F64, I64, Communicator, RowWeights, Shard
from gtgbm.losses import Queries, Targets


@dataclass(frozen=True)
class Rows:
    """Training rows or validation rows.

    Attributes
    ----------
    table : ndarray or scipy sparse matrix, shape (m, d)
    y : ndarray, shape (n,)
        Targets: first as passed by the user, later converted to numbers.
    weight : ndarray of float64, shape (n,), or None
    qid : ndarray, shape (n,), or None
        Query of each row.
    shared : ndarray of int64, shape (n,), or None
        If several tasks share the table: the rows of this task, ascending. None: all rows of the table.
    offset : ndarray of float64, shape (n,) or (n, k), or None
        What is added to the scores.
    given_shard : Shard or None
        Which rows of the whole table these are, if other workers have some as well; None: all of them.
    """

    table: Any
    y: NDArray[Any]
    weight: F64 | None = None
    qid: NDArray[Any] | None = None
    shared: I64 | None = None
    offset: F64 | None = None
    given_shard: Shard | None = None

    @property
    def shard(self) -> Shard:
        """Which rows of the whole table these are."""
        return Shard.whole(self.y.shape[0]) if self.given_shard is None else self.given_shard

    def at(self, rows: I64, communicator: Communicator = ALONE) -> Rows:
        """Return some of the rows; if there are other workers, each of them returns some of its own."""
        y, weight = self.y[rows], None if self.weight is None else self.weight[rows]
        qid = None if self.qid is None else self.qid[rows]
        offset = None if self.offset is None else self.offset[rows]
        if self.shared is not None:
            return Rows(self.table, y, weight, qid, self.shared[rows], offset)
        shard = self.given_shard
        if shard is None:
            return Rows(self.table[rows], y, weight, qid, offset=offset)
        kept = np.zeros(shard.n_rows, dtype=np.bool_)
        kept[rows] = True
        # Workers that keep all of their rows do not copy them.
        table = self.table if kept.all() else self.table[rows]
        return Rows(table, y, weight, qid, offset=offset, given_shard=shard.only(kept, communicator))

    def with_weight(self, communicator: Communicator = ALONE) -> Rows:
        """Return the rows without those of weight 0."""
        if self.weight is None:
            return self
        n_zero = communicator.sum(np.array([np.count_nonzero(self.weight == 0.0)]))
        return self.at(np.flatnonzero(self.weight), communicator) if n_zero[0] else self

    def own(self) -> Rows:
        """Return the same rows with a table that holds only them."""
        if self.shared is None:
            return self
        # `shared` ascends, so if it is as long as the table, it is all rows in order.
        is_whole = self.shared.shape[0] == self.table.shape[0]
        table = self.table if is_whole else self.table[self.shared]
        return replace(self, table=table, shared=None)

    def dataset(self, communicator: Communicator = ALONE) -> Dataset:
        """Return table and targets for the engine; targets have been converted to numbers."""
        if self.weight is None:
            weights = RowWeights.equal(self.y.shape[0], self.shard.n_total)
        else:
            weights = RowWeights.of(self.weight, communicator)
        queries = None if self.qid is None else Queries.of(self.qid)
        offset = None if self.offset is None else by_score(self.offset)
        targets = Targets(self.y, weights, queries, offset)
        return Dataset(as_table(self.table), targets, given_shard=self.given_shard)


@dataclass(frozen=True)
class EvalSets:
    """Eval sets as the user gave them: pairs (X, y), and what there is of each besides.

    `rows` may be a list of `Rows` instead, whose tables have been read.
    """

    rows: Any
    weight: Any = None
    qid: Any = None
    offset: Any = None
    task: Any = None


def checked_weight(
    sample_weight: Any, n_rows: int, name: str = "sample_weight", communicator: Communicator = ALONE
) -> F64 | None:
    """Return validated weights of shape (n,); None if the weights of all workers are 1."""
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError(f"{name} is masked in some rows: give every row a weight, 0 to leave it out")
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} does not hold numbers: {error}") from error
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise ValueError(f"{name} has shape {weight.shape}; give one weight per row, shape ({n_rows},)")
    if not np.isfinite(weight).all() or weight.min(initial=0.0) < 0.0:
        raise ValueError(f"{name} holds NaN, infinity or a negative number; give weights of at least 0")
    facts = np.array([weight.any(), (weight != 1.0).any()], dtype=np.float64)
    is_positive, differs = communicator.max(facts).tolist()
    if not is_positive:
        raise ValueError(f"{name} is zero everywhere; at least one weight must be positive")
    return weight if differs else None


def checked_offset(offset: Any, n_rows: int, n_scores: int | None = None, name: str = "offset") -> F64 | None:
    """Return validated offsets of scores, shape (n,), or (n, k) for more than one score; None: any number."""
    if offset is None:
        return None
    shape = (n_rows,) if n_scores == 1 else (n_rows, n_scores)
    return finite(offset_values(offset, shape, name), name)


def offset_values(offset: Any, shape: tuple[int | None, ...], name: str) -> F64:
    """Return offsets of the given shape as numbers; its last entry may be None, for any shape of a row."""
    try:
        values = np.asarray(offset, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} does not hold numbers: {error}") from error
    if values.shape != shape and not (shape[-1] is None and values.shape[:1] == shape[:1]):
        raise ValueError(f"{name} has shape {values.shape}; give shape {shape}: a number for each score")
    return values


def finite(offset: F64, name: str) -> F64:
    """Return offsets, or raise an error where one is NaN or infinite."""
    if not np.isfinite(offset).all():
        raise ValueError(f"{name} holds NaN or infinity; give finite numbers")
    return offset


def check_all_have_offsets(has_offset: bool, of_set: Any, name: str) -> None:
    """Raise an error if only the training rows or only an eval set have offsets."""
    if (of_set is not None) != has_offset:
        raise ValueError(f"{name}: give offsets to the training rows and every eval set, or to none")


def by_score(offset: F64, n_dims: int = 1) -> F64:
    """Return offsets in the layout of scores, shape (k, n), or (k, n, T) for rows of two dimensions."""
    return np.ascontiguousarray(offset[None] if offset.ndim == n_dims else np.moveaxis(offset, -1, 0))


def weight_of_queries(weight: F64 | None, qid: NDArray[Any], name: str) -> F64 | None:
    """Return the weights of rows if they are the same within every query, else raise an error."""
    if weight is None:
        return None
    _, first, number = np.unique(qid, return_index=True, return_inverse=True)
    differs = weight[first][number] != weight
    if differs.any():
        raise ValueError(
            f"{name} differs within query {qid[differs][0]}: give the same weight to all rows of a query"
        )
    return weight


def checked_qid(qid: Any, n_rows: int, name: str = "qid") -> NDArray[Any]:
    """Return the validated query of each row."""
    if qid is None:
        raise ValueError(f"{name} is missing: give the query of each row, as in fit(X, y, qid=...)")
    ids = np.asarray(qid)
    if ids.shape != (n_rows,):
        raise ValueError(f"{name} has shape {ids.shape}; give one query id per row, shape ({n_rows},)")
    if any(query is None or query != query for query in (ids if ids.dtype.kind in "fO" else ())):
        raise ValueError(f"{name} holds NaN or None; every row needs a query id")
    try:
        np.unique(ids)
    except TypeError as error:
        raise TypeError(
            f"{name} holds ids that cannot be compared ({error}); give ids of one type"
        ) from error
    return ids


def pairs_of(eval_set: Any) -> list[tuple[Any, Any]]:
    """Return an ``eval_set`` as a list of (X, y) pairs."""
    if eval_set is None:
        return []
    is_one = isinstance(eval_set, tuple) and len(eval_set) == 2 and not all(map(_is_pair, eval_set))
    sets = [eval_set] if is_one else eval_set
    if not isinstance(sets, Sequence) or any(not isinstance(s, tuple | list) or len(s) != 2 for s in sets):
        raise ValueError("eval_set must be one pair (X, y) or a list of such pairs")
    return [(s[0], s[1]) for s in sets]


def _is_pair(value: Any) -> bool:
    """Whether a value is (X, y) rather than one of the two: a table comes first, not a row or a target."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        return False
    first = value[0]
    if isinstance(first, list | tuple):
        return bool(first) and np.ndim(first[0]) == 1
    return isinstance(first, EncodedFrame) or len(getattr(first, "shape", ())) == 2


def per_set(values: Any, n_sets: int, name: str) -> list[Any]:
    """Return an argument with one entry per eval set as a list; a single array is for a single eval set."""
    if values is None:
        return [None] * n_sets
    if n_sets == 1 and not (isinstance(values, list | tuple) and len(values) == 1):
        return [values]
    if not isinstance(values, list | tuple) or len(values) != n_sets:
        raise ValueError(f"{name} must be a list with one entry per eval_set, of which there are {n_sets}")
    return list(values)


def listed(callbacks: Any) -> list[AnyCallback]:
    """Return the validated ``callbacks`` as a list."""
    if callbacks is None:
        return []
    if not isinstance(callbacks, Sequence):
        raise TypeError(f"callbacks={callbacks!r} is not a list: give a list of callables")
    for callback in callbacks:
        if isinstance(callback, type):
            raise TypeError(f"callbacks holds the class {callback.__name__}: give {callback.__name__}()")
        if not callable(callback) and not isinstance(callback, Callback):
            raise TypeError(
                f"callbacks holds {callback!r}: give callables that take a Progress, or Callback objects"
            )
    return list(callbacks)
