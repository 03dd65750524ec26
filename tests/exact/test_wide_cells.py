"""Tables with as many rows as 2**27 weights stand for: splits are those of exact sums."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gtgbm import AGBMClassifier, AGBMRegressor, GTGBMRegressor, _core
from gtgbm.exact import FitContext, RowWeights, pack
from gtgbm.exact.arrays import F64, I64, Bool

N = 2000
TOTAL_BITS = 27


def table(seed: int) -> tuple[F64, F64, I64]:
    """Make columns of few values, targets that depend on some of them, and weights of 2**27 together."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 40, (N, 6)).astype(np.float64)
    y = X[:, 0] / 40 + (X[:, 1] > 20) * X[:, 2] / 40 + rng.normal(size=N)
    weight = rng.integers(0, 2 * 2**TOTAL_BITS // N, N)
    return X, y, weight


def best_split(X: F64, y: list[Fraction], weight: list[int], rows: Bool) -> tuple[Fraction, int, float]:
    """Return gain, column and threshold of the best split of some rows, without any rounding."""
    best = (Fraction(-1), -1, 0.0)
    inside = np.flatnonzero(rows).tolist()
    n, g = sum(weight[k] for k in inside), sum((weight[k] * y[k] for k in inside), Fraction(0))
    for column in range(X.shape[1]):
        sums: dict[float, tuple[int, Fraction]] = {}
        for k in inside:
            count, gradient = sums.get(X[k, column], (0, Fraction(0)))
            sums[X[k, column]] = count + weight[k], gradient + weight[k] * y[k]
        values = sorted(value for value, (count, _) in sums.items() if count)
        n_left, g_left = 0, Fraction(0)
        for value, after in pairwise(values):
            n_left, g_left = n_left + sums[value][0], g_left + sums[value][1]
            gain = g_left**2 / n_left + (g - g_left) ** 2 / (n - n_left) - g**2 / n
            if gain > best[0]:
                best = gain, column, (value + after) / 2
    return best


# Once: 62 - 2 * 28 = 6 bits for the largest residual, about 8 by what residuals add up to.
@pytest.mark.parametrize("seed", range(3))
def test_splits_are_those_of_exact_sums(seed: int) -> None:
    X, y, weight = table(seed)
    shape: dict[str, Any] = {"max_depth": 2, "min_node_fraction": 0.0, "max_leaf_nodes": None}
    model = AGBMRegressor(n_estimators=1, penalty=0.0, **shape)
    tree = model.fit(X, y, sample_weight=weight).trees_[0]
    assert int(weight.sum()).bit_length() >= TOTAL_BITS
    mean = Fraction(float(np.average(y, weights=weight)))
    residuals, weights = [Fraction(value) - mean for value in y.tolist()], weight.tolist()
    nodes: list[tuple[int, Bool]] = [(0, np.ones(N, dtype=np.bool_))]
    for node, rows in nodes:
        assert tree.n_rows[node] == weight[rows].sum(), "weights are counted exactly"
        if tree.left[node] < 0:
            continue
        gain, column, threshold = best_split(X, residuals, weights, rows)
        assert (tree.feature[node], tree.threshold[node]) == (column, threshold)
        assert tree.gain[node] == pytest.approx(float(gain), rel=1e-6)
        goes_left = X[:, column] <= threshold
        left = int(tree.left[node])
        nodes += [(left, rows & goes_left), (left + 1, rows & ~goes_left)]
    assert len(nodes) == 7


def test_sums_over_rows_keep_the_residuals() -> None:
    """A sum over rows is that of float64 to a millionth of what a row adds."""
    _, y, weight = table(0)
    weights = RowWeights.of(weight.astype(np.float64))
    cells = pack(y - np.average(y, weights=weight), weights, FitContext(_core.Pool(2)))
    rng = np.random.default_rng(1)
    for _ in range(20):
        rows = rng.random(N) < rng.random()
        found = cells.gradients(cells.values[rows]).sum() / cells.scale
        exact = float((weight[rows] * (y - np.average(y, weights=weight))[rows]).sum())
        assert found == pytest.approx(exact, abs=1e-6 * weight[rows].sum() / max(rows.sum(), 1))


MODELS: dict[str, Any] = {
    "group tests": GTGBMRegressor(n_estimators=5, search="group-testing", random_state=0),
    "weights": AGBMRegressor(n_estimators=5),
    "newton": AGBMClassifier(n_estimators=5, criterion="newton"),
    "categories": AGBMRegressor(n_estimators=5, categorical_features=[3]),
}


@pytest.mark.usefixtures("wide_cells")
@pytest.mark.parametrize("kind", MODELS)
def test_threads_change_nothing(kind: str) -> None:
    X, y, weight = table(0)
    target = (y > 0.5).astype(np.int64) if kind == "newton" else y
    one, other = (
        clone(MODELS[kind]).set_params(n_jobs=k).fit(X, target, sample_weight=weight) for k in (1, 3)
    )
    for first, second in zip(one.trees_, other.trees_, strict=True):
        for name in ("feature", "threshold", "left", "value", "n_rows", "gain"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
