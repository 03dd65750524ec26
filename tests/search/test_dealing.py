"""How subsets of features are counted, dealt and divided."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gtgbm.exact.arrays import LANES
from gtgbm.search.dealing import GroupTree, deal_partition, deal_subsets, divide, n_subsets, subset_size
from tests.strategies import seeds


def check_division(tree: GroupTree, size: int, parts: int) -> None:
    sizes, inner = tree.end - tree.begin, np.flatnonzero(tree.n_children)
    assert (tree.begin[0], tree.end[0]) == (0, size)
    assert tree.n_children.max() <= parts
    assert np.array_equal(tree.n_children == 0, sizes == 1), "divided down to single features"

    # All groups but the first are children, each of one parent before it.
    n_children, first = tree.n_children[inner], tree.first_child[inner]
    assert np.array_equal(first, 1 + np.cumsum(n_children) - n_children)
    parent = np.repeat(inner, n_children)
    assert parent.shape[0] == sizes.shape[0] - 1
    assert (first > inner).all()

    # Children cover their parent side by side, in near-equal parts.
    last = first + n_children - 1
    assert np.array_equal(tree.begin[first], tree.begin[inner])
    assert np.array_equal(tree.end[last], tree.end[inner])
    is_last = np.zeros(sizes.shape[0], dtype=bool)
    is_last[last] = is_last[0] = True
    before = np.flatnonzero(~is_last)
    assert np.array_equal(tree.end[before], tree.begin[before + 1])
    assert (np.abs(sizes[1:] - sizes[parent] / tree.n_children[parent]) < 1).all()

    # A tile for each group with a child of several features, numbered in order.
    stored = np.zeros(sizes.shape[0], dtype=bool)
    stored[parent[sizes[1:] > 1]] = True
    assert np.array_equal(tree.tile >= 0, stored)
    assert np.array_equal(tree.tile[stored], np.arange(tree.n_tiles))


@pytest.mark.parametrize("parts", range(2, LANES + 1))
def test_divide(parts: int) -> None:
    # Other sizes beyond 600 for each number of parts, and always the largest.
    for size in [*range(1, 600), *range(600 + parts, 3000, 7), 3000]:
        check_division(divide(size, parts), size, parts)


@pytest.mark.parametrize("parts", range(2, LANES + 1))
def test_divide_takes_no_more_steps_than_needed(parts: int) -> None:
    for size in [*range(1, 300), *range(301, 3001, 17)]:
        tree = divide(size, parts)
        steps, g = 0, 0
        while tree.n_children[g]:
            # The largest child is the last to become single.
            children = range(tree.first_child[g], tree.first_child[g] + tree.n_children[g])
            g = max(children, key=lambda child: int(tree.end[child] - tree.begin[child]))
            steps += 1
        assert parts ** (steps - 1) < size <= parts**steps or (size, steps) == (1, 0)


@given(st.integers(1, 60), st.integers(1, 12), st.integers(1, 8), seeds)
def test_deal_subsets(d: int, n_relevant: int, p: int, seed: int) -> None:
    features = np.random.default_rng(seed).permutation(1000)[:d]
    subsets = deal_subsets(features, n_relevant, p, np.random.default_rng(seed))
    assert subsets.shape == (p, math.ceil(d / n_relevant))
    for subset in subsets.tolist():
        assert len(set(subset)) == len(subset)
        assert set(subset) <= set(features.tolist())
    again = deal_subsets(features, n_relevant, p, np.random.default_rng(seed))
    np.testing.assert_array_equal(subsets, again)


def test_every_feature_is_dealt_equally_often() -> None:
    d, s, p = 10, 3, 6000
    subsets = deal_subsets(np.arange(d), s, p, np.random.default_rng(0))
    # Each place of a subset holds each feature with chance 1 / d; six standard deviations are allowed.
    allowed = 6 * math.sqrt(p * (1 / d) * (1 - 1 / d))
    for place in subsets.T:
        assert np.abs(np.bincount(place, minlength=d) - p / d).max() < allowed


def test_subsets_differ() -> None:
    subsets = deal_subsets(np.arange(50), 2, 20, np.random.default_rng(0))
    assert len({tuple(sorted(subset)) for subset in subsets.tolist()}) == 20


@pytest.mark.parametrize(
    ("n_relevant", "failure_probability", "p"),
    [(1, 0.1, 7), (1, 0.5, 2), (2, 0.1, 17), (3, 0.1, 28), (10, 0.05, 145), (1, 0.999, 1)],
)
def test_n_subsets(n_relevant: int, failure_probability: float, p: int) -> None:
    assert n_subsets(n_relevant, failure_probability) == p


@given(st.integers(1, 700), st.integers(1, 80), st.integers(0, 2**20))
def test_deal_partition(d: int, size: int, seed: int) -> None:
    """Every feature is dealt, and only what fills up the last subset is dealt twice."""
    features = np.arange(100, 100 + d)
    subsets = deal_partition(features, size, np.random.default_rng(seed))
    assert subsets.shape == (-(-d // size), size)
    dealt, counts = np.unique(subsets, return_counts=True)
    if size <= d:
        assert dealt.tolist() == features.tolist()
    assert (counts - 1).sum() == subsets.size - d


@pytest.mark.parametrize("n_rows", [500, 2000, 100_000])
@pytest.mark.parametrize("parts", [2, 8])
@pytest.mark.parametrize("d", [1, 7, 8, 2048, 2049, 16_385, 300_000])
def test_subset_size_keeps_the_budget(d: int, parts: int, n_rows: int) -> None:
    # Fewer rows to test leave time for more and smaller groups.
    most = 8192 if n_rows == 500 else 2048
    size = subset_size(d, parts, n_rows)
    assert 1 <= size <= d
    assert size == d or -(-d // size) * parts <= most
    # The next smaller power would be too many.
    assert size <= parts or -(-d // (size // parts)) * parts > most or size == d
