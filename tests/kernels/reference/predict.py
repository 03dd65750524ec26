"""Twin of native/predict."""

from __future__ import annotations

from itertools import permutations
from math import factorial

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


def contributions(table: Table, columns: I64, packed: PackedTrees, cover: I64, n_outputs: int) -> F64:
    """Shapley values by their definition, over all sets of known columns, shape (n, outputs, columns)."""
    used, n_columns = np.array(table[:, columns], dtype=np.float64), columns.shape[0]
    out = np.zeros((table.shape[0], n_outputs, n_columns))
    for tree, output in enumerate(packed.output.tolist()):
        begin = int(packed.first[tree])
        games = [_game(used, packed, cover, begin, 0, known) for known in range(1 << n_columns)]
        for column in range(n_columns):
            for known in range(1 << n_columns):
                if not known >> column & 1:
                    n_known = known.bit_count()
                    weight = factorial(n_known) * factorial(n_columns - n_known - 1) / factorial(n_columns)
                    out[:, output, column] += weight * (games[known | 1 << column] - games[known])
    return out


def interactions(table: Table, columns: I64, packed: PackedTrees, cover: I64, n_outputs: int) -> F64:
    """Shapley interaction values by their definition, shape (n, outputs, columns, columns)."""
    used, n_columns = np.array(table[:, columns], dtype=np.float64), columns.shape[0]
    out = np.zeros((table.shape[0], n_outputs, n_columns, n_columns))
    for tree, output in enumerate(packed.output.tolist()):
        begin = int(packed.first[tree])
        games = [_game(used, packed, cover, begin, 0, known) for known in range(1 << n_columns)]
        for i, j in permutations(range(n_columns), 2):
            for known in range(1 << n_columns):
                if not known >> i & 1 and not known >> j & 1:
                    n_known = known.bit_count()
                    weight = factorial(n_known) * factorial(n_columns - n_known - 2)
                    both, one, other = known | 1 << i | 1 << j, known | 1 << i, known | 1 << j
                    change = games[both] - games[one] - games[other] + games[known]
                    out[:, output, i, j] += weight / (2.0 * factorial(n_columns - 1)) * change
    own = contributions(table, columns, packed, cover, n_outputs) - out.sum(axis=3)
    every = np.arange(n_columns)
    out[:, :, every, every] = own
    return out


def _game(x: F64, packed: PackedTrees, cover: I64, begin: int, node: int, known: int) -> F64:
    """Value of each row below a node if a set of columns is known, and both ways are taken for others."""
    k = begin + node
    column, left = int(packed.feature[k]), int(packed.left[k])
    if column < 0:
        return np.full(x.shape[0], packed.value[k])
    below = [_game(x, packed, cover, begin, child, known) for child in (left, left + 1)]
    if not known >> column & 1:
        shares = cover[begin + left : begin + left + 2] / cover[k]
        return np.asarray(shares[0] * below[0] + shares[1] * below[1])
    values = x[:, column]
    is_left = values != packed.threshold[k] if packed.is_category[k] else values <= packed.threshold[k]
    is_left = np.where(np.isnan(values), packed.missing_left[k] != 0, is_left)
    return np.where(is_left, below[0], below[1])


def background_contributions(
    table: Table, columns: I64, packed: PackedTrees, background: F64, n_outputs: int
) -> F64:
    """Shapley values by their definition, if unknown columns have the values of background rows."""
    used, n_columns = np.array(table[:, columns], dtype=np.float64), columns.shape[0]
    every, n = np.arange(n_columns), table.shape[0]
    out = np.zeros((n, n_outputs, n_columns))
    games = []
    for known in range(1 << n_columns):
        is_known = [bool(known >> column & 1) for column in range(n_columns)]
        mixed = np.where(is_known, used[:, None], background[None]).reshape(-1, n_columns)
        scores = predict(mixed, every, *packed, np.zeros((n_outputs, mixed.shape[0])))
        games.append(scores.reshape(n_outputs, n, -1).mean(axis=2).T)
    for column in range(n_columns):
        for known in range(1 << n_columns):
            if not known >> column & 1:
                n_known = known.bit_count()
                weight = factorial(n_known) * factorial(n_columns - n_known - 1) / factorial(n_columns)
                out[:, :, column] += weight * (games[known | 1 << column] - games[known])
    return out
