"""Sparse tables give the same models as the dense ones they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from gtgbm import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
)
from gtgbm.data.columns import Thresholds
from gtgbm.exact.arrays import F64, I64
from tests.estimators.test_determinism import assert_same_model
from tests.strategies import seeds, selects_few

FORMATS = [sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array]


def counts(seed: int = 0, n_rows: int = 400, n_columns: int = 60, density: float = 0.06) -> tuple[F64, F64]:
    """Make counts, mostly zero, with a dense column, a column of ones and negatives, and an empty one."""
    rng = np.random.default_rng(seed)
    filled = rng.random((n_rows, n_columns)) < density
    X = np.where(filled, rng.poisson(1.5, (n_rows, n_columns)), 0).astype(np.float64)
    X[:, 1] = rng.normal(size=n_rows)
    X[:, 2] = np.where(rng.random(n_rows) < 0.1, rng.choice([-1.0, 1.0], n_rows), 0.0)
    X[:, 3] = 0.0
    y: F64 = X[:, 5] + X[:, 6] - X[:, 7] + 0.5 * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n_rows)
    return X, y


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("search", ["auto", "exhaustive", "group-testing"])
def test_sparse_is_dense(search: str, form: Any) -> None:
    X, y = counts()
    model = GTGBMRegressor(n_estimators=8, penalty=0.002, search=search, random_state=0)
    dense = model.fit(X, y)
    expected = dense.predict(X)
    trees, history = dense.trees_, dense.selection_history_
    model.fit(form(X), y)
    assert model.n_selected_features_ >= 3
    assert model.predict(form(X)).tobytes() == expected.tobytes()
    assert history == model.selection_history_
    for one, other in zip(trees, model.trees_, strict=True):
        assert one.threshold.tobytes() == other.threshold.tobytes()


@pytest.mark.parametrize("method", [AGBMRegressor, GBFSRegressor])
def test_other_methods(method: Any) -> None:
    X, y = counts(1)
    one, other = (method(n_estimators=5, penalty=0.001).fit(table, y) for table in (X, sparse.csr_matrix(X)))
    assert_same_model(one, other)


@settings(max_examples=25)
@given(seeds, st.floats(0.0, 0.5), st.sampled_from([np.float64, np.float32, np.int64, np.int8]))
def test_any_density_and_dtype(seed: int, density: float, dtype: Any) -> None:
    X, y = counts(seed, 120, 12, density)
    table = X.astype(dtype)
    one, other = (
        AGBMRegressor(n_estimators=3, penalty=0.0, max_bins=7).fit(given_table, y)
        for given_table in (table, sparse.csr_matrix(table))
    )
    assert_same_model(one, other)


def test_missing_values_and_explicit_zeros() -> None:
    X, y = counts(2)
    rng = np.random.default_rng(0)
    X[rng.random(X.shape) < 0.02] = np.nan
    table = sparse.csr_matrix(X)
    rows = rng.integers(0, X.shape[0], 200)
    columns = rng.integers(0, X.shape[1], 200)
    zeros = X[rows, columns] == 0.0
    table = table + sparse.csr_matrix((np.zeros(zeros.sum()), (rows[zeros], columns[zeros])), X.shape)
    with_zeros = sparse.csr_matrix(
        (
            np.append(table.data, 0.0),
            np.append(table.indices, 3),
            np.append(table.indptr[:-1], table.nnz + 1),
        ),
        X.shape,
    )
    assert with_zeros.nnz == table.nnz + 1
    one, other = (AGBMRegressor(n_estimators=5, penalty=0.0).fit(t, y) for t in (X, with_zeros))
    assert_same_model(one, other)


def test_duplicates_are_added_and_the_table_left_alone() -> None:
    X, y = counts(3)
    table = sparse.csc_matrix(X)
    halves = sparse.csc_matrix(
        (np.repeat(table.data / 2, 2), np.repeat(table.indices, 2), table.indptr * 2), X.shape
    )
    before = halves.data.copy(), halves.indices.copy()
    assert not halves.has_canonical_format
    model = AGBMRegressor(n_estimators=3, penalty=0.0).fit(halves, y)
    assert_same_model(AGBMRegressor(n_estimators=3, penalty=0.0).fit(X, y), model)
    assert halves.data.tobytes() == before[0].tobytes()
    assert halves.indices.tobytes() == before[1].tobytes()


def test_entries_outside_the_table_are_refused() -> None:
    X, y = counts(4)
    broken = sparse.csc_matrix(X)
    broken.indices = broken.indices.copy()
    broken.indices[0] = X.shape[0] + 5
    with pytest.raises(ValueError, match=r"outside its shape|indices"):
        AGBMRegressor().fit(broken, y)


@selects_few
def test_word_counts_are_searched_exhaustively() -> None:
    X, y = counts(5, density=0.02, n_columns=200)
    model = GTGBMClassifier(n_estimators=3).fit(sparse.csr_matrix(X), y > 0)
    assert model.search_ == "exhaustive"
    assert "drown" in model.search_.reason


def test_early_stopping_and_eval_set() -> None:
    X, y = counts(6)
    table = sparse.csr_matrix(X)
    stopped = GTGBMClassifier(n_estimators=50, early_stopping_rounds=2, random_state=0)
    dense = GTGBMClassifier(n_estimators=50, early_stopping_rounds=2, random_state=0)
    assert_same_model(stopped.fit(table, y > 0), dense.fit(X, y > 0))
    one = AGBMClassifier(n_estimators=5).fit(table, y > 0, eval_set=(table, y > 0))
    other = AGBMClassifier(n_estimators=5).fit(X, y > 0, eval_set=(X, y > 0))
    assert_same_model(one, other)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_any_number_of_threads(n_jobs: int) -> None:
    X, y = counts(7, n_rows=4000, n_columns=300)
    models = [
        GTGBMRegressor(n_estimators=4, penalty=0.0005, n_jobs=k, search="exhaustive").fit(
            sparse.csr_matrix(X), y
        )
        for k in (1, n_jobs)
    ]
    assert_same_model(*models)


# Once: every empty column was given thresholds of its own, at 10 s for a million of them.
@pytest.mark.parametrize("kind", [GTGBMClassifier, MultitaskGTGBMClassifier])
def test_empty_columns_cost_nothing(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    d, filled = 1 << 20, np.sort(rng.choice(1 << 20, 200, replace=False))
    few = sparse.random(300, 200, 0.02, format="lil", random_state=1)
    few[:, 17] = (rng.random((300, 1)) < 0.5) * 1.0  # one with so many entries that it is searched as dense
    few = few.tocoo()
    many = sparse.csr_matrix((few.data, (few.row, filled[few.col])), shape=(300, d))
    dense = few.toarray()
    y = dense[:, 3] + dense[:, 17] + 0.1 * rng.normal(size=300) > 0.3
    placed, keep = list[int](), Thresholds.keep

    def kept(self: Thresholds, columns: I64, *found: Any) -> None:
        placed.extend(columns.tolist())
        keep(self, columns, *found)

    monkeypatch.setattr(Thresholds, "keep", kept)
    chosen: dict[str, Any] = {"n_estimators": 5, "search": "exhaustive", "min_samples_leaf": 2}
    task: Any = {"task": np.arange(300) % 2} if kind is MultitaskGTGBMClassifier else {}
    wide = kind(**chosen).fit(many, y, **task)
    assert set(placed) <= set(filled.tolist())
    narrow = kind(**chosen).fit(few.tocsr(), y, **task)
    assert wide.selected_features_.tolist() == filled[narrow.selected_features_].tolist()
    assert len(wide.selected_features_) > 1
    np.testing.assert_array_equal(wide.predict_proba(many, **task), narrow.predict_proba(few.tocsr(), **task))


def test_a_table_of_too_many_columns_is_refused() -> None:
    rows, columns, values = np.arange(50) % 10, np.append(np.arange(49) % 7, 2_000_000_000), np.ones(50)
    X = sparse.csr_matrix((values, (rows, columns)), shape=(10, 2_000_000_001))
    with pytest.raises(ValueError, match=r"X has 2000000001 columns; at most 134217728 fit: leave out empty"):
        GTGBMRegressor().fit(X, np.arange(10.0))
