"""Kernels have the same bits whatever instructions they use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from gtgbm import GTGBMClassifier, GTGBMRegressor, _core
from gtgbm.exact import F64, I64, OWNED, SKIPPED
from tests.strategies import sums_of

_OTHERS = ["avx2", "avx512"]
_ROWS = [1, 7, 8, 9, 63, 64, 65, 1000]
"""Shorter and longer than vectors of any width, with and without a rest."""


@contextmanager
def _using(name: str) -> Iterator[None]:
    if name not in _core.available_instructions():
        pytest.skip(f"this processor has no {name}")
    before = _core.use_instructions(name)
    try:
        yield
    finally:
        _core.use_instructions(before)


def _results(name: str, n: int) -> list[bytes]:
    """Return what the vectorised kernels compute of the same random arrays."""
    rng, pool = np.random.default_rng(n), _core.Pool(1)
    scores, y = rng.normal(0, 30, n), rng.integers(0, 2, n).astype(np.float64)
    scores[: n // 8] = 0.0
    packed = rng.integers(0, 256, (37, n), dtype=np.uint8)
    weight = rng.integers(-(2**15), 2**15, (2, 2 * n)).astype(np.int16)
    table, rows, columns = rng.normal(size=(n, 5)), np.arange(n), np.arange(5)
    table[rng.random((n, 5)) < 0.1] = np.nan
    sums = np.empty((2, 37, 2), dtype=np.int64)
    logistic = [np.empty(n) for _ in range(3)]
    codes = [np.empty((5, n), dtype=np.uint8) for _ in range(2)]
    relevance: F64 = rng.integers(0, 3, n).astype(np.float64)
    gain: F64 = np.exp2(relevance)
    queries = np.array([0, n // 3, n])
    ranking = [np.empty(n), np.empty(n), np.empty(2)]
    with _using(name):
        _core.trend_sums(pool, packed, weight, sums)
        _core.logistic_residuals(pool, scores, y, *logistic)
        _core.rank_codes(pool, table, rows, columns, 16, codes[0])
        _core.rank_codes(pool, table.astype(np.float32), rows, columns, 16, codes[1])
        _core.rank_residuals(
            pool,
            rows,
            queries,
            relevance,
            gain,
            np.ones(2),
            1 / (rows + 1),
            scores,
            30,
            True,
            *ranking,
        )
    arrays: list[np.ndarray[Any, Any]] = [sums, *logistic, *codes, *ranking]
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("n", _ROWS)
@pytest.mark.parametrize("name", _OTHERS)
def test_kernels(name: str, n: int) -> None:
    assert _results(name, n) == _results("baseline", n)


def _best_column(name: str, hist: I64, columns: slice, *, is_wide: bool) -> tuple[float, ...]:
    """Return gain, column, bin and side of missing values of the best split of some of the columns."""
    use = np.full(hist.shape[1] * _core.LANES, SKIPPED, dtype=np.uint8)
    use[columns] = OWNED
    n_bins, no_category = np.full(use.shape, _core.CELLS - 1, np.int32), np.full(use.shape, -1, np.int32)
    no_use, no_price = np.empty((0, _core.CELLS), dtype=np.uint8), np.empty(0)
    tiles = _core.TileColumns(n_bins, use, no_category, no_use, no_price)
    gain, where = np.empty((1, 2)), np.empty((1, 2, 3), dtype=np.int32)
    slot, total = np.zeros(1, dtype=np.int64), sums_of(hist[0, 0, 0].sum(keepdims=True), 20)
    if is_wide:
        hist = sums_of(hist, 20).reshape(*hist.shape[:3], -1)
    node = (slot, total, _core.CellFormat(20, is_wide))
    with _using(name):
        _core.scan_histograms(_core.Pool(1), tiles, hist, *node, 3, 0.5, gain, where)
    return (float(gain[0, 0]), *where[0, 0].tolist())


@pytest.mark.parametrize("is_wide", [True, False])
@pytest.mark.parametrize("has_missing", [True, False])
@pytest.mark.parametrize("name", ["baseline", *_OTHERS])
def test_nearly_equal_columns(name: str, has_missing: bool, is_wide: bool) -> None:
    """Columns that cannot have the best split are not scanned; those that nearly have it must be."""
    rng = np.random.default_rng(int(has_missing))
    cells: I64 = (rng.integers(-(2**20), 2**20, _core.CELLS) << 20) + rng.integers(1, 9, _core.CELLS)
    cells[-1] *= has_missing
    hist = np.tile(cells, (1, 10, _core.LANES, 1))
    for column in hist.reshape(-1, _core.CELLS):
        place = int(rng.integers(0, _core.CELLS - 2))
        column[place], column[place + 1] = column[place + 1], column[place]
    alone = [
        _best_column("baseline", hist, slice(c, c + 1), is_wide=is_wide) for c in range(10 * _core.LANES)
    ]
    assert _best_column(name, hist, slice(None), is_wide=is_wide) == max(alone, key=lambda found: found[0])


def _model(name: str, X: F64, y: F64, *, is_binary: bool) -> list[bytes]:
    with _using(name):
        if is_binary:
            model = GTGBMClassifier(n_estimators=8, penalty=0.002, search="group-testing", random_state=0)
        else:
            model = GTGBMRegressor(n_estimators=8, penalty=0.0, l2_regularization=0.3, random_state=0)
        model.fit(X, y)
    return [
        part.tobytes()
        for tree in model.trees_
        for part in (tree.feature, tree.threshold, tree.value, tree.gain)
    ]


@pytest.mark.parametrize("is_binary", [True, False])
@pytest.mark.parametrize("name", _OTHERS)
def test_models(name: str, is_binary: bool) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4000, 150))
    X[rng.random(X.shape) < 0.02] = np.nan
    y: F64 = np.nan_to_num(X[:, 0] * X[:, 1] + X[:, 2]) + rng.normal(size=4000)
    if is_binary:
        y = (y > 0).astype(np.float64)
    assert _model(name, X, y, is_binary=is_binary) == _model("baseline", X, y, is_binary=is_binary)


def test_unknown_instructions_are_refused() -> None:
    with pytest.raises(ValueError, match="sse9"):
        _core.use_instructions("sse9")
