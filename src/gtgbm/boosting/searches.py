"""The searches that users can name, and how each is made for a fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gtgbm.boosting.problem import Problem
from gtgbm.boosting.row_sampler import RowSampler
from gtgbm.data import Columns, ParquetColumns
from gtgbm.exact import I64, U8, FitContext
from gtgbm.search import (
    SCREENING_CODES,
    TREND_LEVELS,
    ExhaustiveSearch,
    GroupSearch,
    GroupTests,
    Screening,
    Search,
    TrendTests,
    n_trend_rows,
)


@dataclass(frozen=True)
class SearchedTable:
    """What a search is made of.

    Attributes
    ----------
    problem : Problem
    columns : Columns
        All columns of the table, binned on demand.
    searched : ndarray of int64
        The numeric columns, ascending.
    directions : ndarray of uint8, shape (d,)
        RISING or FALLING where a column has a monotone constraint, else 0.
    context : FitContext
    sampler : RowSampler
        Draws rows, for searches that look at some rows only.
    """

    problem: Problem
    columns: Columns
    searched: I64
    directions: U8
    context: FitContext
    sampler: RowSampler


@dataclass(frozen=True)
class SearchKind:
    """A search that users can name.

    Attributes
    ----------
    make : callable
        Makes the search of a fit.
    threshold_rows : int
        Rows sampled to compute the thresholds of a column.
    bins_all : bool
        Whether it bins all columns in full, which takes a byte for each value.
    """

    make: Callable[[SearchedTable], Search]
    threshold_rows: int
    bins_all: bool


def n_test_rows(problem: Problem) -> int:
    """Return the number of rows that a group test uses."""
    n, test_rows = problem.data.shard.n_total, problem.settings.search.test_rows
    return n if test_rows is None else min(n, test_rows)


def _exhaustive(table: SearchedTable) -> ExhaustiveSearch:
    return ExhaustiveSearch(table.columns, table.searched, table.directions, table.context)


def _group_testing(table: SearchedTable) -> GroupSearch:
    columns, searched, context, sampler = table.columns, table.searched, table.context, table.sampler
    settings, n_test = table.problem.settings.search, n_test_rows(table.problem)
    test_rows = sampler.draw(n_test)
    is_paper = settings.test_rows is None
    trend_rows = None if is_paper else _trend_rows(columns, searched, n_test, sampler)
    with context.timings.stage("dealing"):
        if isinstance(columns, ParquetColumns) and not is_paper:
            wanted = [(test_rows, settings.group_tests.n_codes), (columns.sample, SCREENING_CODES)]
            if trend_rows is not None:
                wanted.append((trend_rows, TREND_LEVELS))
            columns.sample_all(searched, wanted)
        tests = GroupTests(columns, searched, test_rows, settings.group_tests, context.pool, sampler.rng)
        trends = None
        if trend_rows is not None:
            trends = TrendTests(columns, searched, trend_rows, table.directions, context.pool)
        if isinstance(columns, ParquetColumns):
            columns.keep_only(columns.sample)
    screening = Screening(
        by_tests=not is_paper,
        # In a small table every node is small, so do not require more than a quarter of the test rows.
        min_test_rows=1 if is_paper else min(settings.min_test_rows, max(1, n_test // 4)),
        chance_gain=settings.chance_gain,
    )
    return GroupSearch(columns, tests, trends, screening, table.directions, context)


def _trend_rows(columns: Columns, searched: I64, n_test: int, sampler: RowSampler) -> I64 | None:
    """Return the rows of trend tests; None: there are none."""
    n_tested = n_trend_rows(searched.shape[0], columns.shard.n_total, n_test)
    if n_tested == 0 or searched.shape[0] == 0:
        return None
    # Candidates are screened on the rows of `columns.sample`; tests on other rows are independent of that.
    return sampler.draw_others(n_tested, columns.sample)


SEARCHES: dict[str, SearchKind] = {
    # Group testing bins columns one by one, where sorting is a large part of the cost; 10,000 rows are 40
    # per bin.
    "group-testing": SearchKind(_group_testing, threshold_rows=10_000, bins_all=False),
    "exhaustive": SearchKind(_exhaustive, threshold_rows=200_000, bins_all=True),
}
"""By the name that users give as ``search``."""
