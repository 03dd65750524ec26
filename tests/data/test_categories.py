"""Categorical columns: every category is a feature of its own, one against all others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from gtgbm import AGBMClassifier, AGBMRegressor, GTGBMClassifier, GTGBMRegressor
from gtgbm.exact.arrays import F64, I64
from tests.estimators.test_determinism import assert_same_model


def table(n_rows: int = 2000, n_categories: int = 12, seed: int = 0) -> tuple[F64, F64]:
    """Make two numbers and two categorical columns (1 and 3); categories 3 and 7 of column 1 matter."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[:, 1] = rng.integers(0, n_categories, n_rows)
    X[:, 3] = rng.integers(0, 5, n_rows) * 10.0
    y = X[:, 0] + 2.0 * (X[:, 1] == 3) - 1.5 * (X[:, 1] == 7) + 0.5 * (X[:, 3] == 20.0)
    return X, y + 0.1 * rng.normal(size=n_rows)


def one_hot(X: F64, columns: list[int]) -> tuple[F64, list[tuple[int, float]]]:
    """Spell categories out as 0/1 columns after the numbers; returns what each column stands for."""
    parts, names = [], []
    for column in range(X.shape[1]):
        if column in columns:
            for value in np.unique(X[:, column]):
                parts.append((X[:, column] == value).astype(np.float64))
                names.append((column, float(value)))
    numbers = [c for c in range(X.shape[1]) if c not in columns]
    return np.column_stack([X[:, numbers], *parts]), [(c, np.nan) for c in numbers] + names


@pytest.mark.parametrize("penalty", [0.0, 0.01])
@pytest.mark.parametrize("method", [AGBMRegressor, AGBMClassifier])
def test_the_same_splits_as_one_hot_columns(method: Any, penalty: float) -> None:
    X, y = table()
    target = y > y.mean() if method is AGBMClassifier else y
    model = method(n_estimators=10, penalty=penalty, categorical_features=[1, 3]).fit(X, target)
    spelt_out, names = one_hot(X, [1, 3])
    reference = method(n_estimators=10, penalty=penalty).fit(spelt_out, target)
    bought = [(e.feature, np.nan if e.category is None else e.category) for e in model.selection_history_]
    expected = [names[e.feature] for e in reference.selection_history_]
    np.testing.assert_array_equal(bought, expected)
    np.testing.assert_allclose(model.predict(X), reference.predict(spelt_out), rtol=1e-9)


def test_what_was_bought() -> None:
    X, y = table()
    model = GTGBMRegressor(n_estimators=20, penalty=0.005, categorical_features=[1, 3]).fit(X, y)
    assert model.selected_categories_[1][:2] == [3.0, 7.0]
    assert model.selected_categories_.keys() <= {1, 3}
    assert model.n_selected_features_ == len(model.selection_history_)
    assert model.n_selected_features_ > len(model.selected_features_)
    assert sorted(set(model.selected_features_)) == sorted(model.selected_features_)
    assert model.transform(X).shape == (X.shape[0], len(model.selected_features_))
    assert model.feature_importances_.shape == (4,)


def test_limit_counts_categories() -> None:
    X, y = table(n_categories=40)
    given: dict[str, Any] = {"penalty": 0.0, "categorical_features": [1, 3]}
    model = GTGBMRegressor(n_features_to_select=5, selection="forward", **given).fit(X, y)
    assert model.n_selected_features_ == 5
    model = GTGBMRegressor(n_features_to_select=4, selection="forward-backward", **given).fit(X, y)
    assert model.selected_categories_ == {1: [3.0, 7.0], 3: [20.0]}
    assert model.n_selected_features_ == 4


def test_missing_and_unseen_categories() -> None:
    X, y = table()
    rng = np.random.default_rng(1)
    missing = rng.random(X.shape[0]) < 0.2
    X[missing, 1] = np.nan
    y[missing] += 3.0
    model = AGBMRegressor(n_estimators=30, penalty=0.001, categorical_features=[1]).fit(X, y)
    assert any(np.isnan(category) for category in model.selected_categories_[1])
    row = X[:1].copy()
    row[0, 1] = np.nan
    as_missing = model.predict(row)[0]
    row[0, 1] = 1.0
    as_seen = model.predict(row)[0]
    row[0, 1] = 99.0
    assert as_missing > as_seen + 2.0
    assert abs(model.predict(row)[0] - as_seen) < 1.0, "an unseen category is like one that does not matter"


def test_many_categories() -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 1000, (20_000, 1)).astype(np.float64)
    y = (X[:, 0] == 700) * 5.0 + (X[:, 0] == 3) * 4.0 + 0.01 * rng.normal(size=20_000)
    model = AGBMRegressor(
        n_estimators=20, penalty=0.01, categorical_features=[0], min_samples_leaf=5, min_node_fraction=0.0
    ).fit(X, y)
    assert set(model.selected_categories_[0]) == {700.0, 3.0}


def test_masks_names_and_sparse_tables() -> None:
    X, y = table()
    expected = GTGBMRegressor(n_estimators=5, categorical_features=[1, 3]).fit(X, y)
    mask = GTGBMRegressor(n_estimators=5, categorical_features=[False, True, False, True]).fit(X, y)
    assert_same_model(expected, mask)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    assert_same_model(expected, GTGBMRegressor(n_estimators=5, categorical_features=["b", "d"]).fit(frame, y))
    sparse_model = GTGBMRegressor(n_estimators=5, categorical_features=[1, 3], search=expected.search_)
    assert_same_model(expected, sparse_model.fit(sparse.csr_matrix(X), y))


@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_any_number_of_threads(search: str) -> None:
    X, y = table(30_000)
    models = [
        GTGBMClassifier(
            n_estimators=5,
            penalty=0.0003,
            categorical_features=[1, 3],
            n_jobs=k,
            search=search,
            random_state=0,
        ).fit(X, y > 0)
        for k in (1, 2, 3)
    ]
    assert_same_model(models[0], models[1])
    assert_same_model(models[0], models[2])


def test_only_categories() -> None:
    X, y = table()
    model = GTGBMRegressor(n_estimators=5, categorical_features=[0, 1]).fit(X[:, [1, 3]], y)
    assert model.search_ == "exhaustive"
    assert model.n_selected_features_ >= 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("a", ("is not a list", "column indices")),
        ([4], ("4", "from 0 to 3")),
        ([-1], ("-1", "from 0 to 3")),
        ([True, False], ("mask of 2", "4")),
        (["b"], ("'b'", "not names of columns")),
        ([1.5], ("1.5",)),
        (7, ("is not a list",)),
    ],
)
def test_bad_columns(given: Any, words: tuple[str, ...]) -> None:
    X, y = table(100)
    with pytest.raises((ValueError, TypeError)) as error:
        GTGBMRegressor(categorical_features=given).fit(X, y)
    for word in ("categorical_features", *words):
        assert word in str(error.value)


def test_codes_cover_every_row() -> None:
    from gtgbm.data.categories import encode_categories

    rng = np.random.default_rng(3)
    values: I64 = rng.integers(0, 600, (5000, 1))
    columns = encode_categories(values.astype(np.float64), [0], np.empty(0, dtype=np.int64), 3, 1)
    assert len(columns) == 3
    assert columns[1].first_feature == columns[0].end_feature
    counted = np.bincount(values[:, 0])
    for column in columns:
        for code in range(1, column.values.shape[0]):
            assert (column.codes == code).sum() == counted[int(column.values[code])] >= 3
