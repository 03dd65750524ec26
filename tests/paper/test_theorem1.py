"""Theorem 1 by simulation: with p subsets, every relevant feature is alone in one of them often enough."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gtgbm.search.dealing import deal_subsets, n_subsets

REPEATS = 300


def frequency_of_success(d: int, s: int, p: int, rng: np.random.Generator) -> float:
    """How often each of the relevant features 0 .. s - 1 is the only relevant one in some of p subsets."""
    features = np.arange(d)
    successes = 0
    for _ in range(REPEATS):
        subsets = deal_subsets(features, s, p, rng)
        is_relevant = subsets < s
        alone = subsets[(is_relevant.sum(axis=1) == 1)[:, None] & is_relevant]
        successes += np.unique(alone).shape[0] == s
    return successes / REPEATS


@pytest.mark.parametrize("failure_probability", [0.3, 0.1, 0.05])
@pytest.mark.parametrize("s", range(1, 11))
def test_theorem_1(s: int, failure_probability: float) -> None:
    # Not a multiple of most s, so that subsets are rounded up.
    frequency = frequency_of_success(107, s, n_subsets(s, failure_probability), np.random.default_rng(s))
    # Three standard deviations of a frequency whose true value is just 1 - δ.
    error = 3 * math.sqrt(failure_probability * (1 - failure_probability) / REPEATS)
    assert frequency >= 1 - failure_probability - error
    assert s > 1 or frequency == 1.0


@pytest.mark.parametrize("s", [2, 5, 10])
def test_far_fewer_subsets_are_not_enough(s: int) -> None:
    """The simulation can fail: a third of the subsets misses the bound."""
    p = n_subsets(s, 0.1) // 3
    assert frequency_of_success(107, s, p, np.random.default_rng(s)) < 0.8
