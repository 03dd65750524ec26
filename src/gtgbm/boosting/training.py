"""Puts the parts of a fit together: table, costs, search, grower, booster."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gtgbm import _core
from gtgbm.boosting.callbacks import AnyCallback
from gtgbm.boosting.evaluation import Evaluations, Validation
from gtgbm.boosting.rounds import Booster, Criterion, Model, Schedule
from gtgbm.boosting.sampling import Sampling
from gtgbm.data import (
    AnyTable,
    CategoryColumn,
    Columns,
    DenseColumns,
    SparseColumns,
    encode_categories,
    sample_rows,
)
from gtgbm.exact import FALLING, I64, RISING, U8, LocalReducer, Reducer, RowWeights, Timings
from gtgbm.growing import OfferedColumns, ResidentColumns, TreeGrower
from gtgbm.losses import Loss, Targets
from gtgbm.metrics import Metric
from gtgbm.pricing import FeatureCosts, PenaltyScale
from gtgbm.search import (
    ExhaustiveSearch,
    GroupSearch,
    GroupTests,
    GroupTestSettings,
    Screening,
    Search,
    SearchChoice,
    TrendTests,
    choose_search,
    n_trend_rows,
)
from gtgbm.tree import TreeLimits

_THRESHOLD_ROWS = {"exhaustive": 200_000, "group-testing": 10_000}
"""Rows sampled to place a column's thresholds. Group testing bins columns one by one as they turn up, where
sorting is a good part of the cost; 10,000 rows are 40 a bin."""

SearchName = Literal["auto", "group-testing", "exhaustive"]


@dataclass(frozen=True)
class Settings:
    """Everything a fit depends on besides its data; validated by the estimators."""

    n_estimators: int
    learning_rate: float
    penalty: float
    penalty_scale: PenaltyScale
    n_features_to_select: int | None
    min_node_fraction: float
    min_samples_leaf: int | None
    max_depth: int | None
    revisit_share: float
    longest_rest: int
    search: SearchName
    group_tests: GroupTestSettings
    test_rows: int | None
    min_test_rows: int
    chance_gain: float
    zero_start: bool
    max_bins: int
    categorical: Sequence[int]
    whole_categories: bool
    """Whether a categorical column is one feature, instead of one for each category."""
    early_stopping_rounds: int | None
    criterion: Criterion
    subsample: float
    colsample: float
    monotone: Sequence[int]
    """1, -1 or 0 for each column; empty: all 0."""
    shortlist: float
    """Features bought before the best `n_features_to_select` are kept, as a multiple of that number."""

    def costs(self, n_features: int) -> FeatureCosts:
        """Return the costs of so many features."""
        return FeatureCosts(n_features, self.penalty, self.penalty_scale, self.n_features_to_select)

    def schedule(self, seed: int, directions: U8) -> Schedule:
        """Return how long to train, and on what."""
        sampling = Sampling(self.subsample, self.colsample, seed)
        patience = self.early_stopping_rounds
        return Schedule(self.n_estimators, self.learning_rate, patience, self.criterion, sampling, directions)

    def limits(self, weights: RowWeights) -> TreeLimits:
        """Limits of a tree over rows of some weights."""
        # 0.28 * 100 is a little more than 28 in floats, and should not be.
        min_node_rows = self.min_node_fraction * weights.total_cells - 1e-9
        if self.min_samples_leaf is None:
            min_leaf = max(1, math.ceil(min_node_rows / 4))
        else:
            min_leaf = max(1, math.ceil(self.min_samples_leaf * weights.cell_unit))
        return TreeLimits(min_node_rows, min_leaf, self.max_depth, self.revisit_share, self.longest_rest)


@dataclass(frozen=True)
class Evaluated:
    """What is followed while training: the loss, by this name, and metrics, on these rows."""

    loss_name: str
    metrics: Sequence[Metric]
    validations: Sequence[Validation]


_NOTHING = Evaluated("loss", (), ())


@dataclass(frozen=True)
class TaskParts:
    """Parts of a fit that depend on other tasks.

    Attributes
    ----------
    costs : FeatureCosts
    categorical : sequence of CategoryColumn
        Categorical columns of the task's rows; categories are the same features for all tasks.
    columns : callable or None
        ``columns(sample, threshold_rows)`` returns the task's columns where several tasks share a table;
        None: the table is the task's own.
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
    """A fit that is ready to begin."""

    booster: Booster
    search: SearchChoice
    timings: Timings


def train(
    table: AnyTable,
    targets: Targets,
    loss: Loss,
    settings: Settings,
    *,
    seed: int,
    pool: _core.Pool,
    evaluated: Evaluated = _NOTHING,
    callbacks: Sequence[AnyCallback] = (),
    continued: Model | None = None,
    timings: Timings | None = None,
) -> Fitted:
    """Fit a model to a table; see `prepare`."""
    fit = prepare(table, targets, loss, settings, seed, pool, evaluated, continued, timings=timings)
    return Fitted(fit.booster.run(callbacks), fit.search, fit.timings.summary())


