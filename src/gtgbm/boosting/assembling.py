"""Assembles the parts of a fit: columns, search, prices, grower, booster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from gtgbm.boosting.booster import Booster, BoosterState
from gtgbm.boosting.callbacks import AnyCallback
from gtgbm.boosting.checkpoint import NO_CHECKPOINT, Checkpoint
from gtgbm.boosting.model import Model
from gtgbm.boosting.problem import Problem
from gtgbm.boosting.row_sampler import RowSampler
from gtgbm.boosting.searches import SEARCHES, SearchedTable, n_test_rows
from gtgbm.data import (
    CategoryColumn,
    Columns,
    DenseColumns,
    ParquetColumns,
    ParquetNumbers,
    ShardedColumns,
    SparseColumns,
    columns_of_features,
    encode_categories,
)
from gtgbm.exact import F64, I64, FitContext, Timings
from gtgbm.growing import FeatureColumns, OtherTasksColumns, OwnedColumns, TreeGrower
from gtgbm.pricing import FeatureCosts
from gtgbm.search import ExhaustiveSearch, JointSearch, Search, SearchChoice, choose_search, density


@dataclass(frozen=True)
class TaskParts:
    """Parts of a fit that depend on other tasks.

    Attributes
    ----------
    costs : FeatureCosts
    categorical : sequence of CategoryColumn
        Categorical columns of the task's rows; a category is the same feature for all tasks.
    columns : callable or None
        ``columns(sample, threshold_rows)`` returns the task's columns of a table that tasks share; None: the
        task has its own table.
    """

    costs: FeatureCosts
    categorical: Sequence[CategoryColumn]
    columns: Callable[[I64, int], Columns] | None


@dataclass(frozen=True)
class Fitted:
    """Result of a fit."""

    model: Model
    search: SearchChoice
    timings: dict[str, float]


@dataclass(frozen=True)
class Fit:
    """An assembled fit, ready to run."""

    booster: Booster
    search: SearchChoice
    timings: Timings

    def finished(self, model: Model) -> Fitted:
        """Return the result of the fit."""
        return Fitted(model, self.search, self.timings.summary())


def train(
    problem: Problem,
    context: FitContext,
    callbacks: Sequence[AnyCallback] = (),
    continued: Model | None = None,
    checkpoint: Checkpoint = NO_CHECKPOINT,
) -> Fitted:
    """Fit a model, or finish the interrupted fit of a checkpoint; see `assemble`."""
    fit = assemble(problem, context, continued, saved=checkpoint.last_round(BoosterState))
    return fit.finished(fit.booster.run(callbacks, checkpoint))


def empty_model(problem: Problem, context: FitContext) -> Model:
    """Return a model without trees, which predicts the best constant of the loss."""
    return Model(_start(problem, context))


def assemble(
    problem: Problem,
    context: FitContext,
    continued: Model | None = None,
    among: TaskParts | None = None,
    saved: BoosterState | None = None,
) -> Fit:
    """Assemble the parts of a fit.

    Parameters
    ----------
    continued : Model or None
        A model to continue; its features are owned from the start.
    among : TaskParts or None
        The parts that a task shares with other tasks; None: a fit of a single task.
    saved : BoosterState or None
        State of an interrupted fit of the same problem, which is to go on.
    """
    table, settings, timings = problem.data.table, problem.settings, context.timings
    rng = np.random.default_rng(problem.seed)
    n, d = table.shape
    n_total = problem.data.shard.n_total
    directions = settings.columns.directions(d)
    searched = settings.searched(d)
    choice = chosen_search(problem, context)
    with timings.stage("binning"):
        categorical = _categorical(problem, context) if among is None else among.categorical
    threshold_rows = SEARCHES[str(choice)].threshold_rows
    sampler = RowSampler.of(table, n_total, rng)
    choice = sampler.described(choice)
    sample = sampler.draw(threshold_rows)
    if among is None or among.columns is None:
        columns = _columns(problem, sample, context)
    else:
        columns = among.columns(sample, threshold_rows)
    limit = settings.prices.limits.count
    search: Search
    if continued is not None and limit is not None and _n_units(problem, continued) >= limit:
        # No more features can be bought, so the search only provides the columns of owned features.
        search = ExhaustiveSearch(columns, searched[:0], directions, context)
    else:
        made_of = SearchedTable(problem, columns, searched, directions, context, sampler)
        search = SEARCHES[str(choice)].make(made_of)
    owned = OwnedColumns(n, d, categorical, directions)
    costs = _costs(problem, categorical) if among is None else among.costs
    feature_columns = FeatureColumns(owned, OtherTasksColumns(n, directions), search)
    joint = None
    if costs.units.group is not None:
        joint = JointSearch(columns, costs.units, searched, directions)
    grower = TreeGrower(context, feature_columns, costs, settings.tree.limits, joint)
    grower.own_given(settings.columns.given)
    grower.own_fixed(settings.prices.units.fixed)
    model = empty_model(problem, context) if continued is None else continued
    return Fit(Booster(problem, context, grower, model, saved), choice, timings)


def chosen_search(problem: Problem, context: FitContext) -> SearchChoice:
    """Return the search of a fit, which the settings name or leave to choose by the table."""
    settings, data = problem.settings, problem.data
    with context.timings.stage("choice of search"):
        if settings.search.name != "auto":
            return SearchChoice(settings.search.name, "asked for")
        n_test, tests = n_test_rows(problem), settings.search.group_tests
        searched = settings.searched(data.table.shape[1])
        share = density(data.shard.n_total, searched, partial(data.values, context=context))
        return choose_search(data.shard.n_total, searched, share, settings.rounds.n_rounds, n_test, tests)


def _categorical(problem: Problem, context: FitContext) -> list[CategoryColumn]:
    settings, table = problem.settings, problem.data.table
    weights, columns = problem.data.targets.weights, settings.columns
    min_leaf = settings.tree.limits(weights).min_leaf
    return encode_categories(
        table,
        settings.categorical,
        weights.cells,
        min_leaf,
        table.shape[1],
        columns.whole_categories,
        context.communicator,
    )


def _columns(problem: Problem, sample: I64, context: FitContext) -> Columns:
    table, max_bins, kept = problem.data.table, problem.settings.columns.max_bins, problem.data.kept

    def made() -> Columns:
        if not context.is_alone:
            return ShardedColumns(np.asarray(table), problem.data.shard, context, max_bins, sample)
        if isinstance(table, np.ndarray):
            return DenseColumns(table, context.pool, max_bins, sample, keeps_codes=kept is not None)
        if isinstance(table, ParquetNumbers):
            return ParquetColumns(table, context.pool, max_bins, sample)
        return SparseColumns(table, context.pool, max_bins, sample)

    return made() if kept is None else kept.get(context.pool, sample, made)


def _n_units(problem: Problem, model: Model) -> int:
    """Return how many units of purchase the features of a model are."""
    units = problem.settings.prices.units
    alone = [entry for entry in model.history if units.group_of(entry.feature) is None]
    return len(alone) + len({units.group_of(entry.feature) for entry in model.history} - {None})


def _costs(problem: Problem, categorical: Sequence[CategoryColumn]) -> FeatureCosts:
    prices, n_columns = problem.settings.prices, problem.data.table.shape[1]
    units = prices.units.of_features(*columns_of_features(n_columns, categorical))
    return FeatureCosts(units, prices.penalty, prices.scale, prices.limits, prices.above_chance)


def _start(problem: Problem, context: FitContext) -> F64:
    if problem.settings.zero_start:
        return np.zeros(problem.loss.n_scores)
    return problem.loss.start(problem.data.targets, context)
