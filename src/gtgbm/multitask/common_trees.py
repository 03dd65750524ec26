"""Trees that tasks have in common: grown from the rows of all of them, before each goes on by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import vstack

from gtgbm import _core
from gtgbm.boosting import Dataset, Model, Problem, train
from gtgbm.data import issparse
from gtgbm.exact import FitContext, RowWeights
from gtgbm.losses import Targets
from gtgbm.multitask.task import Task, TaskSharing


def common_trees(tasks: Sequence[Task], sharing: TaskSharing, pool: _core.Pool) -> Model:
    """Fit one model to the rows of all tasks.

    A feature costs what it costs a task alone, on average, as a share of the squared error of all tasks: it
    is bought once, and all tasks own it.
    """
    sizes = [task.n_rows for task in tasks]
    first = tasks[0].problem
    prices = [task.problem.settings.prices for task in tasks]
    penalty = sharing.group_penalty + np.average([one.penalty for one in prices], weights=sizes)
    limits = [limit for limit in (sharing.limit, prices[0].limit) if limit is not None]
    rates = [task.problem.settings.rounds.learning_rate for task in tasks]
    settings = replace(
        first.settings,
        rounds=replace(
            first.settings.rounds,
            n_rounds=sharing.n_common_rounds,
            learning_rate=float(np.average(rates, weights=sizes)),
            patience=None,
        ),
        prices=replace(prices[0], penalty=float(penalty) / len(tasks), limit=min(limits, default=None)),
    )
    together = Problem(_all_rows(tasks), first.loss, settings, first.seed)
    return train(together, FitContext(pool)).model


def _all_rows(tasks: Sequence[Task]) -> Dataset:
    """Put the rows of all tasks into one table, task after task."""
    parts = [task.own_problem().data for task in tasks]
    tables = [part.table for part in parts]
    table = vstack(tables, format="csc") if issparse(tables[0]) else np.concatenate(tables)
    y = np.concatenate([part.targets.y for part in parts])
    weights = [part.targets.weights for part in parts]
    if all(one.are_equal for one in weights):
        return Dataset(table, Targets(y, RowWeights.equal(y.shape[0])))
    return Dataset(table, Targets(y, RowWeights.of(np.concatenate([one.as_floats() for one in weights]))))
