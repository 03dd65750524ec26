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
    cuts = 2.0 * math.log((1.0 - leaf_share) / leaf_share)
    wanted = probability / max(1, n_features)
    low, high = 1.0, 40.0
    for _ in range(60):
        b = (low + high) / 2.0
        density = math.exp(-b * b / 2.0) / math.sqrt(2.0 * math.pi)
        exceeded = density * (4.0 / b + (b - 1.0 / b) * cuts)
        low, high = (b, high) if exceeded > wanted else (low, b)
    return high * high
