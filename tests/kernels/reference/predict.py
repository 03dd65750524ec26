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
