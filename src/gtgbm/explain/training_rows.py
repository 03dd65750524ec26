"""Whether a table is the one a model was trained on, and which of its rows were held out then."""

from __future__ import annotations

import numbers
from copy import copy
from typing import Any

import numpy as np

from gtgbm.estimators import HeldOut, Parts, is_multitask, parts_of
from gtgbm.exact import I64, FitContext, RowWeights
from gtgbm.explain.sampling import at_rows
from gtgbm.losses import Queries, Targets

_CLOSE = 1e-9


def is_training_table(estimator: Any, X: Any, rows: HeldOut, task: Any = None) -> bool:
    """Whether the loss of these rows is, to nine digits, the training loss that the model recorded.

    No other rows have it. True says that the rows were trained on; False says little, since the model may
    have been trained on some of them, or with weights.
    """
    parts = parts_of(estimator, X, task)
    if not is_multitask(estimator):
        recorded, kept = estimator.evals_result_["training"], estimator.n_iter_
        return _is_recorded(parts, 0, _targets(rows, (slice(None),)), recorded, kept)
    places = list(rows.rows_of_task.items())
    return len(places) == len(parts.parts) == len(estimator.tasks_) and all(
        _is_recorded(
            parts,
            k,
            _targets(rows, place),
            estimator.evals_result_[name]["training"],
            estimator.n_iter_[name],
        )
        for k, (name, place) in enumerate(places)
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


def _targets(rows: HeldOut, place: tuple[Any, ...]) -> Targets:
    y = rows.y[place]
    queries = None if rows.qid is None else Queries.of(rows.qid[place[0]])
    return Targets(y, RowWeights.equal(y.shape[0]), queries)


def _is_recorded(
    parts: Parts, k: int, targets: Targets, recorded: dict[str, list[float]], n_rounds: int
) -> bool:
    """Whether the loss of a part is the one recorded."""
    part = parts.parts[k]
    if part.table.shape[0] != targets.y.shape[0] or n_rounds < 1:
        return False
    (losses,) = recorded.values()
    scores = parts.scores_of_all(k, part.forest.scores(part.table, part.pool, part.places))
    # A copy, since a ranking loss keeps what it computes from the targets.
    loss = copy(parts.loss).derivatives(scores, targets, FitContext(part.pool)).mean_loss
    return bool(np.isclose(loss, losses[n_rounds - 1], rtol=_CLOSE, atol=0.0))
