"""Trains several tasks in turns, under one penalty on the features they own together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from gtgbm import _core
from gtgbm.arrays import F64
from gtgbm.callbacks import AnyCallback, Callbacks, Progress
from gtgbm.data.input import AnyTable
from gtgbm.feature_costs import FeatureCosts, SharedFeatures, TaskCosts
from gtgbm.losses.base import Loss, Targets
from gtgbm.training import Evaluated, Fit, Fitted, Settings, prepare


@dataclass(frozen=True)
class Task:
    """One task's rows, and how it is trained.

    Attributes
    ----------
    settings : Settings
        Its `penalty` is that of the task alone, its `n_features_to_select` the most it may own by itself.
    """

    table: AnyTable
    targets: Targets
    settings: Settings
    evaluated: Evaluated


@dataclass(frozen=True)
class FittedTasks:
    """Result of a fit: one model per task, and the features of all in the order they were bought."""

    tasks: list[Fitted]
    owned: list[int]


def train_tasks(
    tasks: Sequence[Task],
    loss: Loss,
    group_penalty: float,
    limit: int | None,
    *,
    seed: int,
    pool: _core.Pool,
    callbacks: Sequence[AnyCallback] = (),
) -> FittedTasks:
    """Fit models to tasks, one tree each in turns: what one buys is cheaper for those after it.

    Parameters
    ----------
    group_penalty : float
        μ_G: what a feature costs on top that no task owns yet.
    limit : int or None
        Most features of all tasks together.
    """
    shared = SharedFeatures(tasks[0].table.shape[1], limit)

    def costs_of(n_features: int, settings: Settings) -> FeatureCosts:
        assert n_features == shared.is_owned.shape[0]
        return TaskCosts(shared, settings.penalty, group_penalty, settings.n_features_to_select)

    fits = [
        prepare(
            task.table,
            task.targets,
            loss,
            task.settings,
            seed,
            pool,
            task.evaluated,
            costs_of=partial(costs_of, settings=task.settings),
        )
        for task in tasks
    ]
    sizes = np.array([task.targets.y.shape[0] for task in tasks], dtype=np.float64)
    told = Callbacks(list(callbacks))
    told.start(_progress(fits, sizes, shared))
    stop = False
    while not stop and not all(fit.booster.is_done for fit in fits):
        for fit in fits:
            if not fit.booster.is_done:
                fit.booster.add_round()
        stop = told.after_round(_progress(fits, sizes, shared))
    found = [Fitted(fit.booster.finish(), fit.search, fit.timings.summary()) for fit in fits]
    told.end(_progress(fits, sizes, shared))
    return FittedTasks(found, list(shared.owned))


def _progress(fits: Sequence[Fit], sizes: F64, shared: SharedFeatures) -> Progress:
    """Tell the rounds of the task that is furthest, and the mean of the losses, by rows."""
    each = [fit.booster.progress() for fit in fits]
    loss = float(np.average([one.training_loss for one in each], weights=sizes))
    return Progress(max(one.round for one in each), each[0].n_rounds, loss, len(shared.owned), None, {})
