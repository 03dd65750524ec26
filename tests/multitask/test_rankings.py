"""Rankings of several tasks."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gtgbm import GTGBMRanker, MultitaskGTGBMRanker, compare_tasks, load_model, selection_path
from gtgbm.exact.arrays import F64, I64
from gtgbm.explain import held_out_again, permutation_importance
from gtgbm.metrics import METRICS
from tests.strategies import selects_few

METHODS = ("multitask", "group-sparse", "independent", "single-task")
SMALL: dict[str, Any] = {"n_estimators": 6, "random_state": 0, "min_node_fraction": 0.05}


def tables(n: int = 900) -> tuple[F64, I64, NDArray[Any], I64]:
    """Table, relevance, task and query; queries of different tasks have the same ids."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    task = np.array(["web", "shop", "news"])[np.arange(n) % 3]
    signal = X[:, 6] + np.where(task == "shop", X[:, 2], 0.7 * X[:, 1])
    relevance = np.clip(np.round(signal + 0.3 * rng.normal(size=n)), 0, 3).astype(np.int64)
    return X, relevance, task, rng.permutation(n) // 30


@pytest.mark.parametrize("method", METHODS)
def test_all_methods(method: str, tmp_path: Path) -> None:
    X, y, task, qid = tables()
    model = MultitaskGTGBMRanker(method=method, **SMALL).fit(X, y, task, qid=qid)
    assert model.score(X, y, qid, task=task) > 0.85
    scores = model.predict(X, task)
    model.save_model(tmp_path / "model.json")
    for other in (load_model(tmp_path / "model.json"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict(X, task), scores)
    compact = model.compact()
    np.testing.assert_array_equal(compact.predict(X[:, compact.features_], task), scores)
    np.testing.assert_array_equal(list(model.staged_predict(X, task))[-1], scores)
    np.testing.assert_allclose(model.predict_contributions(X, task).sum(axis=1), scores, atol=1e-12)
    assert model.apply(X, task).shape == (900, 6)


@pytest.mark.parametrize("method", ["multitask", "single-task"])
@selects_few
def test_features_are_selected_for_all_tasks(method: str) -> None:
    X, y, task, qid = tables(600)
    for selection in ("forward", "forward-backward"):
        model = MultitaskGTGBMRanker(method=method, selection=selection, n_features_to_select=2, **SMALL)
        model.fit(X[:, [1, 2, 6, 8]], y, task, qid=qid)
        assert set(model.selected_features_) <= {0, 1, 2}
        assert model.n_selected_features_ == 2
        assert model.score(X[:, [1, 2, 6, 8]], y, qid, task=task) > 0.85


def test_independent_tasks_are_models_of_their_rows_alone() -> None:
    X, y, task, qid = tables()
    tasks = MultitaskGTGBMRanker(group_penalty=0.0, task_penalty=0.004, **SMALL).fit(X, y, task, qid=qid)
    for name in tasks.tasks_:
        at = task == name
        alone = GTGBMRanker(penalty=0.004, **SMALL).fit(X[at], y[at], qid=qid[at])
        np.testing.assert_array_equal(tasks.predict(X[at], task[at]), alone.predict(X[at]))
        assert tasks.evals_result_[name] == alone.evals_result_


def test_one_task_is_a_single_task_model() -> None:
    X, y, _, qid = tables()
    tasks = MultitaskGTGBMRanker(group_penalty=0.002, task_penalty=0.001, **SMALL)
    alone = GTGBMRanker(penalty=0.003, **SMALL).fit(X, y, qid=qid)
    found = tasks.fit(X, y, np.zeros(900), qid=qid).predict(X, np.zeros(900))
    np.testing.assert_array_equal(found, alone.predict(X))


def test_the_one_model_ranks_within_tasks() -> None:
    X, y, task, qid = tables()
    first = MultitaskGTGBMRanker(method="single-task", **SMALL).fit(X, y, task, qid=qid)
    # The same queries with other ids in each task.
    named = np.char.add(task, qid.astype(str))
    second = MultitaskGTGBMRanker(method="single-task", **SMALL).fit(X, y, task, qid=named)
    np.testing.assert_array_equal(first.predict(X, task), second.predict(X, task))
    expected = METRICS["ndcg"](y, first.predict(X, task), None, named)
    assert first.score(X, y, qid, task=task) == pytest.approx(expected)


def test_common_trees_rank_within_tasks() -> None:
    X, y, task, qid = tables()
    first = MultitaskGTGBMRanker(n_common_rounds=3, **SMALL).fit(X, y, task, qid=qid)
    second = MultitaskGTGBMRanker(n_common_rounds=3, **SMALL)
    second.fit(X, y, task, qid=np.char.add(task, qid.astype(str)))
    np.testing.assert_array_equal(first.predict(X, task), second.predict(X, task))
    for one, other in zip(first.trees_["web"][:3], first.trees_["news"][:3], strict=True):
        np.testing.assert_array_equal(one.value, other.value)


def test_early_stopping_holds_out_whole_queries() -> None:
    X, y, task, qid = tables()
    model = MultitaskGTGBMRanker(early_stopping_rounds=3, eval_metric="ndcg@5", **SMALL)
    model.fit(X, y, task, qid=qid)
    drawn = held_out_again(model, X, y, task=task, qid=qid)
    assert drawn is not None
    for name in model.tasks_:
        at = task == name
        is_held_out = np.isin(np.arange(900), drawn)[at]
        assert not set(qid[at][is_held_out]) & set(qid[at][~is_held_out])
        assert len(set(qid[at][is_held_out])) == 3


def test_eval_sets_and_weights() -> None:
    X, y, task, qid = tables()
    weight = 1.0 + qid % 3
    at = qid >= 20
    model = MultitaskGTGBMRanker(eval_metric="ndcg", **SMALL).fit(
        X[~at],
        y[~at],
        task[~at],
        sample_weight=weight[~at],
        eval_set=(X[at], y[at]),
        qid=qid[~at],
        eval_task=task[at],
        eval_qid=qid[at],
        eval_sample_weight=weight[at],
    )
    for name in model.tasks_:
        own = at & (task == name)
        expected = METRICS["ndcg"](y[own], model.predict(X[own], task[own]), weight[own], qid[own])
        assert model.evals_result_[name]["validation_0"]["ndcg"][-1] == pytest.approx(expected)


def test_relevance_by_column() -> None:
    X, y, _, qid = tables()
    Y = np.column_stack([y, np.clip(np.round(X[:, 3]), 0, 3)]).astype(float)
    Y[qid == 4, 0] = np.nan
    model = MultitaskGTGBMRanker(**SMALL).fit(X, Y, qid=qid)
    assert model.predict(X).shape == (900, 2)
    of_tasks = [
        METRICS["ndcg"](Y[at, k], model.predict(X)[at, k], None, qid[at])
        for k, at in enumerate([qid != 4, qid >= 0])
    ]
    assert model.score(X, Y, qid) == pytest.approx(np.mean(of_tasks))
    importance = permutation_importance(model, X, Y, qid=qid, metric="ndcg")
    assert {3, 6} <= set(importance.features[importance.importances_mean > 0.01])


def test_permutation_importance_is_that_of_each_task_alone() -> None:
    X, y, task, qid = tables()
    model = MultitaskGTGBMRanker(**SMALL).fit(X, y, task, qid=qid)
    found = permutation_importance(model, X, y, qid=qid, task=task)
    assert found.features[found.importances_mean.argmax()] == 6
    place = found.features.tolist().index(2)
    assert found.task_importances["shop"][place].mean() > 10 * found.task_importances["web"][place].mean()


def test_selection_path() -> None:
    X, y, task, qid = tables()
    model = MultitaskGTGBMRanker(**SMALL)
    X = X[:, [1, 2, 6, 8]]
    path = selection_path(model, X, y, task=task, qid=qid, sizes=[1, 3], cv=2, random_state=0)
    assert path.scoring == "ndcg@10"
    assert path.features(3).tolist() == [0, 1, 2]
    assert path.best_size == 3


def test_methods_are_compared_by_ndcg() -> None:
    X, y, task, qid = tables()
    results = compare_tasks(
        MultitaskGTGBMRanker(**SMALL),
        (X[:600], y[:600], task[:600], qid[:600]),
        (X[600:], y[600:], task[600:], qid[600:]),
    )
    assert {result.metric for result in results} == {"ndcg"}
    assert all(result.total > 0.8 for result in results)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"qid": None}, "qid is missing: give the query of each row"),
        ({"qid": [1, 2]}, "qid has shape"),
        ({"y": np.full(900, -1)}, "y holds -1: relevance must be a whole number"),
        ({"sample_weight": np.linspace(1, 2, 900)}, "sample_weight of task 'web' differs within query"),
        ({"eval_set": tables()[:2], "eval_task": tables()[2]}, "eval_qid is missing"),
        ({"task": None}, "task is missing"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, Any], message: str) -> None:
    X, y, task, qid = tables()
    given = {"y": y, "task": task, "qid": qid} | changed
    with pytest.raises(ValueError, match=message):
        MultitaskGTGBMRanker(**SMALL).fit(X, **given)


