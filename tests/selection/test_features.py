"""Features: columns and categories, of which one is the missing values; forests with a column for each."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gtgbm import AGBMRegressor, _core
from gtgbm.selection.features import Feature, FeatureForest, _numbered, owning


def test_missing_values_are_one_category() -> None:
    assert Feature.of(3, None) == Feature(3)
    assert Feature.of(3, math.nan) == Feature.of(3, float("nan")) == Feature(3, True, None)
    assert len({Feature.of(3, math.nan), Feature.of(3, float("nan")), Feature.of(3, None)}) == 2
    assert Feature.of(3, 2) == Feature(3, True, 2.0)
    assert math.isnan(Feature.of(3, math.nan).entry(0.5).category or 0.0)
    assert Feature.of(3, 2.0).entry(0.5).category == 2.0
    assert Feature(3).entry(0.5).category is None
    entries = owning(np.zeros(1), [Feature(1), Feature.of(2, 4.0)]).history
    assert [(entry.feature, entry.category) for entry in entries] == [(1, None), (2, 4.0)]
    assert [entry.price for entry in entries] == [0.0, 0.0]


@given(
    pairs=st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([0.0, -0.0, 1.0, math.nan, -math.nan, math.inf])),
        max_size=30,
    )
)
def test_features_are_numbered_in_the_order_in_which_they_occur(pairs: list[tuple[int, float]]) -> None:
    number: dict[Feature, int] = {}
    expected = [number.setdefault(Feature.of(*pair), len(number)) for pair in pairs]
    column = np.array([pair[0] for pair in pairs], dtype=np.int64)
    first, found = _numbered(column, np.array([pair[1] for pair in pairs], dtype=np.float64))
    assert found.tolist() == expected
    assert [Feature.of(*pairs[place]) for place in first] == list(number)


def test_a_forest_of_features_has_the_scores_of_the_model() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    X[:, 1] = rng.integers(0, 5, 600)
    X[::6, 1] = np.nan
    y = X[:, 0] + 2.0 * np.isnan(X[:, 1]) - 2.0 * (X[:, 1] == 3) + 0.1 * rng.normal(size=600)
    estimator = AGBMRegressor(n_estimators=10, categorical_features=[1]).fit(X, y)
    found = FeatureForest.of(estimator._models[None])
    named = {(entry.feature, str(entry.category)) for entry in estimator.selection_history_}
    assert {(1, "nan"), (1, "3.0"), (0, "None")} <= named
    of_forest = {
        (feature.column, "None" if not feature.is_category else str(feature.category or math.nan))
        for feature in found.features
        if feature.category != 0.0
    }
    assert of_forest == {name for name in named if name[1] != "0.0"}
    assert found.columns.tolist() == [feature.column for feature in found.features]
    pool = _core.Pool(1)
    np.testing.assert_array_equal(found.forest.scores(X, pool, found.columns)[0], estimator.predict(X))
    gains = np.zeros(4)
    np.add.at(gains, found.columns, found.gains)
    np.testing.assert_allclose(gains / gains.sum(), estimator.feature_importances_, rtol=1e-9)
    # Permuting one category of a column leaves its other categories as they are.
    donor = rng.permutation(600)
    at = found.features.index(Feature.of(1, math.nan))
    changes = list(found.forest.score_changes(X, donor, pool, np.array([at]), found.columns))
    same = np.isnan(X[:, 1]) == np.isnan(X[donor, 1])
    assert (changes[0][0][same] == 0.0).all()
    assert (changes[0][0][~same] != 0.0).any()
