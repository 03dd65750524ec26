"""Offsets of rankers and of models of several tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gtgbm import GTGBMRanker, MultitaskGTGBMClassifier, MultitaskGTGBMRegressor
from gtgbm._core import Pool
from gtgbm.exact import FitContext, RowWeights
from gtgbm.losses import Queries, RankingLoss, Targets, WithOffset
from tests.strategies import selects_few

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5))
SIGNAL = X[:, 0] + X[:, 1] * X[:, 2]
QID = np.arange(600) // 12
RELEVANCE = np.digitize(SIGNAL, [-0.5, 0.5])
TASK = np.array(["a", "b"])[np.arange(600) % 2]
BY_TASK = np.where(TASK == "a", SIGNAL, 2.0 * X[:, 1] + X[:, 0])
BY_COLUMN = np.column_stack([SIGNAL, 2.0 * X[:, 1] + X[:, 0]])
OFFSET = 3.0 * RNG.normal(size=600) + 0.5


@pytest.mark.parametrize("loss", ["lambdarank", "pairwise"])
def test_the_score_of_a_ranker_continues_as_its_own_next_trees(loss: str) -> None:
    settings: dict[str, Any] = {"loss": loss, "fixed_features": range(5), "criterion": "residuals"}
    whole = GTGBMRanker(n_estimators=10, **settings).fit(X, RELEVANCE, qid=QID)
    first = GTGBMRanker(n_estimators=4, **settings).fit(X, RELEVANCE, qid=QID)
    rest = GTGBMRanker(n_estimators=6, **settings)
    rest.fit(X, RELEVANCE, qid=QID, offset=first.predict(X))
    together = rest.predict(X, offset=first.predict(X))
    np.testing.assert_allclose(together, whole.predict(X), rtol=1e-9, atol=1e-12)
    *_, last = rest.staged_predict(X, offset=first.predict(X))
    np.testing.assert_array_equal(last, together)


def test_a_ranker_learns_what_its_offset_leaves_over() -> None:
    """A model after a misleading offset corrects it; one that does not know of the offset cannot."""
    settings: dict[str, Any] = {"n_estimators": 60, "n_features_to_select": 4, "random_state": 0}
    wrong = -2.0 * X[:, 3]
    knows = GTGBMRanker(**settings).fit(X, RELEVANCE, qid=QID, offset=wrong)
    blind = GTGBMRanker(**settings).fit(X, RELEVANCE, qid=QID)
    assert 3 in knows.selected_features_

    def correlation(model: GTGBMRanker) -> float:
        return float(np.corrcoef(model.predict(X, offset=wrong), SIGNAL)[0, 1])

    assert correlation(knows) > correlation(blind) + 0.05


def test_eval_sets_and_held_out_queries_of_rankers_have_offsets() -> None:
    settings: dict[str, Any] = {"n_estimators": 10, "penalty": 0.0, "random_state": 0, "eval_metric": "ndcg"}
    model = GTGBMRanker(**settings).fit(
        X, RELEVANCE, qid=QID, offset=OFFSET, eval_set=(X, RELEVANCE), eval_qid=QID, eval_offset=OFFSET
    )
    losses = model.evals_result_
    assert losses["validation_0"]["lambdarank"] == pytest.approx(losses["training"]["lambdarank"], rel=1e-9)
    without = GTGBMRanker(**settings).fit(X, RELEVANCE, qid=QID, eval_set=(X, RELEVANCE), eval_qid=QID)
    assert losses["validation_0"]["ndcg"][0] < without.evals_result_["validation_0"]["ndcg"][0]
    stopped = GTGBMRanker(**settings, early_stopping_rounds=3)
    stopped.fit(X, RELEVANCE, qid=QID, offset=OFFSET)
    assert stopped.evals_result_["validation_0"]["ndcg"][0] < 0.9


def test_constants_of_a_ranking_are_computed_once_with_offsets() -> None:
    loss, context = RankingLoss(True, 30), FitContext(Pool(1))
    weights, queries = RowWeights.equal(600), Queries.of(QID)
    targets = Targets(RELEVANCE.astype(np.float64), weights, queries, OFFSET[None])
    for _ in range(3):
        WithOffset(loss).derivatives(np.zeros((1, 600)), targets, context)
    assert len(loss._constants) == 1


@pytest.mark.parametrize("method", ["multitask", "group-sparse", "independent", "single-task"])
@pytest.mark.parametrize("selection", ["forward", "forward-backward"])
@selects_few
def test_offsets_of_tasks_shift_the_target_of_a_squared_error(method: str, selection: str) -> None:
    settings: dict[str, Any] = {"n_estimators": 10, "n_features_to_select": 3, "random_state": 0}
    settings |= {"method": method, "selection": selection}
    shifted = MultitaskGTGBMRegressor(**settings).fit(X, BY_TASK, TASK)
    model = MultitaskGTGBMRegressor(**settings).fit(X, BY_TASK + OFFSET, TASK, offset=OFFSET)
    assert model.selected_features_.tolist() == shifted.selected_features_.tolist()
    np.testing.assert_allclose(model.predict(X, TASK), shifted.predict(X, TASK), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.predict(X, TASK, offset=OFFSET), model.predict(X, TASK) + OFFSET)
    *_, last = model.staged_predict(X, TASK, offset=OFFSET)
    np.testing.assert_array_equal(last, model.predict(X, TASK, offset=OFFSET))


@pytest.mark.parametrize("n_common_rounds", [0, 3])
def test_offsets_of_one_target_column_per_task(n_common_rounds: int) -> None:
    settings: dict[str, Any] = {"n_estimators": 8, "random_state": 0, "n_common_rounds": n_common_rounds}
    offset = np.column_stack([OFFSET, -OFFSET])
    y = BY_COLUMN.copy()
    y[:50, 1] = np.nan
    shifted = MultitaskGTGBMRegressor(**settings).fit(X, y)
    given = np.where(np.isnan(y), np.nan, offset)  # where there is no target, no offset is needed
    model = MultitaskGTGBMRegressor(**settings).fit(X, y + offset, offset=given)
    np.testing.assert_allclose(model.predict(X), shifted.predict(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.predict(X, offset=offset), model.predict(X) + offset)


def test_offsets_of_classes_of_tasks() -> None:
    """Trees after an offset are those that training would have grown next."""
    y = BY_TASK > 0
    settings: dict[str, Any] = {"fixed_features": range(5)}
    whole = MultitaskGTGBMClassifier(n_estimators=8, **settings).fit(X, y, TASK)
    first = MultitaskGTGBMClassifier(n_estimators=3, **settings).fit(X, y, TASK)
    known = first.decision_function(X, TASK)
    rest = MultitaskGTGBMClassifier(n_estimators=5, init="zero", **settings).fit(X, y, TASK, offset=known)
    expected = whole.predict_proba(X, TASK)
    np.testing.assert_allclose(rest.predict_proba(X, TASK, offset=known), expected, rtol=1e-9)
    np.testing.assert_allclose(
        rest.decision_function(X, TASK, offset=known), whole.decision_function(X, TASK), rtol=1e-9, atol=1e-9
    )
    assert rest.predict(X, TASK, offset=known).tolist() == whole.predict(X, TASK).tolist()
    for stage in (rest.staged_predict_proba, rest.staged_decision_function):
        assert len(list(stage(X, TASK, offset=known))) == 5
    *_, last = rest.staged_predict_proba(X, TASK, offset=known)
    np.testing.assert_allclose(last, expected, rtol=1e-9)


@selects_few
def test_eval_sets_weights_and_held_out_rows_of_tasks_have_offsets() -> None:
    y = BY_TASK + 50.0 * OFFSET
    given: dict[str, Any] = {"offset": 50.0 * OFFSET}
    settings: dict[str, Any] = {"n_estimators": 10, "random_state": 0}
    model = MultitaskGTGBMRegressor(early_stopping_rounds=5, eval_metric="rmse", **settings)
    model.fit(X, y, TASK, eval_set=(X, y), eval_task=TASK, eval_offset=50.0 * OFFSET, **given)
    assert all(of_task["validation_0"]["rmse"][0] < 5.0 for of_task in model.evals_result_.values())
    model.fit(X, y, TASK, **given)
    assert all(of_task["validation_0"]["rmse"][0] < 5.0 for of_task in model.evals_result_.values())
    kept = np.arange(600) % 3 > 0
    weighted = MultitaskGTGBMRegressor(**settings).fit(X, y, TASK, sample_weight=kept, **given)
    fewer = MultitaskGTGBMRegressor(**settings)
    fewer.fit(X[kept], y[kept], TASK[kept], offset=given["offset"][kept])
    np.testing.assert_array_equal(weighted.predict(X, TASK), fewer.predict(X, TASK))


def test_wrong_offsets_of_tasks_and_rankers() -> None:
    model = MultitaskGTGBMRegressor(n_estimators=2, random_state=0)
    for wrong, message in (
        (OFFSET[:-1], r"offset has shape \(599,\); give shape \(600,\)"),
        (np.zeros((600, 2)), r"give shape \(600,\)"),
        (np.full(600, np.inf), "offset holds NaN or infinity"),
        (["a"] * 600, "offset does not hold numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, BY_TASK, TASK, offset=wrong)
    with pytest.raises(ValueError, match="eval set, or to none"):
        model.fit(X, BY_TASK, TASK, offset=OFFSET, eval_set=(X, BY_TASK), eval_task=TASK)
    with pytest.raises(ValueError, match="eval set, or to none"):
        model.fit(X, BY_TASK, TASK, eval_set=(X, BY_TASK), eval_task=TASK, eval_offset=OFFSET)
    model.fit(X, BY_COLUMN)
    with pytest.raises(ValueError, match=r"offset has shape \(600,\); give shape \(600, 2\)"):
        model.predict(X, offset=OFFSET)
    with pytest.raises(ValueError, match=r"give shape \(600,\)"):
        GTGBMRanker(n_estimators=2).fit(X, RELEVANCE, qid=QID, offset=np.zeros((600, 2)))
