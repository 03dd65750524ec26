"""Wide cells at their limits: residuals of 31 bits, and weights that add up to nearly 2**31.

Other tests draw packed or wide cells by chance, with sums that fit into both.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from gtgbm.exact.arrays import CELLS, I64, LANES, U8
from tests.strategies import pools, seeds

BITS = 31
WIDE = _core.CellFormat(BITS, is_wide=True)


def extreme_rows(rng: np.random.Generator, n: int) -> tuple[I64, I64]:
    """Residuals of which many are the largest there are, and weights of which one may be nearly all."""
    residuals = rng.choice([-(2**31), 2**31, 2**31 - 1, 0, 7], n)
    weights = rng.integers(0, (2**31 - 1) // n, n, endpoint=True)
    if rng.random() < 0.5:
        weights[:] = rng.integers(0, 2, n)
        weights[rng.integers(n)] = 2**31 - 1 - n
    return residuals, weights


def exact_sums(residuals: I64, weights: I64, codes: U8) -> list[int]:
    """Gradient sum and count of each of the 256 codes, one after the other, in Python's integers."""
    sums = [0] * (2 * CELLS)
    for q, w, code in zip(residuals.tolist(), weights.tolist(), codes.tolist(), strict=True):
        sums[2 * code] += q * w
        sums[2 * code + 1] += w
    return sums


@given(pools, st.sampled_from([1, 2, 60, 5000]), seeds)
def test_no_sum_overflows(pool: _core.Pool, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    residuals, weights = extreme_rows(rng, n)
    codes = rng.choice([0, 1, CELLS - 1], (1, n, LANES)).astype(np.uint8)
    values, rows = np.empty(n, dtype=np.int64), rng.permutation(n).astype(np.int32)
    found = _core.pack_cells(pool, residuals.astype(np.float64), weights, 0.0, 1.0, WIDE, values)
    products = list(zip(residuals.tolist(), weights.tolist(), strict=True))
    squares = sum(q * q * w for q, w in products)
    assert found[:2] == (sum(q * w for q, w in products), sum(weights.tolist()))
    assert (found[2] << 32) + found[3] == squares
    begin, end, sums = np.array([0]), np.array([n]), np.empty((1, 4), dtype=np.int64)
    _core.node_sums(pool, rows, values, begin, end, WIDE, sums)
    assert tuple(sums[0].tolist())[:2] == found[:2]
    assert (int(sums[0, 2]) << 32) + int(sums[0, 3]) == squares
    hist = np.empty((1, 1, LANES, 2 * CELLS), dtype=np.int64)
    jobs, scratch = (begin, end, begin, 0, 1), np.empty(n, dtype=np.int64)
    _core.build_histograms(pool, codes, rows, values, *jobs, WIDE, scratch, hist)
    pair = np.empty((1, 2 * CELLS), dtype=np.int64)
    column = np.ascontiguousarray(codes[0, :, 3])
    _core.build_pair_histograms(pool, column[None], begin, rows, values, begin, end, WIDE, pair)
    for lane in range(LANES):
        assert hist[0, 0, lane].tolist() == exact_sums(residuals, weights, codes[0, :, lane])
    assert pair[0].tolist() == hist[0, 0, 3].tolist()


@pytest.mark.parametrize("is_wide", [True, False])
def test_a_format_is_what_it_was_made_with(is_wide: bool) -> None:
    made = _core.CellFormat(7, is_wide)
    assert (made.count_bits, made.is_wide, made.width) == (7, is_wide, 1 + is_wide)
