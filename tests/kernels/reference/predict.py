"""Twin of native/predict."""

from __future__ import annotations

import numpy as np

from gtgbm.exact.arrays import (
    F64,
    I32,
    I64,
    U8,
    Table,
)
from gtgbm.tree.forest import PackedTrees


def predict(
    table: Table,
    columns: I64,
    first: I64,
    output: I64,
    feature: I32,
    threshold: F64,
    is_category: U8,
    missing_left: U8,
    left: I32,
    value: F64,
    out: F64,
) -> F64:
    """Scores with every tree's value added, tree after tree."""
    out = out.copy()
    for tree, score in enumerate(output.tolist()):
        base = int(first[tree])
        for row in range(table.shape[0]):
            k = base
            while feature[k] >= 0:
                x = float(table[row, columns[feature[k]]])
                if np.isnan(x):
                    is_left = bool(missing_left[k])
                else:
                    is_left = x != threshold[k] if is_category[k] else x <= threshold[k]
                k = base + int(left[k]) + (0 if is_left else 1)
            out[score, row] += value[k]
    return out


def score_changes(
    table: Table, donors: Table, donor: I64, columns: I64, features: I64, packed: PackedTrees, n_outputs: int
) -> F64:
    """Scores with the donors' values of one column, tree by tree less those without them."""
    n = table.shape[0]
    out = np.zeros((features.shape[0], n_outputs, n))
    used = np.array(table[:, columns], dtype=np.float64)
    donated = np.array(donors[:, columns], dtype=np.float64)[donor]
    every = np.arange(columns.shape[0])
    for tree, output in enumerate(packed.output.tolist()):
        nodes = slice(int(packed.first[tree]), int(packed.first[tree + 1]))
        alone = PackedTrees(
            np.array([0, nodes.stop - nodes.start]),
            np.zeros(1, np.int64),
            packed.feature[nodes],
            packed.threshold[nodes],
            packed.is_category[nodes],
            packed.missing_left[nodes],
            packed.left[nodes],
            packed.value[nodes],
        )
        plain = predict(used, every, *alone, np.zeros((1, n)))[0]
        for slot, feature in enumerate(features.tolist()):
            changed = used.copy()
            changed[:, feature] = donated[:, feature]
            out[slot, output] += predict(changed, every, *alone, np.zeros((1, n)))[0] - plain
    return out
