"""The selection path: sizes, scores, folds, features, and input that is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

from gtgbm import (
    AGBMRegressor,
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMRegressor,
    SelectionPath,
    selection_path,
)
from tests.selection.planted import PLANTED, planted

FEW: dict[str, Any] = {"n_estimators": 10, "random_state": 0, "n_jobs": 1}
GIVEN: dict[str, Any] = {"cv": 3, "random_state": 0}


@pytest.fixture(scope="module")
def path() -> SelectionPath:
    X, y = planted(n_rows=400)
    return selection_path(GTGBMRegressor(**FEW), X, y, sizes=[1, 2, 3, 4, 6], **GIVEN)


def test_the_size_of_what_matters_is_found(path: SelectionPath) -> None:
    assert path.sizes.tolist() == [1, 2, 3, 4, 6]
    assert path.one_se_size == len(PLANTED) <= path.best_size
    assert path.features(len(PLANTED)).tolist() == PLANTED
    assert path.names(len(PLANTED)) == [f"x{column}" for column in PLANTED]
    assert np.all(np.diff(path.mean_score[:3]) > path.std_error[:2])
    assert f"{len(PLANTED)} features" in path.verdict()
    assert path.scoring == "r2"


def test_figures_agree_with_the_folds(path: SelectionPath) -> None:
    assert path.fold_scores.shape == (3, 5)
    np.testing.assert_allclose(path.mean_score, path.fold_scores.mean(axis=0))
    np.testing.assert_allclose(path.std_error, path.fold_scores.std(axis=0, ddof=1) / np.sqrt(3))
    assert path.selection_frequency.shape == (5, len(path.feature_names))
    # The trees of the last fits may leave out a feature without any signal.
    np.testing.assert_allclose(path.selection_frequency.sum(axis=1)[:4], path.sizes[:4])
    assert path.sizes[4] - 1 <= path.selection_frequency.sum(axis=1)[4] <= path.sizes[4]
    np.testing.assert_allclose(path.selection_frequency[2, PLANTED], 1.0)
    assert path.stability[2] == pytest.approx(1.0)
    assert all(-0.5 <= value <= 1.0 for value in path.stability)


def test_models_are_those_of_the_selected_columns_alone() -> None:
    X, y = planted(n_rows=300)
    first, second = GTGBMRegressor(**FEW)._fit_sizes([3, 2], X, y)
    for model, size in ((first, 3), (second, 2)):
        assert model.get_params()["n_features_to_select"] == model.n_selected_features_ == size
        alone = AGBMRegressor(**FEW, penalty=0.0)
        columns = model.selected_features_
        np.testing.assert_array_equal(model.predict(X), alone.fit(X[:, columns], y).predict(X[:, columns]))
    assert set(second.selected_features_) < set(first.selected_features_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scorers_weights_and_splitters(n_jobs: int) -> None:
    X, y = planted(n_rows=300)
    labels, weight = np.where(y > np.median(y), "yes", "no"), np.random.default_rng(0).uniform(1, 2, 300)
    model = GTGBMClassifier(**FEW)

    def scorer(fitted: Any, X: Any, y: Any, sample_weight: Any) -> float:
        chance = fitted.predict_proba(X)[:, 1]
        return float(roc_auc_score(y, chance, sample_weight=sample_weight))

    splitter = StratifiedKFold(2, shuffle=True, random_state=1)
    given: dict[str, Any] = {"cv": splitter, "sizes": [3], "sample_weight": weight, "n_jobs": n_jobs}
    by_metric = selection_path(model, X, labels, **given)
    assert by_metric.scoring == "auc"
    for scoring in ["roc_auc"] if n_jobs == 2 else [scorer]:
        by_scorer = selection_path(model, X, labels, scoring=scoring, **given)
        np.testing.assert_allclose(by_scorer.fold_scores, by_metric.fold_scores)


def test_losses_are_negated() -> None:
    X, y = planted(n_rows=200)
    path = selection_path(GTGBMRegressor(**FEW), X, y, sizes=[2], scoring="rmse", cv=2)
    assert path.scoring == "-rmse"
    assert path.mean_score[0] < 0.0


def test_tables_of_all_kinds_have_the_same_path() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = planted(n_rows=200)
    X = np.where(np.abs(X) < 0.3, 0.0, X)[:, :16]
    names = [f"c{k}" for k in range(X.shape[1])]
    frame = pandas.DataFrame(X, columns=names)
    paths = [
        selection_path(GTGBMRegressor(**FEW | {"n_estimators": 3}), table, y, sizes=[3], cv=2, random_state=0)
        for table in (X, frame, polars.from_pandas(frame), sparse.csr_matrix(X), sparse.csc_matrix(X))
    ]
    for other in paths[1:]:
        np.testing.assert_array_equal(other.fold_scores, paths[0].fold_scores)
        np.testing.assert_array_equal(other.features(3), paths[0].features(3))
    assert paths[1].names(3) == paths[2].names(3) == [names[column] for column in paths[0].features(3)]


def test_rankings_keep_queries_together() -> None:
    X, y = planted(n_rows=400)
    relevance, qid = np.digitize(y, [-1.0, 1.0]), np.arange(400) // 10
    model = GTGBMRanker(**FEW)
    path = selection_path(model, X, relevance, qid=qid, sizes=[1, 3], cv=2, random_state=0)
    assert path.scoring == "ndcg@10"
    assert path.mean_score[1] > path.mean_score[0]
    grouped = selection_path(model, X, relevance, qid=qid, groups=qid, sizes=[3], cv=GroupKFold(2))
    assert grouped.mean_score.shape == (1,)
    with pytest.raises(ValueError, match="divides a query between"):
        selection_path(model, X, relevance, qid=qid, sizes=[3], cv=KFold(7))
    with pytest.raises(ValueError, match="groups divides a query"):
        selection_path(model, X, relevance, qid=qid, sizes=[3], groups=np.arange(400) % 5)
    with pytest.raises(ValueError, match="GTGBMRanker needs qid"):
        selection_path(model, X, relevance)


def test_tasks_share_the_sizes() -> None:
    X, y = planted(n_rows=400)
    task = np.arange(400) % 2
    model = MultitaskGTGBMRegressor(**FEW)
    path = selection_path(model, X, y, task=task, sizes=[1, 3], cv=2, random_state=0)
    assert path.features(3).tolist() == PLANTED
    assert path.mean_score[1] > path.mean_score[0]
    by_column = np.where(task[:, None] == [0, 1], y[:, None], np.nan)
    other = selection_path(model, X, by_column, sizes=[3], cv=2, random_state=0)
    assert other.features(3).tolist() == PLANTED


def test_sizes_by_default_reach_all_columns_of_a_small_table() -> None:
    X, y = planted(n_rows=200)
    path = selection_path(GTGBMRegressor(n_estimators=3, n_jobs=1), X[:, :12], y, **GIVEN)
    assert path.sizes.tolist() == [1, 2, 3, 4, 5, 7, 9, 12]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sizes": [0, 2]}, "sizes has 0: give numbers of at least 1"),
        ({"sizes": [2, 999]}, r"sizes has 999, but X has"),
        ({"sizes": []}, r"sizes=\[\] must be a list of whole numbers"),
        ({"sizes": [1.5]}, r"sizes=\[1.5\] must be a list of whole numbers"),
        ({"cv": [(np.arange(50), np.arange(50, 100))]}, r"has 1 folds: a standard error needs at least 2"),
        ({"qid": np.zeros(100)}, "GTGBMRegressor takes no qid"),
        ({"task": np.zeros(100)}, "GTGBMRegressor takes no task"),
        ({"sample_weight": np.ones(99)}, "inconsistent numbers of samples"),
        ({"scoring": "acuracy"}, "accuracy"),
        ({"cv": 10, "X": 12}, "training rows .* are too few"),
    ],
    ids=str,
)
def test_bad_input_is_refused(given: dict[str, Any], message: str) -> None:
    X, y = planted(n_rows=given.pop("X", 100))
    with pytest.raises(ValueError, match=message):
        selection_path(GTGBMRegressor(**FEW), X, y, **{"sizes": [2], **given})


def test_other_estimators_are_refused() -> None:
    with pytest.raises(TypeError, match="estimator=object is none of gtgbm"):
        selection_path(object(), np.ones((5, 2)), np.ones(5))
