"""Kernels have the same bits whatever instructions they use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from gtgbm import GTGBMClassifier, GTGBMRegressor, _core
from gtgbm.exact import F64

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
    with _using(name):
        _core.trend_sums(pool, packed, weight, sums)
        _core.logistic_residuals(pool, scores, y, *logistic)
        _core.rank_codes(pool, table, rows, columns, 16, codes[0])
        _core.rank_codes(pool, table.astype(np.float32), rows, columns, 16, codes[1])
    arrays: list[np.ndarray[Any, Any]] = [sums, *logistic, *codes]
    return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("n", _ROWS)
@pytest.mark.parametrize("name", _OTHERS)
def test_kernels(name: str, n: int) -> None:
    assert _results(name, n) == _results("baseline", n)


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
