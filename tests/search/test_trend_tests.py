"""Trend tests: what they find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gtgbm import GTGBMClassifier, _core
from gtgbm.data.columns import DenseColumns
from gtgbm.exact import Cells
from gtgbm.exact.arrays import F64, FALLING, I64, RISING, U8, Bool
from gtgbm.search.candidates import SampledNodes
from gtgbm.search.trend_tests import TrendTests, n_trend_rows

BITS = 12
FORMAT = Cells(np.empty(0, dtype=np.int64), 1.0, _core.CellFormat(BITS), (0, 0), (0, 0), 0)


def sampled(residuals: I64, begin: list[int], end: list[int], weight: I64) -> SampledNodes:
    """Rows of a sample that nodes own, in order."""
    cells = residuals * 2**BITS + weight
    ranges = list(zip(begin, end, strict=True))
    total = np.array([[residuals[b:e].sum(), weight[b:e].sum()] for b, e in ranges])
    positions = np.arange(residuals.shape[0], dtype=np.int32)
    return SampledNodes(positions, cells, cells, np.array(begin), np.array(end), total)


def trends_of(X: F64, searched: I64 | None = None, directions: U8 | None = None) -> TrendTests:
    pool, rows, d = _core.Pool(2), np.arange(X.shape[0]), X.shape[1]
    columns = DenseColumns(X, pool, 255, rows)
    free = np.zeros(d, dtype=np.uint8) if directions is None else directions
    return TrendTests(columns, np.arange(d) if searched is None else searched, rows, free, pool)


def best_by_least_squares(X: F64, y: F64, k: int) -> set[int]:
    """Columns whose straight and bent trend explain most of y."""
    explained = []
    for column in X.T:
        ranks = np.argsort(np.argsort(column)) / X.shape[0]
        design = np.stack([np.ones_like(ranks), ranks, ranks**2], axis=1)
        explained.append(np.var(design @ np.linalg.lstsq(design, y, rcond=None)[0]))
    return set(np.argsort(explained)[-k:].tolist())


@pytest.mark.parametrize("n_rows", [1500, 1501])
def test_finds_what_least_squares_finds(n_rows: int) -> None:
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(n_rows, 60)))  # ranks count, not values
    y = np.log(X[:, 3]) - np.log(X[:, 7]) + np.log(X[:, 11]) ** 2 + rng.normal(size=n_rows)
    residuals = np.rint(1000 * (y - y.mean())).astype(np.int64)
    ones, none = np.ones(n_rows, dtype=np.int64), np.zeros(60, dtype=bool)
    nodes = sampled(residuals, [0, 0, n_rows // 2], [n_rows, n_rows // 2, n_rows], ones)
    found = trends_of(X).search(nodes, none, FORMAT, 0.001)
    assert {3, 7, 11} <= set(found[0].tolist())
    for k, (begin, end) in enumerate(zip(nodes.begin, nodes.end, strict=True)):
        expected = best_by_least_squares(X[begin:end], y[begin:end], 4)
        assert expected <= set(found[k].tolist()), "columns are scaled by all rows, so ranks differ a little"


def test_columns_that_cannot_be_split_are_not_found() -> None:
    rng = np.random.default_rng(0)
    n = 1000
    X = rng.normal(size=(n, 12))
    X[:, 0] = 5.0
    X[:, 1] = np.arange(n) < 3
    X[:, 2] = np.nan
    y = 50 * X[:, 1] + X[:, 4] + X[:, 5]
    nodes = sampled(np.rint(100 * y).astype(np.int64), [0], [n], np.ones(n, dtype=np.int64))
    is_excluded: Bool = np.zeros(12, dtype=np.bool_)
    is_excluded[5] = True
    searched = np.setdiff1d(np.arange(12), [6])
    found = trends_of(X, searched).search(nodes, is_excluded, FORMAT, 0.005)
    assert set(found[0].tolist()) & {0, 1, 2, 5, 6} == set()
    assert 4 in found[0]
    few = trends_of(X[:, :5]).search(nodes, np.ones(5, dtype=np.bool_), FORMAT, 0.005)
    assert (few == -1).all(), "nothing is left to be found"


def test_rows_without_weight_count_for_nothing() -> None:
    rng = np.random.default_rng(0)
    n = 1000
    X = rng.normal(size=(n, 30))
    weight = (np.arange(n) < 600).astype(np.int64)
    y = np.where(weight == 1, X[:, 3], 100 * X[:, 4])
    residuals = np.rint(1000 * y).astype(np.int64) * weight
    trends, none = trends_of(X), np.zeros(30, dtype=np.bool_)
    found = trends.search(sampled(residuals, [0], [n], weight), none, FORMAT, 0.001)
    assert 3 in found[0]
    without = trends.search(sampled(residuals, [0], [600], weight), none, FORMAT, 0.001)
    np.testing.assert_array_equal(np.sort(found[0]), np.sort(without[0]))


def test_of_equals_the_first_are_found() -> None:
    # numpy's own partition would take whichever the processor's vectors leave at the front.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 60))
    X[:, 15:55] = X[:, 15:16]
    y = np.rint(1000 * (X[:, 15] + 3.0 * X[:, 58])).astype(np.int64)
    nodes = sampled(y, [0], [1000], np.ones(1000, dtype=np.int64))
    found = trends_of(X).search(nodes, np.zeros(60, dtype=np.bool_), FORMAT, 0.001)
    assert found[0].tolist() == [58, *range(15, 22)]


def test_columns_bound_to_a_direction_have_no_trend_against_it() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 24))
    y = np.rint(1000 * (X[:, :20].sum(axis=1) + 0.7 * (X[:, 20] - X[:, 21]))).astype(np.int64)
    directions = np.full(24, FALLING, dtype=np.uint8)
    directions[20] = RISING
    nodes = sampled(y, [0], [2000], np.ones(2000, dtype=np.int64))
    found = trends_of(X, directions=directions).search(nodes, np.zeros(24, dtype=np.bool_), FORMAT, 0.001)
    assert {20, 21} <= set(found[0].tolist())


@pytest.mark.parametrize("share", [0.003, 0.02])
def test_rare_values_have_trends_too(share: float) -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((4000, 50)) < share).astype(np.float64)
    X[:, ::2] = 1.0 - X[:, ::2]
    X[rng.random(4000) < 0.9, 49] = np.nan
    effect = np.where(np.isnan(X[:, :50]), 0.0, X)
    trends = trends_of(X)
    for column in (6, 7, 21, 48):
        y = np.rint(1000 * effect[:, column]).astype(np.int64)
        nodes = sampled(y, [0], [4000], np.ones(4000, dtype=np.int64))
        assert trends.search(nodes, np.zeros(50, dtype=np.bool_), FORMAT, 0.0005)[0, 0] == column


@pytest.mark.parametrize("kind", ["fractional", "balanced", "newton", "heavy"])
def test_weights_of_any_unit(kind: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 100)).astype(np.float32)
    y = X[:, :4].sum(axis=1) + 0.5 * rng.normal(size=5000) > 1.0
    parameters: Any = {"penalty": 0.01, "n_estimators": 15, "search": "group-testing", "random_state": 0}
    weights = {"fractional": rng.uniform(0.5, 1.5, 5000), "heavy": np.full(5000, 1000.0)}
    model = GTGBMClassifier(
        class_weight="balanced" if kind == "balanced" else None,
        criterion="newton" if kind == "newton" else "residuals",
        **parameters,
    ).fit(X, y, sample_weight=weights.get(kind))
    assert set(model.selected_features_.tolist()) == {0, 1, 2, 3}
    if kind == "heavy":
        plain = GTGBMClassifier(**parameters).fit(X, y)
        assert model.selected_features_.tolist() == plain.selected_features_.tolist()


@pytest.mark.parametrize(
    ("n_columns", "n_rows", "n_test_rows", "expected"),
    [
        (2000, 80_000, 2000, 10_000),
        (2000, 5000, 2000, 5000),
        (2000, 2000, 2000, 0),
        (10_000, 80_000, 2000, 3355),
        (200_000, 80_000, 2000, 0),
        (0, 100, 10, 100),
    ],
)
def test_rows_tested_for_trends(n_columns: int, n_rows: int, n_test_rows: int, expected: int) -> None:
    assert n_trend_rows(n_columns, n_rows, n_test_rows) == expected


def test_weak_features_are_found_where_a_small_sample_would_miss_them() -> None:
    rng = np.random.default_rng(3)
    n, d, n_relevant = 12_000, 1000, 60
    X = rng.normal(size=(n, d)).astype(np.float32)
    y = X[:, :n_relevant].sum(axis=1) + np.sqrt(n_relevant) * rng.normal(size=n) > 0
    model = GTGBMClassifier(penalty=0.002, n_estimators=60, search="group-testing", random_state=0, n_jobs=2)
    chosen = model.fit(X, y).selected_features_
    # Each tells less than 1% of what there is to tell, and chance that much on 2,000 rows: group tests on
    # those alone find 27.
    assert np.sum(chosen < n_relevant) >= 36
    assert np.sum(chosen >= n_relevant) <= 2
