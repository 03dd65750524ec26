"""Which of several sets of features a budget takes."""

from __future__ import annotations

import numpy as np
import pytest

from gtgbm.selection.budget import chosen
from gtgbm.selection.comparison import Losses, difference
from gtgbm.selection.folds import N_FOLDS

WEIGHTS = [1.0]


def losses_of(behind: float) -> list[Losses]:
    """Return losses of two sets, of which the second is so many standard errors behind the first."""
    rng = np.random.default_rng(0)
    first = [[rng.normal(size=40) / 40 for _ in range(N_FOLDS)]]
    noise = [rng.normal(size=40) / 40 for _ in range(N_FOLDS)]
    noise = [one - one.mean() for one in noise]
    # More of the same for every row raises the standard error a little: it is found by bisection.
    low, high = 0.0, 1.0
    for _ in range(60):
        more = (low + high) / 2
        second = [[a + b + more / 40 for a, b in zip(first[0], noise, strict=True)]]
        mean, error = difference(second, first, WEIGHTS)
        low, high = (more, high) if mean < behind * error else (low, more)
    assert mean == pytest.approx(behind * error, rel=1e-6)
    return [first, second]


@pytest.mark.parametrize(
    ("costs", "behind", "expected"),
    [
        # Little is saved, and the loss is clearly higher.
        ([40.0, 36.5], 1.0, 0),
        # As much is lost, but nearly all of the cost is saved.
        ([5.0, 1.0], 1.0, 1),
        ([5.0, 1.0], 2.3, 1),
        ([5.0, 1.0], 2.5, 0),
        # What costs more must be better.
        ([5.0, 5.1], 0.01, 0),
        ([0.0, 0.0], 0.01, 0),
    ],
)
def test_the_more_is_saved_the_more_may_be_lost(costs: list[float], behind: float, expected: int) -> None:
    losses = losses_of(behind)
    assert chosen(losses, costs, WEIGHTS) == expected
    assert chosen(losses[::-1], costs[::-1], WEIGHTS) == 1 - expected


def test_a_cheap_set_on_the_way_does_not_hide_the_best_one() -> None:
    """Sets are compared with the best one, not with the one before: small steps add up."""
    best, middle = losses_of(1.2)
    _, worst = losses_of(2.4)
    assert chosen([middle, worst, best], [39.0, 36.0, 40.0], WEIGHTS) == 2
