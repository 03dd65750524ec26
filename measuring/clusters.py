"""Fits on a Dask cluster: what each adapter is given, and what it returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

MAX_DEPTH = 6
LEARNING_RATE = 0.1


@dataclass(frozen=True)
class ClusterTable:
    """Rows on the workers of a cluster: dask arrays, and the client that they belong to."""

    client: Any
    X: Any
    y: Any


@dataclass(frozen=True)
class ClusterModel:
    """What a fit has done: its trees, and the columns that they use, those of the largest gain first."""

    n_trees: int
    columns: list[int]


ClusterFit: TypeAlias = Callable[[ClusterTable, int, int | None], ClusterModel]
"""``fit(table, n_trees, n_features)``; without a number of features, there is no limit."""
