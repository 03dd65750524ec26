"""Prediction by fitted models: sparse and dense tables, categories, infinities, threads, copies."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gtgbm import AGBMClassifier, AGBMRegressor, GTGBMClassifier, _core
from gtgbm.exact.arrays import F64, I64
from gtgbm.tree.forest import Forest
from gtgbm.tree.tree import Tree

FORMATS = ["csr_matrix", "csc_matrix", "csr_array", "csc_array", "coo_matrix", "lil_array"]


def counts(n_rows: int = 600, n_columns: int = 30) -> tuple[F64, I64]:
    """Mostly zeros, with a few missing values, and a target of four of the columns."""
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(n_rows, n_columns)).astype(np.float64)
    y = X[:, 3] + X[:, 17] - X[:, 29] + 0.2 * rng.normal(size=n_rows) > 0.3
    X[rng.random(X.shape) < 0.02] = np.nan
    return X, y.astype(np.int64)


def fitted(n_classes: int = 2) -> tuple[Any, F64]:
    X, y = counts()
    if n_classes == 3:
        y = y + (np.nan_to_num(X[:, 5]) > 0)
    return AGBMClassifier(n_estimators=12, penalty=0.003).fit(X, y), X


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", FORMATS)
def test_sparse_tables_predict_as_dense_ones(kind: str, n_classes: int) -> None:
    model, X = fitted(n_classes)
    assert 0 < model.n_selected_features_ < X.shape[1]
    S = getattr(sparse, kind)(X)
    assert model.predict_proba(S).tobytes() == model.predict_proba(X).tobytes()
    assert model.predict(S).tobytes() == model.predict(X).tobytes()
    assert model.decision_function(S.tocsr()[:1]).tobytes() == model.decision_function(X[:1]).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.uint16, np.bool_])
def test_sparse_tables_of_any_dtype(dtype: Any) -> None:
    X, y = counts()
    X = np.minimum(np.nan_to_num(X), 1.0).astype(dtype)
    model = AGBMClassifier(n_estimators=5, penalty=0.0).fit(X, y)
    for S in (sparse.csr_matrix(X), sparse.csc_matrix(X)):
        assert model.predict_proba(S).tobytes() == model.predict_proba(X).tobytes()


def test_sparse_tables_with_explicit_zeros_and_unsorted_or_repeated_entries() -> None:
    model, X = fitted()
    X = np.nan_to_num(X)
    S = sparse.coo_matrix(X)
    # Every entry in two halves and in random order, and a zero that is written down.
    order = np.random.default_rng(0).permutation(2 * S.nnz + 1)
    row, column = (np.concatenate([i, i, [7]])[order] for i in (S.row, S.col))
    data = np.concatenate([S.data / 2, S.data / 2, [0.0]])[order]
    by_row = np.argsort(row, kind="stable")
    indptr = np.searchsorted(row[by_row], np.arange(X.shape[0] + 1))
    rows = sparse.csr_matrix((data[by_row], column[by_row], indptr), shape=X.shape)
    columns = rows.tocsc()
    assert not rows.has_canonical_format
    assert not columns.has_canonical_format
    expected = model.predict_proba(X).tobytes()
    assert model.predict_proba(rows).tobytes() == expected
    assert model.predict_proba(columns).tobytes() == expected


def test_sparse_rows_in_several_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    model, X = fitted()
    expected = model.predict_proba(X).tobytes()
    monkeypatch.setattr("gtgbm.tree.forest._CELLS_PER_CALL", 50)
    monkeypatch.setattr("gtgbm.tree.forest._ROWS_PER_CALL", 7)
    for table in (X, np.asfortranarray(X), sparse.csr_matrix(X), sparse.csc_matrix(X)):
        assert model.predict_proba(table).tobytes() == expected


def test_a_sparse_table_too_large_to_be_dense() -> None:
    # 8 terabytes if it were dense.
    n, d = 1_000_000, 1_000_000
    tree = Tree(
        np.array([d - 1, -1, -1], dtype=np.int32),
        np.array([0.5, 0.0, 0.0]),
        np.zeros(3, np.uint8),
        np.zeros(3, np.uint8),
        np.array([1, -1, -1], dtype=np.int32),
        np.array([0.0, -1.0, 1.0]),
        np.zeros(3, np.int64),
        np.zeros(3),
    )
    forest = Forest.of([tree], [0], np.zeros(1))
    entries = (np.ones(2), (np.array([5, n - 1]), np.array([d - 1, d - 1])))
    for kind in (sparse.csr_array, sparse.csc_array):
        scores = forest.scores(kind(entries, shape=(n, d)), _core.Pool(1))
        assert np.flatnonzero(scores[0] > 0).tolist() == [5, n - 1]


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
def test_infinity_is_a_very_large_value(infinity: float) -> None:
    model, X = fitted()
    extreme, huge = X.copy(), X.copy()
    extreme[::3], huge[::3] = infinity, np.copysign(1e308, infinity)
    for kind in (np.array, sparse.csr_matrix, sparse.csc_matrix):
        assert model.predict_proba(kind(extreme)).tobytes() == model.predict_proba(huge).tobytes()


def test_category_splits() -> None:
    """One column's categories against all others, missing ones where the node says."""
    X = np.array([[0.0], [1.0], [2.0], [3.0], [np.nan], [1.5]])
    tree = Tree(
        np.array([0, 0, -1, -1, -1], dtype=np.int32),
        np.array([2.0, 0.0, 0.0, 0.0, 0.0]),
        np.array([1, 1, 0, 0, 0], dtype=np.uint8),
        np.array([1, 0, 0, 0, 0], dtype=np.uint8),
        np.array([1, 3, -1, -1, -1], dtype=np.int32),
        np.array([0.0, 0.0, 2.0, -1.0, 10.0]),
        np.zeros(5, np.int64),
        np.zeros(5),
    )
    scores = Forest.of([tree], [0], np.array([0.5])).scores(X, _core.Pool(1))
    assert (scores[0] - 0.5).tolist() == [10.0, -1.0, 2.0, -1.0, 10.0, -1.0]
    not_missing_left = replace(tree, missing_left=np.zeros(5, np.uint8))
    assert Forest.of([not_missing_left], [0], np.zeros(1)).scores(X, _core.Pool(1))[0, 4] == 2.0


