"""What useless features gain by chance."""

from __future__ import annotations

import math
from functools import lru_cache


@lru_cache(maxsize=4096)
def chance_gain(n_features: int, leaf_share: float, probability: float = 0.05) -> float:
    """Return the gain that no useless feature exceeds but by chance, in row variances of the node.

    The best split of a useless feature maximises a squared normal variable over its cuts. The distribution of
    that maximum is Miller and Siegmund's ("Maximally selected chi square statistics", Biometrics 1982).

    Parameters
    ----------
    n_features : int
        Number of features looked at.
    leaf_share : float
        Smallest share of the node's rows that a child may have, in (0, 0.5].
    probability : float
        Probability that any of the features gains more.
    """
    wanted = probability / max(1, n_features)
    low, high = 1.0, 40.0
    for _ in range(60):
        b = (low + high) / 2.0
        low, high = (b, high) if _exceeded(b, leaf_share) > wanted else (low, b)
    return high * high


def chance_of_gain(gain: float, n_cuts: int, leaf_share: float) -> float:
    """Return the probability that a useless feature gains at least so much, or an upper bound of it.

    Parameters
    ----------
    gain : float
        In row variances of the node.
    n_cuts : int
        Number of different cuts of the feature.
    leaf_share : float
        Smallest share of the node's rows that a child may have, in (0, 0.5].
    """
    if n_cuts == 0:
        return 1.0
    b = math.sqrt(max(gain, 0.0))
    of_cut = math.erfc(b / math.sqrt(2.0))
    return min(1.0, n_cuts * of_cut, _exceeded(b, leaf_share) if b > 1.0 else 1.0)


def _exceeded(b: float, leaf_share: float) -> float:
    """Return the probability that the best of all cuts gains more than the square of b > 1."""
    cuts = 2.0 * math.log((1.0 - leaf_share) / leaf_share)
    density = math.exp(-b * b / 2.0) / math.sqrt(2.0 * math.pi)
    return density * (4.0 / b + (b - 1.0 / b) * cuts)
