"""Models are the same, byte for byte, however the rows are divided among workers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import gtgbm
from gtgbm import losses
from gtgbm.estimators import ShardedTable, TablePart
from gtgbm.exact import F64, I64
from tests.distributed.thread_shards import fit_threads, shards_of
from tests.estimators.golden_models import written
from tests.strategies import selects_few

N, D = 300, 8
SHAPE: dict[str, Any] = {"n_estimators": 4, "min_node_fraction": 0.1, "random_state": 0}
STOPPING: dict[str, Any] = {**SHAPE, "n_estimators": 15, "early_stopping_rounds": 2}
WORLD = 4
GROUPED: dict[str, Any] = {**SHAPE, "search": "group-testing"}


def table(n: int = N, d: int = D, seed: int = 0) -> tuple[F64, F64]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 2)
    X[rng.random((n, d)) < 0.05] = np.nan
    X[:, 5] = rng.integers(0, 5, n)
    clean = np.nan_to_num(X)
    return X, np.round(clean[:, 1] - clean[:, 4] + clean[:, 2] * clean[:, 3] + rng.normal(size=n), 2)


def frame(n: int = N) -> pd.DataFrame:
    X, _ = table(n)
    names = pd.DataFrame(X, columns=[f"x{k}" for k in range(D)])
    # Most workers do not see the rare category.
    city = np.random.default_rng(1).choice(["Bonn", "Aachen", "Celle"], n)
    return names.assign(city=np.where(np.arange(n) < 40, "Ulm", city))


def owners(n: int, seed: int = 0) -> I64:
    """Give long and short runs of rows to workers 0, 1 and 3; worker 2 has none."""
    rng = np.random.default_rng(seed)
    runs = rng.choice([0, 1, 3], n)
    return np.repeat(runs, rng.choice([1, 2, 40], n))[:n]


def classes(k: int = 2) -> I64:
    _, y = table()
    return np.digitize(y, np.quantile(y, np.arange(1, k) / k))


WEIGHT = np.where(np.arange(N) % 7 == 0, 0.0, np.round(np.random.default_rng(2).gamma(2.0, size=N), 2))
X, Y = table()
MODELS: dict[str, tuple[Any, Any, Any, F64 | None]] = {
    "gt classifier": (gtgbm.GTGBMClassifier(**GROUPED), X, classes(), None),
    "gt regressor": (gtgbm.GTGBMRegressor(**SHAPE), X, Y, None),
    "three classes": (gtgbm.GTGBMClassifier(**SHAPE), X, classes(3), None),
    "text classes": (gtgbm.AGBMClassifier(**SHAPE), X, np.array(["no", "yes"])[classes()], None),
    "a-gbm": (gtgbm.AGBMRegressor(**SHAPE), X, Y, None),
    "gbfs classifier": (gtgbm.GBFSClassifier(**SHAPE), X, classes(), None),
    "gbfs regressor": (gtgbm.GBFSRegressor(penalty=20.0, **SHAPE), X, Y, None),
    "paper": (gtgbm.GTGBMClassifier(test_rows=None, n_relevant=2, **GROUPED), X, classes(), None),
    "trend tests": (gtgbm.GTGBMRegressor(test_rows=100, **GROUPED), X, Y, None),
    "weights": (gtgbm.GTGBMClassifier(**GROUPED), X, classes(), WEIGHT),
    "weighted regressor": (gtgbm.AGBMRegressor(**SHAPE), X, Y, WEIGHT),
    "class weight": (gtgbm.GTGBMClassifier(class_weight="balanced", **SHAPE), X, classes(), WEIGHT),
    "newton": (gtgbm.GTGBMClassifier(criterion="newton", **SHAPE), X, classes(), WEIGHT),
    "subsample": (gtgbm.GTGBMRegressor(subsample=0.6, colsample=0.6, **SHAPE), X, Y, None),
    "quantile": (gtgbm.GTGBMRegressor(loss=losses.Quantile(0.8), **SHAPE), X, Y, None),
    "median": (gtgbm.GTGBMRegressor(loss="absolute_error", **SHAPE), X, Y, WEIGHT),
    "huber": (gtgbm.GTGBMRegressor(loss="huber", **SHAPE), X, Y, None),
    "poisson": (gtgbm.GTGBMRegressor(loss="poisson", **SHAPE), X, classes(4), None),
    "categories": (gtgbm.GTGBMRegressor(categorical_features=[5], **SHAPE), X, Y, WEIGHT),
    "dataframe": (gtgbm.GTGBMClassifier(**SHAPE), frame(), classes(), None),
    "whole categories": (gtgbm.AGBMRegressor(categorical="column", **SHAPE), frame(), Y, None),
    "held-out rows": (gtgbm.GTGBMClassifier(eval_metric="auc", **STOPPING), X, classes(), WEIGHT),
    "limit": (gtgbm.GTGBMRegressor(n_features_to_select=2, penalty=0.0, **SHAPE), X, Y, None),
    "groups": (gtgbm.AGBMRegressor(feature_groups=[[0, 1, 4], [2, 3]], penalty=0.02, **SHAPE), X, Y, None),
    "leaves": (
        gtgbm.GTGBMRegressor(max_leaf_nodes=6, l2_regularization=2.0, monotone_constraints={1: 1}, **GROUPED),
        X,
        Y,
        None,
    ),
}


def assert_same(alone: Any, together: list[Any]) -> None:
    expected = written(alone)
    for model in together:
        assert written(model) == expected


@selects_few
@pytest.mark.parametrize("name", MODELS)
def test_model_does_not_depend_on_who_has_the_rows(name: str) -> None:
    model, given_X, y, weight = MODELS[name]
    alone = clone(model).fit(given_X, y, sample_weight=weight)
    assert_same(alone, fit_threads(model, shards_of(owners(N), WORLD, given_X, y, weight=weight)))


@selects_few
@pytest.mark.usefixtures("wide_cells")
@pytest.mark.parametrize("name", ["gt classifier", "paper", "trend tests", "newton", "categories", "groups"])
def test_nor_does_a_model_of_wide_cells(name: str) -> None:
    test_model_does_not_depend_on_who_has_the_rows(name)


@selects_few
@settings(max_examples=12)
@given(owner=st.lists(st.integers(0, 2), min_size=2, max_size=40), size=st.integers(1, 30))
def test_any_division(owner: list[int], size: int) -> None:
    model = gtgbm.GTGBMClassifier(
        search="group-testing", subsample=0.8, eval_metric="auc", **{**STOPPING, "n_estimators": 4}
    )
    y = classes()
    alone = model.fit(X, y, sample_weight=WEIGHT)
    of_rows = np.resize(np.repeat(np.array(owner), size), N)
    assert_same(alone, fit_threads(model, shards_of(of_rows, 3, X, y, weight=WEIGHT)))


@pytest.mark.parametrize("metric", [None, "auc", "accuracy"])
def test_eval_sets_decide_alike(metric: str | None) -> None:
    model = gtgbm.GTGBMClassifier(eval_metric=metric, **STOPPING)
    other, of_other = table(90, seed=3)
    sets = [(other, (of_other > 0).astype(int)), (other[:50], (of_other[:50] > 0).astype(int))]
    alone = clone(model).fit(X, classes(), eval_set=sets)
    tables = [shards_of(owners(len(y), 5), WORLD, Z, y) for Z, y in sets]
    assert_same(alone, fit_threads(model, shards_of(owners(N), WORLD, X, classes()), tables))
    assert alone.n_iter_ < 15


@selects_few
@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
@pytest.mark.parametrize("stops", [False, True])
def test_rankings_of_whole_queries(loss: str, stops: bool) -> None:
    model = gtgbm.GTGBMRanker(
        loss=loss, eval_metric="ndcg" if stops else None, **STOPPING if stops else SHAPE
    )
    qid = 1000 - np.repeat(np.arange(N // 10), 10)
    owner = np.repeat(np.random.default_rng(0).choice([0, 1, 3], N // 10), 10)
    weight = np.repeat(np.random.default_rng(1).integers(1, 4, N // 10), 10).astype(np.float64)
    alone = clone(model).fit(X, classes(4), qid=qid, sample_weight=weight)
    tables = shards_of(owner, WORLD, X, classes(4), qid=qid, weight=weight)
    assert_same(alone, fit_threads(model, tables))


def test_split_queries_are_refused() -> None:
    qid = np.repeat(np.arange(N // 10), 10)
    tables = shards_of(np.arange(N) // 155, 2, X, classes(4), qid=qid)
    with pytest.raises(ValueError, match="query 15 are on several workers: put all rows of a query into one"):
        fit_threads(gtgbm.GTGBMRanker(**SHAPE), tables)


def test_what_has_no_seam_yet_is_refused() -> None:
    tables = shards_of(np.arange(N) // 150, 2, X, Y)
    with pytest.raises(TypeError, match="MultitaskGTGBMRegressor cannot be trained on several workers yet"):
        fit_threads(gtgbm.MultitaskGTGBMRegressor(), tables)
    with pytest.raises(ValueError, match="warm_start=True cannot be used on several workers"):
        fit_threads(gtgbm.GTGBMRegressor(warm_start=True), tables)
    with pytest.raises(ValueError, match="n_features_to_select='auto' cannot be used on several workers"):
        fit_threads(gtgbm.GTGBMRegressor(n_features_to_select="auto"), tables)
    sparse = pytest.importorskip("scipy.sparse")
    parts = [ShardedTable([TablePart(0, sparse.csr_matrix(np.nan_to_num(X)), Y)], N), ShardedTable([], N)]
    with pytest.raises(TypeError, match="sparse parts, which several workers cannot train on yet"):
        fit_threads(gtgbm.GTGBMRegressor(), parts)


def test_bad_rows_of_one_worker_are_everybodys_error() -> None:
    bad = Y.copy()
    bad[200] = np.nan
    with pytest.raises(ValueError, match="y contains NaN"):
        fit_threads(gtgbm.GTGBMRegressor(**SHAPE), shards_of(np.arange(N) // 150, 2, X, bad))
    tables = shards_of(np.arange(N) // 150, 2, X, Y)
    other = [tables[0], ShardedTable([TablePart(150, X[150:, :3], Y[150:])], N)]
    with pytest.raises(ValueError, match="X has other columns on some workers"):
        fit_threads(gtgbm.GTGBMRegressor(**SHAPE), other)
    with pytest.raises(ValueError, match="X has no rows on any worker"):
        fit_threads(gtgbm.GTGBMRegressor(), [ShardedTable([], 0), ShardedTable([], 0)])
    with pytest.raises(ValueError, match="sample_weight is zero everywhere"):
        fit_threads(gtgbm.GTGBMRegressor(), shards_of(np.arange(N) // 150, 2, X, Y, weight=np.zeros(N)))
