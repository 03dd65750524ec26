"""Folds: every row is held out once, classes are spread evenly, queries stay together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gtgbm.boosting import Dataset
from gtgbm.exact import RowWeights
from gtgbm.losses import Queries, Targets
from gtgbm.selection.folds import N_FOLDS, Folds, drawn_rows
from tests.strategies import seeds


def dataset(y: object, weights: RowWeights | None = None, queries: Queries | None = None) -> Dataset:
    """Make a table whose only column is the number of the row."""
    targets = np.asarray(y, dtype=np.float64)
    n = targets.shape[0]
    table = np.arange(float(n))[:, None]
    return Dataset(table, Targets(targets, weights or RowWeights.equal(n), queries))


def rows_of(part: Dataset) -> list[int]:
    return [int(row) for row in np.asarray(part.table)[:, 0]]


@given(seed=seeds, n_rows=st.integers(12, 200), n_classes=st.integers(1, 4), again=st.booleans())
def test_each_row_is_held_out_once_and_classes_are_spread_evenly(
    seed: int, n_rows: int, n_classes: int, again: bool
) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    folds = Folds.of([dataset(y)])
    assert folds is not None
    folds = folds.dealt_again(seed) if again else folds
    held_out = [rows_of(folds.held_out(fold, 0)) for fold in range(N_FOLDS)]
    assert sorted(row for rows in held_out for row in rows) == list(range(n_rows))
    for fold, rows in enumerate(held_out):
        assert rows == sorted(rows)
        assert sorted(rows + rows_of(folds.training(fold)[0])) == list(range(n_rows))
        np.testing.assert_array_equal(folds.held_out(fold, 0).targets.y, y[rows])
    for k in range(n_classes):
        counts = [int((y[rows] == k).sum()) for rows in held_out]
        # A class may begin and end within a block of neighbours.
        assert max(counts) - min(counts) <= 2
    assert max(map(len, held_out)) - min(map(len, held_out)) <= 1


@given(seed=seeds, n_queries=st.integers(12, 40))
def test_queries_stay_together(seed: int, n_queries: int) -> None:
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.concatenate([np.arange(n_queries), rng.integers(0, n_queries, 100)]))
    folds = Folds.of([dataset(rng.integers(0, 3, qid.shape[0]), queries=Queries.of(qid))])
    assert folds is not None
    (number,) = folds.number
    assert all(len(set(number[qid == query])) == 1 for query in range(n_queries))
    for fold in range(N_FOLDS):
        part = folds.held_out(fold, 0)
        assert part.targets.queries is not None
        for q in range(len(part.targets.queries)):
            at = part.targets.queries.rows[part.targets.queries.begin[q] : part.targets.queries.begin[q + 1]]
            assert len({int(qid[row]) for row in np.asarray(part.table)[at, 0].astype(int)}) == 1


def test_no_folds_of_too_few_units() -> None:
    assert Folds.of([dataset(np.arange(11))]) is None
    assert Folds.of([dataset(np.arange(12))]) is not None
    assert Folds.of([dataset(np.arange(12)), dataset(np.arange(11))]) is None
    queries = Queries.of(np.repeat(np.arange(11), 20))
    assert Folds.of([dataset(np.zeros(220), queries=queries)]) is None


@pytest.mark.parametrize("is_sparse", [False, True])
def test_of_many_rows_some_are_drawn(is_sparse: bool) -> None:
    rng = np.random.default_rng(0)
    weight = rng.random(1000) + 0.1
    data = dataset(np.arange(1000.0), RowWeights.of(weight))
    table = sparse.csc_matrix(data.table + 1.0) if is_sparse else data.table + 1.0
    folds = Folds.of([Dataset(table, data.targets)], most_rows=90)
    assert folds is not None
    (task,), (number,) = folds.tasks, folds.number
    assert task.n_rows == number.shape[0] == 90
    drawn = task.targets.y.astype(int)
    np.testing.assert_allclose(task.targets.weights.as_floats(), weight[drawn], rtol=1e-6)
    found = task.table.toarray() if is_sparse else task.table
    np.testing.assert_array_equal(np.asarray(found)[:, 0], drawn + 1.0)
    assert np.bincount(number).tolist() == [30, 30, 30]
    for fold in range(N_FOLDS):
        # Neighbours in the order of the target are in different folds.
        assert abs(drawn[number == fold].mean() - drawn.mean()) < 50


@given(seed=seeds, n_queries=st.integers(1, 60), most_rows=st.integers(1, 300))
def test_rows_are_drawn_with_their_whole_query(seed: int, n_queries: int, most_rows: int) -> None:
    rng = np.random.default_rng(seed)
    qid = rng.integers(0, n_queries, 300)
    targets = dataset(np.zeros(300), queries=Queries.of(qid)).targets
    drawn = drawn_rows(targets, most_rows, rng)
    is_drawn = np.isin(np.arange(300), drawn)
    assert not set(qid[is_drawn]) & set(qid[~is_drawn])
    assert len(set(qid[is_drawn])) <= 12 or drawn.shape[0] <= most_rows
    assert drawn.tolist() == sorted(drawn)


def test_joined_queries_have_rows_of_one_table_each() -> None:
    first, second = Queries.of(np.array([7, 5, 7])), Queries.of(np.array([5, 5, 9, 5]))
    joined = Queries.joined([first, second])
    parts = [joined.rows[a:b].tolist() for a, b in zip(joined.begin[:-1], joined.begin[1:], strict=True)]
    assert parts == [[1], [0, 2], [3, 4, 6], [5]]
