"""Metrics against scikit-learn, and those of rankings against plain loops."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics as sk

from gtgbm.exact.arrays import F64, I64
from gtgbm.metrics import METRICS, metric_of
from tests.strategies import seeds

weightings = st.sampled_from(["none", "whole", "fractions", "with zeros"])


def weights_of(kind: str, n: int, rng: np.random.Generator) -> F64 | None:
    if kind == "none":
        return None
    if kind == "whole":
        return rng.integers(1, 5, n).astype(np.float64)
    weight = rng.random(n) + 0.01
    return weight if kind == "fractions" else weight * (rng.random(n) < 0.7)


def binary(seed: int, ties: bool, kind: str) -> tuple[F64, F64, F64 | None]:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    y = rng.integers(0, 2, n).astype(np.float64)
    p = rng.integers(0, 5, n) / 4.0 if ties else rng.random(n)
    weight = weights_of(kind, n, rng)
    counted = np.ones(n) if weight is None else weight
    assume((y * counted).any() and ((1.0 - y) * counted).any())
    return y, p, weight


@given(seed=seeds, ties=st.booleans(), kind=weightings)
@pytest.mark.parametrize(
    ("name", "expected"), [("auc", sk.roc_auc_score), ("average_precision", sk.average_precision_score)]
)
def test_of_sorted_rows(name: str, expected: Any, seed: int, ties: bool, kind: str) -> None:
    y, p, weight = binary(seed, ties, kind)
    assert METRICS[name](y, p, weight) == pytest.approx(expected(y, p, sample_weight=weight))


@given(seed=seeds, ties=st.booleans(), kind=weightings)
def test_of_two_classes(seed: int, ties: bool, kind: str) -> None:
    y, p, weight = binary(seed, ties, kind)
    assert METRICS["accuracy"](y, p, weight) == pytest.approx(
        sk.accuracy_score(y, p > 0.5, sample_weight=weight)
    )
    inside = np.clip(p, 0.01, 0.99)
    expected = sk.log_loss(y, inside, sample_weight=weight, labels=[0, 1])
    assert METRICS["log_loss"](y, inside, weight) == pytest.approx(expected)
    assert np.isfinite(METRICS["log_loss"](y, p, weight))  # a sure mistake costs much, but not all


@given(seed=seeds, kind=weightings)
def test_of_three_classes(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, 3, 40).astype(np.float64), rng.dirichlet(np.ones(3), 40)
    weight = weights_of(kind, 40, rng)
    expected = sk.log_loss(y, p, sample_weight=weight, labels=[0, 1, 2])
    assert METRICS["log_loss"](y, p, weight) == pytest.approx(expected)
    expected = sk.accuracy_score(y, p.argmax(axis=1), sample_weight=weight)
    assert METRICS["accuracy"](y, p, weight) == pytest.approx(expected)


@given(seed=seeds, kind=weightings)
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rmse", sk.root_mean_squared_error),
        ("mae", sk.mean_absolute_error),
        ("r2", sk.r2_score),
        ("poisson_deviance", sk.mean_poisson_deviance),
    ],
)
def test_of_numbers(name: str, expected: Any, seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 50))
    y, prediction = rng.poisson(2.0, n).astype(np.float64), rng.gamma(2.0, size=n)
    weight = weights_of(kind, n, rng)
    counted = y if weight is None else y[weight > 0]
    assume(counted.size > 1 and np.ptp(counted) > 0)
    assert METRICS[name](y, prediction, weight) == pytest.approx(
        expected(y, prediction, sample_weight=weight)
    )


def plain_ranking(name: str, y: F64, prediction: F64, weight: F64, qid: I64, k: int | None) -> float:
    """Mean over queries; documents of equal score share their places, as in a random order of them."""
    values, weights = [], []
    for query in sorted(set(qid.tolist())):
        rows = [row for row in range(len(y)) if qid[row] == query]
        k_here = len(rows) if k is None else min(k, len(rows))

        def share(row: int, worth: Callable[[int], float], rows: list[int] = rows, k: int = k_here) -> float:
            before = sum(prediction[other] > prediction[row] for other in rows)
            tied = sum(prediction[other] == prediction[row] for other in rows)
            return float(sum(worth(place) for place in range(before, before + tied) if place < k) / tied)

        if name == "ndcg":
            best = sorted(rows, key=lambda row: -y[row])[:k]
            ideal = sum((2.0 ** y[row] - 1.0) / np.log2(place + 2.0) for place, row in enumerate(best))
            if ideal == 0.0:
                continue
            dcg = sum(
                (2.0 ** y[row] - 1.0) * share(row, lambda place: 1.0 / np.log2(place + 2.0)) for row in rows
            )
            values.append(dcg / ideal)
        elif name == "mrr":
            best_score = max((prediction[row] for row in rows if y[row] > 0), default=np.inf)
            before = sum(prediction[row] > best_score for row in rows)
            tied = [row for row in rows if prediction[row] == best_score]
            hits = sum(y[row] > 0 for row in tied)
            # Of all ways to place the hits, those with the first one at place j, then hits - 1 behind it.
            values.append(
                sum(
                    comb(len(tied) - 1 - j, hits - 1) / comb(len(tied), hits) / (before + j + 1.0)
                    for j in range(len(tied))
                    if before + j < k_here
                )
            )
        else:
            values.append(sum(share(row, lambda _: 1.0) for row in rows if y[row] > 0) / k_here)
        weights.append(weight[rows[0]])
    return float(np.average(values, weights=weights)) if sum(weights) > 0 else float("nan")


@given(seed=seeds, ties=st.booleans(), weighted=st.booleans(), k=st.sampled_from([None, 1, 3, 10]))
@pytest.mark.parametrize("name", ["ndcg", "mrr", "precision"])
def test_of_rankings(name: str, seed: int, ties: bool, weighted: bool, k: int | None) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    qid, y = rng.integers(0, 8, n), rng.integers(0, 5, n) * rng.integers(0, 2, n)
    prediction = rng.integers(0, 3, n).astype(np.float64) if ties else rng.normal(size=n)
    weight = rng.random(8)[qid] if weighted else np.ones(n)
    metric = metric_of(name if k is None else f"{name}@{k}")
    seen = metric(y, prediction, weight, qid)
    expected = plain_ranking(name, y.astype(np.float64), prediction, weight, qid, k)
    assert seen == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("name", ["mrr", "mrr@1", "mrr@2"])
def test_tied_ranks_are_worth_the_mean_over_their_orders(name: str) -> None:
    y, qid = np.array([0.0, 1.0, 0.0, 2.0, 0.0, 0.0]), np.zeros(6)
    score = np.array([1.0, 1.0, 1.0, 1.0, 2.0, 0.0])
    metric = metric_of(name)
    orders = [
        metric(y, score + 0.01 * np.array([*order, 0.0, 0.0]), None, qid) for order in permutations(range(4))
    ]
    assert metric(y, score, None, qid) == pytest.approx(np.mean(orders))
    assert metric(np.zeros(6), score, None, qid) == 0.0


def test_a_constant_ranks_as_a_random_order_in_long_queries() -> None:
    n = 100_000
    y = np.zeros(n)
    y[:1000] = 1.0
    # The first of r hits among n places is at rank (n + 1) / (r + 1) on average; 1 / rank by its own series.
    chance, expected = 1.0, 0.0
    for place in range(2000):
        hit = chance * 1000 / (n - place)
        expected += hit / (place + 1)
        chance -= hit
    assert METRICS["mrr"](y, np.zeros(n), None, np.zeros(n)) == pytest.approx(expected, rel=1e-6)


@given(seed=seeds, k=st.sampled_from([None, 1, 5]))
def test_ndcg_is_that_of_scikit_learn(seed: int, k: int | None) -> None:
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(6), rng.integers(2, 9, 6))
    y, prediction = rng.integers(0, 4, qid.shape[0]), rng.normal(size=qid.shape[0])
    gains = 2.0**y - 1.0
    expected = [
        sk.ndcg_score([gains[qid == q]], [prediction[qid == q]], k=k)
        for q in range(6)
        if gains[qid == q].any()
    ]
    assume(expected)
    metric = metric_of("ndcg" if k is None else f"ndcg@{k}")
    assert metric(y, prediction, None, qid) == pytest.approx(np.mean(expected))


@given(seed=seeds)
def test_queries_need_not_stand_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    qid, y, prediction = np.repeat(np.arange(5), 6), rng.integers(0, 3, 30), rng.normal(size=30)
    order = rng.permutation(30)
    names = np.array([f"query {q}" for q in range(5)])
    for name in ("ndcg@4", "mrr", "precision@2"):
        one = metric_of(name)(y, prediction, None, qid)
        assert metric_of(name)(y[order], prediction[order], None, names[qid[order]]) == pytest.approx(
            one, nan_ok=True
        )


def test_what_has_no_answer_is_nan() -> None:
    p = np.array([0.2, 0.7, 0.4])
    assert np.isnan(METRICS["auc"](np.ones(3), p))
    assert np.isnan(METRICS["auc"](np.array([1.0, 1.0, 0.0]), p, np.array([1.0, 1.0, 0.0])))
    assert np.isnan(METRICS["average_precision"](np.zeros(3), p))
    assert np.isnan(METRICS["r2"](np.ones(3), p))
    assert np.isnan(METRICS["ndcg"](np.zeros(3), p, None, np.zeros(3)))


def test_directions_are_known() -> None:
    greater = {name for name, metric in METRICS.items() if metric.greater_is_better}
    assert set(METRICS) - greater == {"log_loss", "rmse", "mse", "mae", "poisson_deviance"}
    assert metric_of("ndcg@5").greater_is_better
    assert metric_of("ndcg@5").name == "ndcg@5"


@pytest.mark.parametrize("name", ["nope", "auc@3", "ndcg@", "ndcg@0", "ndcg@-1", "ndcg@x", "@3", ""])
def test_unknown_names(name: str) -> None:
    with pytest.raises(ValueError, match="is unknown: give one of auc"):
        metric_of(name)


@pytest.mark.parametrize(
    ("name", "meant"), [("roc_acu", "roc_auc"), ("logloss_", "logloss"), ("ndgc@5", "ndcg")]
)
def test_names_that_are_nearly_right(name: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"is unknown: did you mean '{meant}'[?]"):
        metric_of(name)


def test_arrays_must_match() -> None:
    with pytest.raises(ValueError, match="y has 3 values, prediction 2, weight 3"):
        METRICS["rmse"](np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match="needs qid"):
        METRICS["mrr"](np.ones(3), np.ones(3))