def prepare(
    table: AnyTable,
    targets: Targets,
    loss: Loss,
    settings: Settings,
    seed: int,
    pool: _core.Pool,
    evaluated: Evaluated = _NOTHING,
    continued: Model | None = None,
    among: TaskParts | None = None,
    timings: Timings | None = None,
) -> Fit:
    """Put the parts of a fit together.

    Parameters
    ----------
    table : ndarray or scipy.sparse.csc_matrix, shape (n, d)
    continued : Model or None
        A model to go on with: its features are owned from the start.
    among : TaskParts or None
        What a task among several takes from outside; None: a fit for itself.
    timings : Timings or None
        Goes on with those of an earlier fit.
    """
    timings, reducer = timings or Timings(), LocalReducer()
    rng = np.random.default_rng(seed)
    n, d = table.shape
    weights, directions = targets.weights, _directions(settings.monotone, d)
    searched = np.setdiff1d(np.arange(d), settings.categorical)
    n_test = n if settings.test_rows is None else min(n, settings.test_rows)
    with timings.stage("choice of search"):
        choice = (
            choose_search(table, searched, settings.n_estimators, n_test, settings.group_tests)
            if settings.search == "auto"
            else SearchChoice(settings.search, "asked for")
        )
    with timings.stage("binning"):
        if among is None:
            min_leaf = settings.limits(weights).min_leaf
            categorical = encode_categories(
                table, settings.categorical, weights.cells, min_leaf, d, settings.whole_categories
            )
        else:
            categorical = list(among.categorical)
    threshold_rows = _THRESHOLD_ROWS[str(choice)]
    sample = sample_rows(n, threshold_rows, rng)
    if among is None or among.columns is None:
        columns = _columns(table, pool, settings.max_bins, sample)
    else:
        columns = among.columns(sample, threshold_rows)
    limit = settings.n_features_to_select
    search: Search
    if continued is not None and limit is not None and len(continued.history) >= limit:
        # Nothing more can be bought: columns are only asked for by name.
        search = ExhaustiveSearch(columns, searched[:0], reducer, timings, directions)
    elif choice == "exhaustive":
        search = ExhaustiveSearch(columns, searched, reducer, timings, directions)
    else:
        search = _group_search(columns, searched, n_test, settings, pool, reducer, timings, rng, directions)
    residents = ResidentColumns(n, d, categorical, reducer, directions)
    costs = settings.costs(residents.n_features) if among is None else among.costs
    offers = OfferedColumns(n, reducer, directions)
    grower = TreeGrower(n, residents, offers, search, costs, settings.limits, pool, reducer, timings)
    if continued is None:
        start = np.zeros(loss.n_scores) if settings.zero_start else loss.start(targets, pool, reducer)
        continued = Model(start)
    schedule = settings.schedule(seed, directions)
    evaluations = Evaluations(loss, evaluated.loss_name, evaluated.metrics, evaluated.validations)
    booster = Booster(grower, loss, pool, reducer, timings, continued, table, targets, schedule, evaluations)
    return Fit(booster, choice, timings)


def _columns(table: AnyTable, pool: _core.Pool, max_bins: int, sample: I64) -> Columns:
    if isinstance(table, np.ndarray):
        return DenseColumns(table, pool, max_bins, sample)
    return SparseColumns(table, pool, max_bins, sample)


def _group_search(
    columns: Columns,
    searched: I64,
    n_test: int,
    settings: Settings,
    pool: _core.Pool,
    reducer: Reducer,
    timings: Timings,
    rng: np.random.Generator,
    directions: U8,
) -> GroupSearch:
    test_rows = sample_rows(columns.n_rows, n_test, rng)
    faithful = settings.test_rows is None
    with timings.stage("dealing"):
        tests = GroupTests(columns, searched, test_rows, settings.group_tests, pool, rng)
        trends = None if faithful else _trend_tests(columns, searched, n_test, directions, pool, rng)
    screening = Screening(
        by_tests=not faithful,
        # In small tables every node is small; a quarter of the rows is then all one can ask for.
        min_test_rows=1 if faithful else min(settings.min_test_rows, max(1, n_test // 4)),
        chance_gain=settings.chance_gain,
    )
    return GroupSearch(columns, tests, test_rows, trends, screening, reducer, timings, directions)


def _trend_tests(
    columns: Columns,
    searched: I64,
    n_test: int,
    directions: U8,
    pool: _core.Pool,
    rng: np.random.Generator,
) -> TrendTests | None:
    n_tested = n_trend_rows(searched.shape[0], columns.n_rows, n_test)
    if n_tested == 0 or searched.shape[0] == 0:
        return None
    # Candidates are screened on the rows that place thresholds: others give two opinions instead of one.
    is_other = np.ones(columns.n_rows, dtype=np.bool_)
    is_other[columns.sample] = False
    others = np.flatnonzero(is_other)
    rows = others if others.shape[0] >= n_tested else np.arange(columns.n_rows)
    drawn = rows[sample_rows(rows.shape[0], n_tested, rng)]
    return TrendTests(columns, searched, drawn, directions, pool)


def _directions(monotone: Sequence[int], n_columns: int) -> U8:
    directions = np.zeros(n_columns, dtype=np.uint8)
    if len(monotone):
        directions[np.array(monotone) > 0] = RISING
        directions[np.array(monotone) < 0] = FALLING
    return directions
