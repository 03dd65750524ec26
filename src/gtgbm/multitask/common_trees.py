"""Trees that tasks have in common: grown from the rows of all of them, before each goes on by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import vstack

from gtgbm import _core
from gtgbm.boosting import Model, train
from gtgbm.data import issparse
from gtgbm.exact import RowWeights
from gtgbm.losses import Loss, Targets
from gtgbm.multitask.task import Task


def common_start(
    tasks: Sequence[Task],
    loss: Loss,
    group_penalty: float,
    limit: int | None,
    n_rounds: int,
    seed: int,
    pool: _core.Pool,
) -> Model:
    """Fit one model to the rows of all tasks.

    A feature costs what it costs a task alone, on average, as a share of the squared error of all tasks: it
    is bought once, and all tasks own it.
    """
    parts = [task.own_table() for task in tasks]
    table = vstack(parts, format="csc") if issparse(parts[0]) else np.concatenate(parts)
    weights = [task.targets.weights for task in tasks]
    equal = all(one.are_equal for one in weights)
    y = np.concatenate([task.targets.y for task in tasks])
    of_rows = (
        RowWeights.equal(y.shape[0])
        if equal
        else RowWeights.of(np.concatenate([one.as_floats() for one in weights]))
    )
    sizes = [task.targets.y.shape[0] for task in tasks]
    penalty = group_penalty + np.average([task.settings.penalty for task in tasks], weights=sizes)
    limits = [one for one in (limit, tasks[0].settings.n_features_to_select) if one is not None]
    settings = replace(
        tasks[0].settings,
        n_estimators=n_rounds,
        learning_rate=float(np.average([task.settings.learning_rate for task in tasks], weights=sizes)),
        penalty=float(penalty) / len(tasks),
        n_features_to_select=min(limits, default=None),
        early_stopping_rounds=None,
    )
    return train(table, Targets(y, of_rows), loss, settings, seed=seed, pool=pool).model


def copy_of(common: Model) -> Model:
    """Return a model to go on with that leaves the common one as it is."""
    return Model(
        common.start,
        list(common.trees),
        list(common.outputs),
        list(common.history),
        list(common.training_losses),
    )
