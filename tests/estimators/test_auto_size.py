"""``n_features_to_select="auto"``: the number of features is chosen by cross-validation."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from gtgbm import (
    AGBMRegressor,
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    ModelFileError,
    MultitaskGTGBMRegressor,
    load_model,
    selection_path,
)
from tests.selection.planted import PLANTED, planted

AUTO: dict[str, Any] = {
    "n_features_to_select": "auto",
    "n_estimators": 8,
    "random_state": 0,
    "n_jobs": 1,
}
X, Y = planted(n_rows=300, n_columns=12)


@pytest.fixture(scope="module")
def model() -> GTGBMRegressor:
    return GTGBMRegressor(**AUTO).fit(X, Y)


def test_the_model_is_that_of_the_number_within_one_standard_error(model: GTGBMRegressor) -> None:
    path = selection_path(GTGBMRegressor(**AUTO), X, Y, random_state=0)
    np.testing.assert_array_equal(model.selection_path_.fold_scores, path.fold_scores)
    assert model.selection_path_.one_se_size == path.one_se_size == len(PLANTED)
    assert model.selected_features_.tolist() == PLANTED
    given = GTGBMRegressor(**AUTO | {"n_features_to_select": len(PLANTED)}).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), given.predict(X))
    assert not hasattr(given, "selection_path_")
    with pytest.raises(ValueError, match="call selection_path for the features of all sizes"):
        model.selection_path_.features(2)


def test_parameters_stay_as_given(model: GTGBMRegressor) -> None:
    assert model.get_params()["n_features_to_select"] == "auto"
    assert clone(model).n_features_to_select == "auto"
    assert not hasattr(clone(model), "selection_path_")
    # A later fit with a number has no path.
    again = deepcopy(model).set_params(n_features_to_select=2).fit(X, Y)
    assert not hasattr(again, "selection_path_")


def test_progress_says_what_was_chosen_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    model = GTGBMRegressor(**AUTO, verbose=1).fit(X[:100, :4], Y[:100])
    path = model.selection_path_
    assert f"n_features_to_select='auto' is {path.one_se_size}: {path.verdict()}" in capsys.readouterr().err


def test_classes_with_weights_and_early_stopping() -> None:
    labels = np.where(Y > 0.0, "high", "low")
    weight = np.where(np.arange(300) < 260, 1.0, 0.0)
    given = AUTO | {"early_stopping_rounds": 3, "class_weight": "balanced"}
    weighted = GTGBMClassifier(**given).fit(X, labels, sample_weight=weight)
    fewer = GTGBMClassifier(**given).fit(X[:260], labels[:260])
    assert weighted.selection_path_.scoring == "auc"
    # Rows of weight 0 are no rows.
    np.testing.assert_array_equal(weighted.selection_path_.fold_scores, fewer.selection_path_.fold_scores)
    np.testing.assert_array_equal(weighted.predict_proba(X), fewer.predict_proba(X))


def test_rankings_keep_queries_together() -> None:
    qid = np.arange(300) // 10
    model = GTGBMRanker(**AUTO).fit(X, np.digitize(Y, [-1.0, 1.0]), qid=qid)
    assert model.selection_path_.scoring == "ndcg@10"
    assert set(model.selected_features_) <= set(PLANTED)
    assert model.selected_features_.shape[0] == min(model.selection_path_.one_se_size, 3)


@pytest.mark.parametrize("method", ["multitask", "single-task"])
def test_tasks_share_the_number(method: str) -> None:
    task = np.arange(300) % 2
    model = MultitaskGTGBMRegressor(**AUTO, method=method).fit(X, Y, task=task)
    assert model.selection_path_.one_se_size == len(PLANTED)
    assert model.selected_features_.tolist() == PLANTED


def test_fixed_features_and_groups_count() -> None:
    groups, fixed = [[2, 5], [0, 1]], [3, 4]
    model = GTGBMRegressor(**AUTO, feature_groups=groups, fixed_features=fixed).fit(X, Y)
    # 12 columns are 10 units, of which 2 are fixed.
    assert model.selection_path_.sizes.tolist() == [2, 3, 4, 5, 7, 9]
    assert model.selection_path_.one_se_size == 4
    assert model.selected_features_.tolist() == [2, 3, 4, 5, 11]
    estimator = GTGBMRegressor(**AUTO, feature_groups=groups, fixed_features=fixed)
    with pytest.raises(ValueError, match="sizes has 1, but 2 are fixed_features, which count too: give"):
        selection_path(estimator, X, Y, sizes=[1, 5])
    with pytest.raises(ValueError, match="sizes has 11, but X has 10 columns or groups that may be selected"):
        selection_path(estimator, X, Y, sizes=[5, 11])


def test_categories_are_features() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    place = rng.choice(list("abcdef"), 300)
    frame = pandas.DataFrame({"place": place, "noise": rng.normal(size=300)})
    target = 2.0 * (place == "a") - 2.0 * (place == "b") + 0.3 * rng.normal(size=300)
    by_category = GTGBMRegressor(**AUTO).fit(frame, target)
    assert by_category.selection_path_.sizes[-1] > 2
    assert by_category.n_selected_features_ == by_category.selection_path_.one_se_size == 2
    by_column = GTGBMRegressor(**AUTO, categorical="column").fit(frame, target)
    assert by_column.selection_path_.sizes.tolist() == [1, 2]
    assert by_column.selected_feature_names_.tolist() == ["place"]


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (AGBMRegressor(**AUTO), "AGBMRegressor selects forward: give a number, or use GTGBM"),
        (GTGBMRegressor(**AUTO, selection="forward"), "selection is 'forward': give a number, or selection="),
        (GTGBMRegressor(**AUTO, cost_budget=3.0), "cost_budget=3.0 exclude each other"),
        (MultitaskGTGBMRegressor(**AUTO, method="independent"), "method='independent' does not limit"),
        (GTGBMRegressor(**AUTO | {"n_features_to_select": "few"}), "give .*, 'auto', or None"),
    ],
)
def test_what_leaves_no_choice_is_refused(estimator: Any, message: str) -> None:
    given = {"task": np.arange(300) % 2} if isinstance(estimator, MultitaskGTGBMRegressor) else {}
    with pytest.raises((ValueError, TypeError), match=message):
        estimator.fit(X, Y, **given)


def test_offsets_are_refused() -> None:
    with pytest.raises(ValueError, match="n_features_to_select='auto' takes no offset: give a number"):
        GTGBMRegressor(**AUTO).fit(X, Y, offset=Y)


def test_a_score_that_is_not_defined_is_refused() -> None:
    rare = np.arange(300) < 1
    with (
        pytest.warns(UserWarning, match="least populated class"),
        pytest.raises(ValueError, match=r"auc is not defined for the held-out rows of fold|only one class"),
    ):
        GTGBMClassifier(**AUTO).fit(X, rare)


def test_model_files_keep_the_path(model: GTGBMRegressor, tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    model.save_model(file)
    loaded = load_model(file)
    path, kept = model.selection_path_, loaded.selection_path_
    np.testing.assert_array_equal(kept.fold_scores, path.fold_scores)
    np.testing.assert_array_equal(kept.selection_frequency, path.selection_frequency)
    assert kept.verdict() == path.verdict()
    assert kept.feature_names == path.feature_names
    # Another fit continues with the same number of features, without choosing again.
    loaded.set_params(warm_start=True, n_estimators=12).fit(X, Y)
    assert loaded.n_iter_ == 12
    assert loaded.selected_features_.tolist() == PLANTED
    np.testing.assert_array_equal(loaded.selection_path_.fold_scores, path.fold_scores)
    given = GTGBMRegressor(**AUTO | {"n_features_to_select": 2}).fit(X, Y)
    with pytest.raises(ValueError, match="warm_start=True continues with the features of the previous fit"):
        given.set_params(warm_start=True, n_features_to_select="auto").fit(X, Y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path["sizes"].reverse(), "do not ascend"),
        (lambda path: path["fold_scores"].pop(), "lacks scores or features"),
        (lambda path: path["fold_features"][0].pop(), "lacks scores or features"),
        (lambda path: path["fold_features"][0][0].append(12), "has feature 12 of 12"),
        (lambda path: path.pop("scoring"), "scoring"),
        (None, "does not match n_features_to_select"),
    ],
)
def test_broken_paths_in_files_are_refused(
    model: GTGBMRegressor, tmp_path: Path, change: Any, message: str
) -> None:
    file = tmp_path / "model.json"
    model.save_model(file)
    content = json.loads(file.read_text(encoding="utf-8"))
    if change is None:
        del content["selection_path"]
    else:
        change(content["selection_path"])
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ModelFileError, match=message):
        load_model(file)