@given(st.integers(0, 200), st.integers(0, 2**20))
def test_any_number_of_rows_at_once(n_rows: int, seed: int) -> None:
    """Rows walk in company of others or alone: each gets the same bits."""
    model, X = FITTED
    rows = np.random.default_rng(seed).integers(0, X.shape[0], n_rows)
    assert model._forest.scores(X[rows], _core.Pool(1)).tobytes() == SCORES[:, rows].tobytes()


FITTED = fitted(3)
SCORES = FITTED[0]._forest.scores(FITTED[1], _core.Pool(1))


def test_any_number_of_threads() -> None:
    X, y = counts(20_000)
    model = GTGBMClassifier(n_estimators=20, random_state=0).fit(X, y)
    tables = [X, X.astype(np.float32), sparse.csr_matrix(X), sparse.csc_matrix(X)]
    expected = model.set_params(n_jobs=1).predict_proba(X).tobytes()
    for n_jobs in (1, 2, 3, None):
        model.set_params(n_jobs=n_jobs)
        for table in tables:
            assert model.predict_proba(table).tobytes() == expected


def test_fitted_copies_predict_the_same() -> None:
    model, X = fitted()
    expected = model.predict_proba(X).tobytes()
    written = pickle.dumps(model)
    for twin in (pickle.loads(written), copy.deepcopy(model), copy.copy(model)):
        assert twin.predict_proba(X).tobytes() == expected
        assert set(vars(twin)) == set(vars(model))
    # The packed trees are not written a second time.
    assert len(written) < 1.1 * len(pickle.dumps(vars(model) | {"_forest": None}))
    pickle.loads(pickle.dumps(AGBMClassifier()))


def test_a_broken_tree_in_a_pickle_is_refused() -> None:
    model, _ = fitted()
    model.trees_[3].left[0] = 10_000
    with pytest.raises(ValueError, match="child out of range"):
        pickle.loads(pickle.dumps(model))


def test_a_failed_fit_leaves_no_model() -> None:
    model, X = fitted()
    with pytest.raises(ValueError, match="penalty"):
        model.set_params(penalty=-1).fit(X, np.arange(600) % 2)
    with pytest.raises(AttributeError, match="not fitted"):
        model.predict(X)


def test_what_is_no_table_is_refused() -> None:
    model, X = fitted()
    for bad, message in (
        (X[0], "2D"),
        (X[None], "dim 3"),
        (X[:0], "0 sample"),
        (X[:, :5], "5 features.*30 features"),
        (sparse.csr_matrix(X[:, :5]), "5 features.*30 features"),
        (X + 1j, "omplex"),
        (sparse.csr_matrix(X + 1j), "omplex"),
        (np.full(X.shape, "text"), "strings"),
    ):
        with pytest.raises(ValueError, match=message):
            model.predict(bad)


def test_regressors_take_sparse_tables() -> None:
    X, _ = counts()
    y = np.nan_to_num(X[:, 3]) + np.nan_to_num(X[:, 8])
    model = AGBMRegressor(n_estimators=10).fit(X, y)
    assert model.predict(sparse.csr_matrix(X)).tobytes() == model.predict(X).tobytes()
