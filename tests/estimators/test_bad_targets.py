"""Targets, weights, queries and eval sets that cannot be: each is refused by an error that names it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gtgbm import AGBMClassifier, AGBMRegressor, GBFSRegressor, GTGBMClassifier, GTGBMRanker, GTGBMRegressor
from gtgbm.exact.arrays import F64, I64
from gtgbm.losses import Poisson, Tweedie

N = 120
METHODS = [AGBMRegressor, GTGBMRegressor, GBFSRegressor, AGBMClassifier, GTGBMClassifier, GTGBMRanker]
methods = pytest.mark.parametrize("method", METHODS)


def data(n_columns: int = 4) -> tuple[F64, I64]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, n_columns))
    return X, (X[:, 0] > 0).astype(np.int64)


def fit(
    method: Any, settings: dict[str, Any] | None = None, y: Any = None, X: Any = None, **more: Any
) -> Any:
    """Fit a small model; rankers get queries."""
    table, target = data()
    if method is GTGBMRanker:
        more = {"qid": np.arange(N) // 10} | more
        if "eval_set" in more and "eval_qid" not in more:
            more["eval_qid"] = np.arange(N) // 10
    model = method(n_estimators=3, **(settings or {}))
    return model.fit(table if X is None else X, target if y is None else y, **more)


def assert_refused(
    method: Any, *parts: str, error: type[Exception] | tuple[type[Exception], ...] = ValueError, **more: Any
) -> None:
    with pytest.raises(error) as refused:
        fit(method, **more)
    for part in parts:
        assert part in str(refused.value), f"{part!r} is not in: {refused.value}"


@methods
def test_what_all_of_this_is_about_works(method: Any) -> None:
    X, y = data()
    model = fit(method, sample_weight=np.full(N, 2.0), eval_set=(X, y), eval_sample_weight=np.full(N, 3.0))
    assert model.n_iter_ == 3


def last(value: float) -> F64:
    y = data()[1].astype(np.float64)
    y[-1] = value
    return y


@pytest.mark.parametrize("loss", ["poisson", "tweedie", Poisson(), Tweedie(1.2)], ids=str)
def test_targets_of_counts(loss: Any) -> None:
    X, y = data()
    name = loss if isinstance(loss, str) else loss.name
    settings = {"loss": loss}
    assert_refused(AGBMRegressor, "y holds -0.5", f"loss={name!r}", settings=settings, y=last(-0.5))
    assert_refused(AGBMRegressor, "y is 0 everywhere", f"loss={name!r}", settings=settings, y=np.zeros(N))
    sets = [(X, y), (X, last(-2.0))]
    assert_refused(
        AGBMRegressor, "eval_set[1]: y holds -2", f"loss={name!r}", settings=settings, eval_set=sets
    )
    # Zeros alone are no reason to refuse validation.
    assert fit(AGBMRegressor, settings, eval_set=(X, np.zeros(N))).n_iter_ == 3


# Once: rows without weight are not left out before targets are checked, and the model starts from log(0).
@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
def test_counts_whose_weight_is_all_on_zeros(loss: str) -> None:
    y = data()[1]
    weight = (y == 0) * 1.0
    assert_refused(AGBMRegressor, "0 everywhere", settings={"loss": loss}, y=y, sample_weight=weight)


@pytest.mark.parametrize("bad", [-1.0, 0.5, 32.0, 1e9])
def test_relevance(bad: float) -> None:
    X, _ = data()
    assert_refused(GTGBMRanker, f"y holds {bad:g}", "whole number, 0 to 31", y=last(bad))
    assert_refused(GTGBMRanker, f"eval_set[0]: y holds {bad:g}", eval_set=(X, last(bad)))
    with pytest.raises(ValueError, match="whole number, 0 to 31"):
        fit(GTGBMRanker).score(X, last(bad), np.arange(N) // 10)


@methods
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_targets_that_are_no_numbers(method: Any, bad: float) -> None:
    X, _ = data()
    assert_refused(method, "y", y=last(bad))
    assert_refused(method, "eval_set[0]: y", eval_set=[(X, last(bad))])


def test_queries() -> None:
    assert_refused(GTGBMRanker, "qid is missing", qid=None)
    assert_refused(GTGBMRanker, "qid has shape (119,)", "(120,)", qid=np.zeros(119))
    assert_refused(GTGBMRanker, "qid has shape (120, 1)", qid=np.zeros((N, 1)))
    assert_refused(GTGBMRanker, "qid holds NaN", qid=np.where(np.arange(N) == 5, np.nan, 1.0))


# Once: a TypeError of numpy's, about "<", for ids that cannot be sorted.
@pytest.mark.parametrize("absent", [None, np.nan])
def test_queries_without_a_name(absent: Any) -> None:
    ids = np.array(["a", "b", absent, "c"] * 30, dtype=object)
    assert_refused(GTGBMRanker, "qid", qid=ids, error=(ValueError, TypeError))


def test_queries_of_eval_sets() -> None:
    X, y = data()
    sets, qid = [(X, y), (X, y)], np.arange(N) // 10
    assert_refused(GTGBMRanker, "eval_qid[0] is missing", eval_set=sets, eval_qid=None)
    assert_refused(GTGBMRanker, "eval_qid[1] is missing", eval_set=sets, eval_qid=[qid, None])
    assert_refused(GTGBMRanker, "eval_qid must be a list", "2", eval_set=sets, eval_qid=[qid])
    assert_refused(GTGBMRanker, "eval_qid must be a list", "2", eval_set=sets, eval_qid=qid)
    assert_refused(GTGBMRanker, "eval_qid[0] has shape (5,)", eval_set=(X, y), eval_qid=qid[:5])
    bad = np.where(np.arange(N) == 5, np.nan, 1.0)
    assert_refused(GTGBMRanker, "eval_qid[0] holds NaN", eval_set=(X, y), eval_qid=bad)


@methods
def test_weights(method: Any) -> None:
    one = np.ones(N)
    for bad in (-1.0, np.nan, np.inf):
        weight = np.where(np.arange(N) // 10 == 5, bad, 1.0)
        assert_refused(method, "sample_weight holds NaN, infinity or a negative", sample_weight=weight)
    assert_refused(method, "sample_weight has shape (119,)", "(120,)", sample_weight=one[1:])
    assert_refused(method, "sample_weight has shape (120, 1)", sample_weight=one[:, None])
    assert_refused(method, "sample_weight is zero everywhere", sample_weight=0.0 * one)
    assert_refused(method, "sample_weight is zero everywhere", sample_weight=0)
    assert_refused(method, "sample_weight does not hold numbers", sample_weight=["heavy"] * N)


@methods
def test_weights_of_eval_sets(method: Any) -> None:
    X, y = data()
    bad = np.where(np.arange(N) // 10 == 5, -1.0, 1.0)
    more: dict[str, Any] = {"eval_set": [(X, y), (X, y)]}
    if method is GTGBMRanker:
        more["eval_qid"] = [np.arange(N) // 10] * 2
    assert_refused(method, "eval_sample_weight[1] holds NaN", eval_sample_weight=[None, bad], **more)
    assert_refused(
        method, "eval_sample_weight[0] has shape (3,)", eval_sample_weight=[[1, 2, 3], None], **more
    )
    assert_refused(method, "eval_sample_weight[1] is zero", eval_sample_weight=[None, 0 * bad], **more)
    assert_refused(method, "eval_sample_weight must be a list", eval_sample_weight=[bad], **more)
    assert_refused(method, "eval_sample_weight must be a list", eval_sample_weight=[np.ones(N)])


def test_weights_within_a_query() -> None:
    assert_refused(GTGBMRanker, "sample_weight differs within query", sample_weight=1.0 + np.arange(N) % 2)


# Once: those of eval sets are not looked at, and the first row's is taken for the whole query.
def test_weights_within_a_query_of_an_eval_set() -> None:
    X, y = data()
    weight = 1.0 + np.arange(N) % 2
    assert_refused(GTGBMRanker, "eval_sample_weight[0]", "query", eval_set=(X, y), eval_sample_weight=weight)


@methods
def test_eval_sets(method: Any) -> None:
    X, y = data()
    assert_refused(method, "eval_set[0]", "3 features", "4 features", eval_set=(X[:, :3], y))
    good: dict[str, Any] = {"eval_qid": [np.arange(N) // 10] * 2} if method is GTGBMRanker else {}
    assert_refused(method, "eval_set[1]", "3 features", eval_set=[(X, y), (X[:, :3], y)], **good)
    assert_refused(method, "eval_set[0]: X has 120 rows, y 119", eval_set=(X, y[1:]))
    assert_refused(method, "eval_set must be one pair (X, y) or a list", eval_set=X)
    assert_refused(method, "eval_set must be one pair (X, y) or a list", eval_set=[X, y])
    assert_refused(method, "eval_set must be one pair (X, y) or a list", eval_set=[(X, y, y)])


@pytest.mark.parametrize("method", [AGBMClassifier, GTGBMClassifier])
def test_classes_that_training_did_not_see(method: Any) -> None:
    X, y = data()
    assert_refused(method, "eval_set[0]: y has classes", "[7]", eval_set=(X, np.where(y > 0, 7, 0)))


@methods
def test_metrics(method: Any) -> None:
    assert_refused(method, "metric 'nope' is unknown", "auc", settings={"eval_metric": "nope"})
    assert_refused(method, "eval_metric", "3", settings={"eval_metric": 3}, error=TypeError)
    assert_refused(method, "eval_metric", "'mae' twice", settings={"eval_metric": ["mae", "mae"]})
    if method is not GTGBMRanker:
        for name in ("ndcg", "mrr@5"):
            assert_refused(method, f"eval_metric={name!r}", "rankings", settings={"eval_metric": name})


# Once: the error says "metric 'nope'", not which parameter has it.
def test_unknown_metrics_are_named_with_their_parameter() -> None:
    assert_refused(AGBMRegressor, "eval_metric", "'nope'", settings={"eval_metric": "nope"})


# Once: metrics of one number per row meet probabilities (n, 3): an IndexError for 'auc', numpy's complaint
# about shapes for 'rmse'. (Of a regressor 'auc' and 'accuracy' are followed though they mean nothing.)
@pytest.mark.parametrize("name", ["auc", "average_precision", "rmse", "r2"])
def test_metrics_that_do_not_go_with_many_classes(name: str) -> None:
    X, _ = data()
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    assert_refused(
        AGBMClassifier, "eval_metric", name, settings={"eval_metric": name}, X=X, y=y, eval_set=(X, y)
    )


@methods
def test_losses(method: Any) -> None:
    for bad in ("nope", None, 3, object()):
        assert_refused(method, "loss=", settings={"loss": bad})


# Once: a class is taken for an object of it, and fails deep inside.
@pytest.mark.parametrize("method", [AGBMRegressor, AGBMClassifier])
def test_a_loss_whose_brackets_were_forgotten(method: Any) -> None:
    assert_refused(method, "loss=", settings={"loss": Poisson}, error=(ValueError, TypeError))


@methods
@pytest.mark.parametrize("name", ["subsample", "colsample"])
@pytest.mark.parametrize("bad", [0, 0.0, -0.5, 2, 1.01, np.nan, "half", True, None])
def test_shares(method: Any, name: str, bad: Any) -> None:
    kind = ValueError if isinstance(bad, int | float) and bad is not True else TypeError
    assert_refused(method, f"{name}={bad!r}", "(0, 1]", settings={name: bad}, error=kind)


@methods
def test_callbacks(method: Any) -> None:
    assert_refused(method, "callbacks=", "not a list", callbacks=print, error=TypeError)
    assert_refused(method, "callbacks holds 3", callbacks=[print, 3], error=TypeError)


@pytest.mark.parametrize("method", [AGBMClassifier, GTGBMClassifier])
def test_class_weights(method: Any) -> None:
    assert_refused(method, "class_weight='even'", settings={"class_weight": "even"})
    assert_refused(method, "class_weight={5: 1.0}", settings={"class_weight": {5: 1.0}})
    assert_refused(method, "class_weight", "negative", settings={"class_weight": {0: -1.0}})


def test_truncation_level() -> None:
    assert_refused(GTGBMRanker, "truncation_level=0", settings={"truncation_level": 0})
    assert_refused(GTGBMRanker, "truncation_level=1.5", settings={"truncation_level": 1.5}, error=TypeError)


def test_too_few_queries_to_hold_some_out() -> None:
    settings = {"early_stopping_rounds": 2}
    assert_refused(
        GTGBMRanker, "validation_fraction=0.1 of 2 queries", settings=settings, qid=np.arange(N) // 60
    )
