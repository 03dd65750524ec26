"""Binning kernels against their twins, and what thresholds and rank codes promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import F64, I32, U8, Table
from tests.kernels import reference
from tests.strategies import FLOATS, INTEGERS, assert_refused, pools, seeds, tables


def find_thresholds(pool: _core.Pool, values: F64, max_bins: int) -> tuple[F64, I32]:
    thresholds = np.full((values.shape[0], max_bins - 1), np.nan)
    n_thresholds = np.full(values.shape[0], -7, dtype=np.int32)
    _core.find_thresholds(pool, values.copy(), max_bins, thresholds, n_thresholds)
    return thresholds, n_thresholds


def rank_codes(pool: _core.Pool, table: Table, levels: int) -> U8:
    out = np.full(table.shape[::-1], 77, dtype=np.uint8)
    _core.rank_codes(pool, table, np.arange(table.shape[0]), np.arange(table.shape[1]), levels, out)
    return out


def bin_counts(values: F64, thresholds: F64) -> np.ndarray[Any, np.dtype[np.intp]]:
    return np.bincount(np.searchsorted(thresholds, values), minlength=thresholds.shape[0] + 1)


def sample(rng: np.random.Generator, size: int, n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return rng.integers(0, size, n)


@given(pools, tables(), seeds, st.integers(0, 40))
def test_gather(pool: _core.Pool, table: Table, seed: int, n_columns: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = sample(rng, table.shape[0], table.shape[0]), sample(rng, table.shape[1], n_columns)
    out = np.full((n_columns, rows.shape[0]), 77.0)
    _core.gather(pool, table, rows, columns, out)
    np.testing.assert_array_equal(out, reference.gather(table, rows, columns))


@given(pools, tables(FLOATS), st.sampled_from([2, 3, 8, 63, 255]))
def test_thresholds_separate_sampled_values(pool: _core.Pool, table: Table, max_bins: int) -> None:
    values = np.ascontiguousarray(table.T.astype(np.float64))
    thresholds, n_thresholds = find_thresholds(pool, values, max_bins)
    for column, edges, count in zip(values, thresholds, n_thresholds.tolist(), strict=True):
        present = column[~np.isnan(column)]
        distinct = np.unique(present)
        if distinct.shape[0] == 0:
            assert count == -1
            continue
        assert 0 <= count < max_bins
        assert np.isnan(edges[count:]).all(), "nothing is written beyond the last threshold"
        used = edges[:count]
        # Each threshold lies in a gap of its own: at or above one value and below the next.
        gap = np.searchsorted(distinct, used, side="right")
        assert (np.diff(gap) > 0).all()
        assert count == 0 or (gap.min() >= 1 and gap.max() < distinct.shape[0])
        assert (np.diff(used) > 0).all()
        if distinct.shape[0] <= max_bins:
            assert count == distinct.shape[0] - 1, "one bin for each value"


@given(pools, seeds, st.integers(3, 3000), st.integers(2, 255))
def test_distinct_values_fill_bins_equally(pool: _core.Pool, seed: int, n: int, max_bins: int) -> None:
    values = np.random.default_rng(seed).permutation(n).astype(np.float64)
    thresholds, n_thresholds = find_thresholds(pool, values[None, :], max_bins)
    counts = bin_counts(values, thresholds[0, : n_thresholds[0]])
    assert counts.shape[0] == min(n, max_bins)
    assert set(counts.tolist()) <= {n // counts.shape[0], -(-n // counts.shape[0])}


@given(pools, seeds, st.integers(5, 800), st.integers(4, 120), st.floats(1.0, 60.0))
def test_tied_values_fill_bins_roughly_equally(
    pool: _core.Pool, seed: int, n: int, max_bins: int, spread: float
) -> None:
    values = np.rint(np.random.default_rng(seed).normal(size=n) * spread)
    distinct = np.unique(values)
    assume(distinct.shape[0] > max_bins)
    thresholds, n_thresholds = find_thresholds(pool, values[None, :], max_bins)
    edges = thresholds[0, : n_thresholds[0]]
    counts, several = bin_counts(values, edges), bin_counts(distinct, edges) > 1
    assert counts.shape[0] >= max_bins / 2
    assert counts[several].max() <= 3 * n / max_bins, "only a single value may fill more than its share"


@given(pools, seeds, st.integers(10, 2000), st.integers(4, 255), st.integers(1, 20))
def test_a_frequent_value_leaves_the_other_bins_fine(
    pool: _core.Pool, seed: int, n: int, max_bins: int, zeros: int
) -> None:
    others = np.random.default_rng(seed).permutation(n).astype(np.float64) + 1.0
    values = np.concatenate([others, np.zeros(n * zeros)])
    thresholds, n_thresholds = find_thresholds(pool, values[None, :], max_bins)
    counts = bin_counts(others, thresholds[0, : n_thresholds[0]])
    assert counts[0] == 0, "zeros have a bin of their own"
    assert counts.shape[0] == min(n + 1, max_bins)
    assert counts.max() == -(-n // (counts.shape[0] - 1))


@given(pools, tables(), st.sampled_from([1, 3, 8]), seeds, st.integers(0, 254))
def test_encode(pool: _core.Pool, table: Table, lanes: int, seed: int, width: int) -> None:
    rng = np.random.default_rng(seed)
    columns = rng.permutation(table.shape[1])
    # Thresholds that are values of the column, so that equality is met.
    thresholds = np.sort(reference.gather(table, sample(rng, table.shape[0], width), columns), axis=1)
    n_thresholds = (~np.isnan(thresholds)).sum(axis=1).astype(np.int32)
    n_thresholds[rng.random(columns.shape[0]) < 0.1] = -1
    out = np.full((-(-columns.shape[0] // lanes), table.shape[0], lanes), 77, dtype=np.uint8)
    expected = reference.encode(table, columns, thresholds, n_thresholds, out)
    _core.encode(pool, table, columns, thresholds, n_thresholds, out)
    np.testing.assert_array_equal(out, expected)


@given(pools, tables(), st.sampled_from([3, 8, 17, 18, 64, 255]))
def test_rank_codes_keep_order(pool: _core.Pool, table: Table, levels: int) -> None:
    codes = rank_codes(pool, table, levels)
    for column, code in zip(table.T.astype(np.float64), codes, strict=True):
        missing = np.isnan(column)
        np.testing.assert_array_equal(code == 0, missing)
        assert code.max() < levels
        order = np.argsort(column[~missing])
        ascending = column[~missing][order]
        steps = np.diff(code[~missing][order].astype(int))
        same = ascending[1:] == ascending[:-1]
        assert (steps >= 0).all()
        assert (steps[same] == 0).all()
        if column.shape[0] <= 512 and np.unique(column[~missing]).shape[0] < levels:
            assert (steps[~same] == 1).all(), "one code for each value"


@pytest.mark.parametrize("n", [100, 511, 512, 513, 1000, 1023, 1024, 5000])
@pytest.mark.parametrize("order", ["ascending", "descending", "shuffled"])
def test_rank_codes_share_rows_equally(n: int, order: str) -> None:
    values = np.arange(float(n))
    if order != "ascending":
        values = values[::-1] if order == "descending" else np.random.default_rng(n).permutation(values)
    for levels in (9, 64):
        counts = np.bincount(rank_codes(_core.Pool(1), values[:, None], levels)[0], minlength=levels)[1:]
        # Cut points come from a few hundred rows; rows in order of the column must not bias them.
        assert counts.max() <= 3 * n / (levels - 1) + 1
        assert counts.min() >= n / (levels - 1) / 8 - 1


@pytest.mark.parametrize("start", [0.0, 1.0, -1.0, 3e38, -3.4e38, 1e-45])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 700])
@pytest.mark.parametrize("levels", [3, 16, 17, 18])
def test_rank_codes_of_float32_are_those_of_float64(start: float, n: int, levels: int) -> None:
    """Neighbouring floats: every threshold lies between two of them, and is none itself."""
    floats = np.full(12, start, dtype=np.float32)
    for k in range(1, 10):
        floats[k] = np.nextafter(floats[k - 1], np.float32(np.inf))
    floats[10:] = np.nan, np.inf
    table = np.random.default_rng(n).choice(floats, (n, 5))
    with_doubles = rank_codes(_core.Pool(1), table.astype(np.float64), levels)
    np.testing.assert_array_equal(rank_codes(_core.Pool(1), table, levels), with_doubles)


@given(pools, tables(), seeds, st.integers(0, 150))
def test_sampled_codes_of_some_columns(pool: _core.Pool, table: Table, seed: int, n_columns: int) -> None:
    """Columns in any order, some more than once: each as if it were the only one."""
    rng = np.random.default_rng(seed)
    table = table[:1000]
    rows, columns = sample(rng, table.shape[0], table.shape[0]), sample(rng, table.shape[1], n_columns)
    out = np.full((n_columns, rows.shape[0]), 77, dtype=np.uint8)
    _core.rank_codes(pool, table, rows, columns, 9, out)
    np.testing.assert_array_equal(out, rank_codes(_core.Pool(1), table[rows], 9)[columns])


@given(pools, tables(), seeds, st.integers(0, 150))
def test_minmax_values(pool: _core.Pool, table: Table, seed: int, n_columns: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = sample(rng, table.shape[0], table.shape[0]), sample(rng, table.shape[1], n_columns)
    out = np.full((n_columns, rows.shape[0]), 77, dtype=np.uint16)
    _core.minmax_values(pool, table, rows, columns, out)
    np.testing.assert_array_equal(out, reference.minmax_values(table, rows, columns))


def test_minmax_values_span_the_whole_scale() -> None:
    table = np.array(
        [
            [-3.0, 5.0, -1.7e308, -np.inf, np.inf],
            [1.0, 5.0, 0.0, 2.0, np.inf],
            [np.nan, 5.0, np.nan, 3.0, np.nan],
            [5.0, 5.0, 1.7e308, np.inf, -np.inf],
        ]
    )
    out = np.empty((5, 4), dtype=np.uint16)
    _core.minmax_values(_core.Pool(1), table, np.arange(4), np.arange(5), out)
    scale = [0, 32768, 0, 65535]
    assert out.tolist() == [scale, [0] * 4, scale, [0, 0, 65535, 65535], [0] * 4]


@pytest.mark.parametrize("size", [2, 3])
def test_threads_have_scratch_space_of_their_own(size: int) -> None:
    # Long enough for threads to work side by side.
    table = np.random.default_rng(0).normal(size=(3000, 400))
    rows = np.arange(3000)
    serial, parallel = np.empty((2, 400, 3000), dtype=np.uint16)
    _core.minmax_values(_core.Pool(1), table, rows, np.arange(400), serial)
    expected_codes, pool = rank_codes(_core.Pool(1), table, 64), _core.Pool(size)
    for _ in range(3):
        _core.minmax_values(pool, table, rows, np.arange(400), parallel)
        np.testing.assert_array_equal(parallel, serial)
        np.testing.assert_array_equal(rank_codes(pool, table, 64), expected_codes)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty_tables(shape: tuple[int, int]) -> None:
    pool, table, rows = _core.Pool(2), np.zeros(shape), np.arange(shape[0])
    columns = np.arange(shape[1])
    _core.gather(pool, table, rows, columns, np.empty(shape[::-1]))
    _, n_thresholds = find_thresholds(pool, np.empty(shape[::-1]), 5)
    assert n_thresholds.tolist() == [-1] * shape[1]
    out = np.empty((shape[1], shape[0], 1), dtype=np.uint8)
    _core.encode(pool, table, columns, np.empty((shape[1], 4)), n_thresholds, out)
    assert rank_codes(pool, table, 8).size == 0
    _core.minmax_values(pool, table, rows, columns, np.empty(shape[::-1], dtype=np.uint16))


def test_wrong_shapes_are_refused() -> None:
    pool, table = _core.Pool(2), np.zeros((5, 3))
    rows, columns, u8 = np.arange(5), np.arange(3), np.uint8
    transposed, row_beyond, column_beyond = np.zeros((5, 3)), np.array([0, 1, 2, 3, 5]), np.array([0, -1, 2])
    assert_refused(
        _core.gather,
        (pool, table, rows, columns, np.zeros((3, 5))),
        {
            "shape": {4: transposed},
            "row": {2: row_beyond},
            "column": {3: column_beyond},
            "dtype": {1: table > 0},
        },
    )
    good = (pool, np.zeros((3, 5)), 4, np.zeros((3, 3)), np.zeros(3, np.int32))
    bad: dict[str, dict[int, object]] = {
        "no bins": {2: 1},
        "bins": {2: 256, 3: np.zeros((3, 255))},
        "width": {3: np.zeros((3, 4))},
        "columns": {3: np.zeros((2, 3))},
        "counts": {4: np.zeros(2, np.int32)},
    }
    assert_refused(_core.find_thresholds, good, bad)
    edges, counts = np.zeros((3, 4)), np.full(3, 4, np.int32)
    bad = {
        "rows": {5: np.zeros((3, 4, 1), u8)},
        "tiles": {5: np.zeros((2, 5, 1), u8)},
        "thresholds": {3: np.zeros((2, 4))},
        "counts": {4: np.full(2, 4, np.int32)},
        "more than given": {4: np.full(3, 5, np.int32)},
        "the missing code": {3: np.zeros((3, 255)), 4: np.full(3, 255, np.int32)},
        "column": {2: np.array([0, 1, 3])},
    }
    assert_refused(_core.encode, (pool, table, columns, edges, counts, np.zeros((3, 5, 1), u8)), bad)
    for kernel, dtype, levels in ((_core.rank_codes, u8, (8,)), (_core.minmax_values, np.uint16, ())):
        bad = {
            "out": {4 + len(levels): np.zeros((5, 3), dtype)},
            "row": {2: row_beyond},
            "column": {3: column_beyond},
            "columns": {3: columns[:2].copy()},
        }
        assert_refused(kernel, (pool, table, rows, columns, *levels, np.zeros((3, 5), dtype)), bad)
    out8 = np.zeros((3, 5), u8)
    assert_refused(_core.rank_codes, (pool, table, rows, columns, 8, out8), {"few": {4: 2}, "many": {4: 256}})


@pytest.mark.parametrize("dtype", [np.bool_, np.float16, np.complex128])
def test_other_dtypes_are_refused(dtype: type[np.generic]) -> None:
    with pytest.raises(ValueError, match="dtype"):
        _core.gather(_core.Pool(1), np.zeros((2, 2), dtype), np.arange(2), np.arange(2), np.zeros((2, 2)))


def test_outputs_are_never_copied() -> None:
    """A converted copy would receive the result in place of the array handed over."""
    table, index = np.zeros((2, 2), dtype=INTEGERS[0]), np.arange(2)
    for out in (np.zeros((2, 2), np.float32), np.zeros((2, 4))[:, ::2], np.zeros((2, 2), order="F")):
        with pytest.raises(TypeError):
            _core.gather(_core.Pool(1), table, index, index, out)  # type: ignore[arg-type]
