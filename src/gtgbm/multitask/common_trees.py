"""Common trees: grown on the rows of all tasks, before each task continues with its own trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.sparse import vstack

from gtgbm import _core
from gtgbm.boosting import (
    NO_CHECKPOINT,
    Checkpoint,
    Dataset,
    HistoryEntry,
    Model,
    Problem,
    empty_model,
    train,
)
from gtgbm.data import issparse
from gtgbm.exact import FitContext, RowWeights
from gtgbm.losses import Queries, Targets
from gtgbm.multitask.task import Task, TaskSharing
from gtgbm.pricing import SpendingLimits


def common_trees(
    tasks: Sequence[Task],
    sharing: TaskSharing,
    pool: _core.Pool,
    owned: Sequence[Sequence[HistoryEntry]] | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Model:
    """Fit one model to the rows of all tasks.

    A feature is bought once for all tasks. Its price, as a share of the squared error of all tasks, is the
    mean price for a single task divided by the number of tasks.

    Parameters
    ----------
    owned : sequence of sequence of HistoryEntry, or None
        Features that each task owns, the same for all tasks; None: features are bought.
    """
    sizes = [task.n_rows for task in tasks]
    first = tasks[0].problem
    prices = [task.problem.settings.prices for task in tasks]
    penalty = sharing.group_penalty + np.average([price.penalty for price in prices], weights=sizes)
    counts = [limits.count for limits in (sharing.limits, prices[0].limits) if limits.count is not None]
    limits = SpendingLimits(min(counts, default=None), sharing.limits.cost)
    rates = [task.problem.settings.rounds.learning_rate for task in tasks]
    settings = replace(
        first.settings,
        rounds=replace(
            first.settings.rounds,
            n_rounds=sharing.n_common_rounds,
            learning_rate=float(np.average(rates, weights=sizes)),
            patience=None,
        ),
        prices=replace(prices[0], penalty=float(penalty) / len(tasks), limits=limits),
    )
    joint = Problem(_all_rows(tasks), first.loss, settings, first.seed)
    context, model = FitContext(pool), None
    if owned is not None:
        joint = joint.with_settings(settings.buying_nothing())
        model = empty_model(joint, context)
        model.history = list(owned[0])
    return train(joint, context, (), model, checkpoint).model


def _all_rows(tasks: Sequence[Task]) -> Dataset:
    """Concatenate the rows of all tasks into one dataset."""
    parts = [task.own_problem().data for task in tasks]
    tables = [part.table for part in parts]
    table = vstack(tables, format="csc") if issparse(tables[0]) else np.concatenate(tables)
    y = np.concatenate([part.targets.y for part in parts])
    parts_of_weights = [part.targets.weights for part in parts]
    weights = RowWeights.equal(y.shape[0])
    if not all(part.are_equal for part in parts_of_weights):
        weights = RowWeights.of(np.concatenate([part.as_floats() for part in parts_of_weights]))
    queries = [part.targets.queries for part in parts if part.targets.queries is not None]
    offsets = [part.targets.offset for part in parts if part.targets.offset is not None]
    targets = Targets(
        y,
        weights,
        Queries.joined(queries) if queries else None,
        np.concatenate(offsets, axis=1) if offsets else None,
    )
    return Dataset(table, targets)
