"""Whether a table is the one a model was trained on, and which of its rows were held out then."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from gtgbm.estimators import HeldOut, Part, is_multitask, parts_of
from gtgbm.exact import F64, I64, FitContext, RowWeights
from gtgbm.explain.sampling import at_rows
from gtgbm.losses import Queries, Targets

_CLOSE = 1e-9


def is_training_table(estimator: Any, X: Any, rows: HeldOut, task: Any = None) -> bool:
    """Whether the loss of these rows is, to nine digits, the training loss that the model recorded.

    No other rows have it. True says that the rows were trained on; False says little, since the model may
    have been trained on some of them, or with weights.
    """
    parts = parts_of(estimator, X, task).parts
    if not is_multitask(estimator):
        queries = None if rows.qid is None else Queries.of(rows.qid)
        recorded, kept = estimator.evals_result_["training"], estimator.n_iter_
        return _is_recorded(estimator, parts[0], rows.y, queries, recorded, kept)
    places = list(rows.rows_of_task.items())
    return len(places) == len(parts) == len(estimator.tasks_) and all(
        _is_recorded(
            estimator,
            part,
            rows.y[place],
            None,
            estimator.evals_result_[name]["training"],
            estimator.n_iter_[name],
        )
        for part, (name, place) in zip(parts, places, strict=True)
    )


def held_out_again(estimator: Any, X: Any, y: Any, *, qid: Any = None, task: Any = None) -> I64 | None:
    """Draw again the rows that ``validation_fraction`` held out of a table for early stopping.

    Parameters
    ----------
    X, y, qid, task
        All rows that the model was fitted to, in the same order.

    Returns
    -------
    ndarray of int64, or None
        The rows, ascending. None if the others are not the rows that the model was trained on, to nine digits
        of their loss: it was fitted to another table, with weights or with an eval set, or its seed is not
        known. Multitask models with one target column per task hold out other rows for each task: None.
    """
    seed = _seed_of(estimator)
    rows = HeldOut.of(estimator, y, qid=qid, task=task)
    if estimator.early_stopping_rounds is None or seed is None or rows.is_mean_of_tasks:
        return None
    places = [place[0] for place in rows.rows_of_task.values()] or [np.arange(rows.y.shape[0])]
    if getattr(estimator, "method", None) == "single-task":
        places = [np.concatenate(places)]
    try:
        drawn = [estimator._drawn_again(rows.y, rows.qid, at, seed) for at in places]
    except ValueError:
        return None  # as few rows as cannot be divided
    held_out = np.sort(np.concatenate(drawn))
    kept = np.setdiff1d(np.arange(rows.y.shape[0]), held_out)
    X, y, qid, task = (None if one is None else at_rows(one, kept) for one in (X, y, qid, task))
    is_trained = is_training_table(estimator, X, HeldOut.of(estimator, y, qid=qid, task=task), task)
    return held_out if is_trained else None


def _seed_of(estimator: Any) -> int | None:
    """Return the seed of the fit; None if it was drawn and not kept, as in a model read from a file."""
    if hasattr(estimator, "_seed"):
        return estimator._seed  # type: ignore[no-any-return]
    is_fixed = isinstance(estimator.random_state, numbers.Integral)
    return int(estimator._new_seed()) if is_fixed else None


def _is_recorded(
    estimator: Any,
    part: Part,
    y: F64,
    queries: Queries | None,
    recorded: dict[str, list[float]],
    n_rounds: int,
) -> bool:
    if part.table.shape[0] != y.shape[0] or n_rounds < 1:
        return False
    (losses,) = recorded.values()
    scores = part.forest.scores(part.table, part.pool, part.places)
    targets = Targets(y, RowWeights.equal(y.shape[0]), queries)
    loss = estimator._fitted_loss.derivatives(scores, targets, FitContext(part.pool)).mean_loss
    return bool(np.isclose(loss, losses[n_rounds - 1], rtol=_CLOSE, atol=0.0))
