"""Whether a table is the one a model was trained on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtgbm.exact import F64, FitContext, RowWeights
from gtgbm.explain.held_out import HeldOut
from gtgbm.explain.parts import Part, is_multitask, parts_of
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