def test_a_fit_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    X, y, task, qid = tables()
    whole = MultitaskGTGBMRanker(**SMALL).fit(X, y, task, qid=qid)

    def interrupt(progress: Any) -> None:
        if progress.round == 4:
            raise KeyboardInterrupt

    path = tmp_path / "state"
    with pytest.raises(KeyboardInterrupt):
        MultitaskGTGBMRanker(**SMALL).fit(X, y, task, qid=qid, callbacks=[interrupt], checkpoint=path)
    found = MultitaskGTGBMRanker(**SMALL).fit(X, y, task, qid=qid, checkpoint=path)
    np.testing.assert_array_equal(found.predict(X, task), whole.predict(X, task))


@selects_few
def test_the_number_of_features_is_chosen() -> None:
    X, y, task, qid = tables()
    model = MultitaskGTGBMRanker(**SMALL | {"n_estimators": 3, "n_features_to_select": "auto"})
    model.fit(X[:, [1, 2, 6, 8]], y, task, qid=qid)
    assert model.n_selected_features_ == model.selection_path_.one_se_size


def test_costs_groups_and_fixed_features() -> None:
    X, y, task, qid = tables()
    model = MultitaskGTGBMRanker(
        feature_costs={1: 3.0, 6: np.inf}, feature_groups=[[1, 2]], fixed_features=[4], **SMALL
    )
    model.fit(X, y, task, qid=qid)
    assert 4 in model.selected_features_
    assert 6 not in model.selected_features_
    assert model.total_cost_ >= 3.0
