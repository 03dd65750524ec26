"""Datasets: copies of rows with some columns, and columns that several fits use."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from gtgbm import _core
from gtgbm.boosting import Dataset
from gtgbm.boosting.dataset import KeptColumns
from gtgbm.data import DenseColumns
from gtgbm.exact import RowWeights
from gtgbm.losses import Targets
from tests.strategies import seeds


@given(
    seed=seeds,
    n_rows=st.integers(1, 20),
    n_columns=st.integers(1, 8),
    layout=st.sampled_from("CF") | st.none(),
)
def test_only_some_columns_are_copied(seed: int, n_rows: int, n_columns: int, layout: str | None) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (n_rows, n_columns)).astype(np.float32)
    table = sparse.csc_matrix(values) if layout is None else np.array(values, order=layout)  # type: ignore[call-overload]
    data = Dataset(table, Targets(np.arange(float(n_rows)), RowWeights.equal(n_rows), None))
    rows = np.flatnonzero(rng.random(n_rows) < 0.6)
    columns = np.flatnonzero(rng.random(n_columns) < 0.5)
    taken = data.of_rows(rows, columns)
    found = taken.table.toarray() if layout is None else taken.table
    expected = np.zeros((rows.shape[0], n_columns), dtype=np.float32)
    expected[:, columns] = values[np.ix_(rows, columns)]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(taken.targets.y, rows)
    whole = data.of_rows(rows).table
    np.testing.assert_array_equal(whole.toarray() if layout is None else whole, values[rows])


def test_columns_are_kept_for_fits_with_the_same_sample_and_threads() -> None:
    table, pool, kept = np.zeros((5, 2)), _core.Pool(1), KeptColumns()

    def made() -> DenseColumns:
        return DenseColumns(table, pool, 255, np.arange(3))

    first = kept.get(pool, np.arange(3), made)
    assert kept.get(pool, np.arange(3), made) is first
    other = kept.get(_core.Pool(1), np.arange(3), made)
    assert other is not first
    assert kept.get(pool, np.arange(4), made) is not other


@pytest.mark.parametrize("keeps_codes", [False, True])
def test_kept_codes_are_those_of_the_columns_asked_for(keeps_codes: bool) -> None:
    rng = np.random.default_rng(0)
    table, rows = rng.normal(size=(60, 200)), np.arange(0, 60, 2)
    columns = DenseColumns(table, _core.Pool(1), 255, np.arange(60), keeps_codes=keeps_codes)
    for asked in (np.arange(100), np.arange(200)[::-1].copy(), np.arange(50, 150), np.array([7, 3])):
        for levels in (16, 64):
            codes = np.empty((asked.shape[0], rows.shape[0]), dtype=np.uint8)
            columns.rank_codes(asked, rows, levels, codes)
            fresh = np.empty_like(codes)
            _core.rank_codes(_core.Pool(1), table, rows, asked, levels, fresh)
            np.testing.assert_array_equal(codes, fresh)
