"""Trees as the kernels of prediction take them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gtgbm import _core
from gtgbm.exact.arrays import F64, I32, I64, U8, Table
from gtgbm.tree.forest import PackedTrees


@dataclass(frozen=True)
class Trees:
    """Trees as the kernel takes them."""

    columns: I64
    first: I64
    output: I64
    feature: I32
    threshold: F64
    is_category: U8
    missing_left: U8
    left: I32
    value: F64

    def packed(self) -> PackedTrees:
        """All arrays but the columns."""
        return PackedTrees(
            self.first,
            self.output,
            self.feature,
            self.threshold,
            self.is_category,
            self.missing_left,
            self.left,
            self.value,
        )

    def add_to(self, out: F64, table: Table, pool: _core.Pool) -> None:
        """Predict with the kernel."""
        forest = _core.Forest(self.columns.shape[0], out.shape[0], *self.packed())
        forest.predict(pool, table, self.columns, out, 0, self.output.shape[0])

    def score_changes(
        self, table: Table, donors: Table, donor: I64, features: I64, n_outputs: int, pool: _core.Pool
    ) -> F64:
        """Change scores with the kernel."""
        forest = _core.Forest(self.columns.shape[0], n_outputs, *self.packed())
        out = np.full((features.shape[0], n_outputs, table.shape[0]), np.nan)
        forest.score_changes(pool, table, donors, donor, self.columns, features, out)
        return out


def random_trees(
    rng: np.random.Generator, table: Table, n_trees: int, n_splits: int, n_outputs: int
) -> Trees:
    """Trees of any form; thresholds are often values of the table, so that equality is met."""
    columns = rng.permutation(table.shape[1])[: rng.integers(1, table.shape[1] + 1)]
    features: list[I32] = []
    lefts: list[I32] = []
    for _ in range(n_trees):
        feature, left = [-1], [-1]
        for _ in range(rng.integers(0, n_splits + 1)):
            node = rng.choice(np.flatnonzero(np.array(feature) < 0))
            feature[node], left[node] = int(rng.integers(columns.shape[0])), len(feature)
            feature += [-1, -1]
            left += [-1, -1]
        features.append(np.array(feature, dtype=np.int32))
        lefts.append(np.array(left, dtype=np.int32))
    feature_of = np.concatenate([*features, np.empty(0, np.int32)])
    n_nodes = len(feature_of)
    threshold = table[rng.integers(0, table.shape[0], n_nodes), columns[feature_of]].astype(np.float64)
    return Trees(
        columns,
        np.cumsum([0, *map(len, features)]),
        rng.integers(0, n_outputs, n_trees),
        feature_of,
        np.where(rng.random(n_nodes) < 0.1, np.inf, np.nan_to_num(threshold, nan=0.5)),
        (rng.random(n_nodes) < rng.choice([0.0, 0.5])).astype(np.uint8),
        rng.integers(0, 2, n_nodes).astype(np.uint8),
        np.concatenate([*lefts, np.empty(0, np.int32)]),
        rng.normal(size=n_nodes),
    )


def stump(**changes: object) -> Trees:
    """One split, on the second of two columns, at 1.0."""
    arrays: dict[str, object] = {
        "columns": np.array([2, 0]),
        "first": np.array([0, 3]),
        "output": np.array([0]),
        "feature": np.array([1, -1, -1], dtype=np.int32),
        "threshold": np.array([1.0, 0.0, 0.0]),
        "is_category": np.array([0, 0, 0], dtype=np.uint8),
        "missing_left": np.array([0, 0, 0], dtype=np.uint8),
        "left": np.array([1, -1, -1], dtype=np.int32),
        "value": np.array([0.0, -5.0, 7.0]),
    } | changes
    return Trees(**arrays)  # type: ignore[arg-type]
