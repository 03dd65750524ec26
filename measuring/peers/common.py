"""What all adapters do alike: the smallest leaf, the score, the times to predict, the record."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measuring.cost import Cost, median_seconds
from measuring.data import Data
from measuring.jobs import Job, Record
from measuring.scores import auc, rmse

_BATCH_CALLS, _ROW_CALLS = 5, 300
_PREDICT_SECONDS = 2.0
"""Most time for each of the two prediction measurements; the first call is always made."""


def make_record(
    data: Data,
    cost: Cost,
    predict: Callable[[Any], NDArray[Any]],
    *,
    features_by_gain: Sequence[int],
    leaves: Sequence[int] | NDArray[np.int64],
    n_features: int | None = None,
    stages: Mapping[str, float] | None = None,
    note: str = "",
) -> Record:
    """Score a fitted model, time its predictions, and put the record together.

    Parameters
    ----------
    predict : callable
        Takes all columns of `data`, returns a score per row.
    features_by_gain : sequence of int
        Columns of `data` the model uses, best first.
    leaves : sequence of int, shape (n_trees,)
    n_features : int or None
        None: as many as `features_by_gain` has.
    """
    scores = predict(data.X_test)
    row = data.X_test[:1]
    return Record(
        seconds=cost.seconds,
        n_features=len(features_by_gain) if n_features is None else n_features,
        score=(auc if data.kind == "binary" else rmse)(data.y_test, scores),
        mean_leaves=float(np.mean(leaves)),
        peak_mb=cost.peak_mb,
        predict_batch=median_seconds(lambda: predict(data.X_test), _BATCH_CALLS, _PREDICT_SECONDS),
        predict_row=median_seconds(lambda: predict(row), _ROW_CALLS, _PREDICT_SECONDS),
        features_by_gain=[int(feature) for feature in features_by_gain],
        stages=dict(stages or {}),
        shape=list(data.X_train.shape),
        note=note,
    )


def by_gain(gain: NDArray[Any], used: NDArray[Any]) -> NDArray[np.int64]:
    """Sort the columns in `used`, largest gain first, equal ones by number."""
    return np.asarray(used[np.argsort(-gain[used], kind="stable")], dtype=np.int64)


def smallest_leaf(job: Job, n_rows: int) -> int:
    """Return the fewest rows our models leave in a leaf by default."""
    return max(1, math.ceil(job.min_node_fraction * n_rows / 4))


def price(job: Job, data: Data) -> float:
    """Return the penalty in squared error: ours is a fraction of what the first root has."""
    if job.penalty is None:
        raise ValueError(f"model={job.model!r} needs a penalty")
    return job.penalty * data.n_rows * float(np.var(data.y_train))


def n_to_choose(job: Job) -> int:
    """Return the number of features to choose, which must be given."""
    if job.n_features is None:
        raise ValueError(f"model={job.model!r} needs n_features")
    return job.n_features


def unknown_model(job: Job, known: Sequence[str]) -> ValueError:
    """Return the error for a model an adapter does not have."""
    return ValueError(f"model={job.model!r} is unknown to {job.peer}: give one of {', '.join(known)}")
