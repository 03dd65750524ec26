"""Trend-test kernels against their twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import _core
from tests.kernels import reference
from tests.strategies import assert_refused, pools, seeds


@given(
    pools,
    st.sampled_from([1, 31, 32, 33, 200]),
    st.sampled_from([1, 2, 511, 512, 513, 1900]),
    st.integers(0, 3),
    seeds,
)
def test_kernels(pool: _core.Pool, d: int, m: int, nodes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 16, (d, m), dtype=np.uint8)
    weight = rng.integers(-(2**15), 2**15, (nodes, m)).astype(np.int16)
    # The largest products there are: partial sums must not overflow.
    codes[0], weight[:, : m // 2] = 0, -(2**15)
    packed, counts = np.full((d, -(-m // 2)), 77, np.uint8), np.full((d, 16), 77, np.int32)
    _core.pack_codes(pool, codes, packed, counts)
    np.testing.assert_array_equal(counts, [np.bincount(row, minlength=16) for row in codes])

    out = np.full((nodes, d, 2), 77, dtype=np.int64)
    padded = np.zeros((nodes, 2 * packed.shape[1]), dtype=np.int16)
    padded[:, :m] = weight
    _core.trend_sums(pool, packed, padded, out)
    np.testing.assert_array_equal(out, reference.trend_sums(codes, weight))


def test_wrong_arguments_are_refused() -> None:
    pool, u8 = _core.Pool(2), np.uint8
    codes, packed, counts = np.zeros((5, 7), u8), np.zeros((5, 4), u8), np.zeros((5, 16), np.int32)
    bad: dict[str, dict[int, object]] = {
        "features": {2: packed[:4].copy()},
        "bytes": {2: np.zeros((5, 3), u8)},
        "counts": {3: counts[:4].copy()},
        "levels": {3: np.zeros((5, 15), np.int32)},
    }
    assert_refused(_core.pack_codes, (pool, codes, packed, counts), bad)
    weight, out = np.zeros((2, 8), np.int16), np.zeros((2, 5, 2), np.int64)
    bad = {
        "weights": {2: np.zeros((2, 7), np.int16)},
        "nodes": {3: out[:1].copy()},
        "sums of features": {3: np.zeros((2, 4, 2), np.int64)},
        "kinds of sums": {3: np.zeros((2, 5, 1), np.int64)},
    }
    assert_refused(_core.trend_sums, (pool, packed, weight, out), bad)
