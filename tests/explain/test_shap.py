"""Contributions as the package shap knows them. It is large: without it these tests are skipped by name."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gtgbm import GTGBMClassifier, GTGBMRegressor
from gtgbm.explain import shap_explanation

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6))
X[RNG.random(X.shape) < 0.1] = np.nan
SIGNAL = np.nan_to_num(X[:, 0] + X[:, 1] * X[:, 2])


def imported_shap() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its import warns with newer versions of matplotlib
        return pytest.importorskip("shap", reason="shap is not installed")


@pytest.mark.filterwarnings("ignore:LightGBM binary classifier")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_tree_explainer_on_the_exported_model_agrees() -> None:
    shap = imported_shap()
    model = GTGBMClassifier(n_estimators=20, random_state=0).fit(X, SIGNAL > 0)
    explainer = shap.TreeExplainer(model.to_lightgbm())
    values = np.asarray(explainer.shap_values(X))
    found = model.predict_contributions(X)
    np.testing.assert_allclose(found[:, :-1], values, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[:, -1], explainer.expected_value, rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore:LightGBM binary classifier")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_interactions_agree() -> None:
    shap = imported_shap()
    model = GTGBMRegressor(n_estimators=20, random_state=0).fit(X, SIGNAL)
    values = np.asarray(shap.TreeExplainer(model.to_lightgbm()).shap_interaction_values(X[:60]))
    found = model.predict_contributions(X[:60], interactions=True)
    assert np.abs(found[:, 1, 2]).mean() > 0.03, "the target multiplies columns 1 and 2"
    np.testing.assert_allclose(found[:, :-1, :-1], values, rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_interventional_values_agree() -> None:
    shap = imported_shap()
    model = GTGBMRegressor(n_estimators=20, random_state=0).fit(X, SIGNAL)
    explainer = shap.TreeExplainer(model.to_lightgbm(), data=X[:30], feature_perturbation="interventional")
    values = np.asarray(explainer.shap_values(X[30:60], check_additivity=False))
    found = model.predict_contributions(X[30:60], background=X[:30])
    np.testing.assert_allclose(found[:, :-1], values, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("y", "shape"), [(SIGNAL, ()), (np.digitize(SIGNAL, [-1, 1]), (3,))])
def test_explanations_have_the_shape_that_shap_plots(y: Any, shape: tuple[int, ...]) -> None:
    imported_shap()
    estimator = GTGBMClassifier if shape else GTGBMRegressor
    model = estimator(n_estimators=8, n_features_to_select=2, random_state=0).fit(X, y)
    found = shap_explanation(model, X)
    assert found.values.shape == (300, 2, *shape)
    assert found.base_values.shape == (300, *shape)
    assert found.feature_names == [f"x{column}" for column in model.selected_features_]
    np.testing.assert_array_equal(found.data, X[:, model.selected_features_])
    scores = model.decision_function(X) if shape else model.predict(X)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, scores, rtol=0, atol=1e-12)


def test_beeswarm_and_waterfall_draw_explanations_of_dataframes() -> None:
    shap, pyplot = imported_shap(), pytest.importorskip("matplotlib.pyplot")
    frame = pd.DataFrame({"size": X[:, 0], "town": np.array(["Ulm", "Bonn"])[np.arange(300) % 2]})
    model = GTGBMRegressor(n_estimators=8, random_state=0).fit(
        frame, np.nan_to_num(X[:, 0]) + (frame["town"] == "Ulm")
    )
    found = shap_explanation(model, frame)
    assert found.feature_names == ["size", "town"]
    for draw, shown in ((shap.plots.beeswarm, found), (shap.plots.waterfall, found[0])):
        draw(shown, show=False)
        assert pyplot.gcf().axes
        pyplot.close("all")


def test_shap_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shap", None)
    model = GTGBMRegressor(n_estimators=3, random_state=0).fit(X, SIGNAL)
    with pytest.raises(ImportError, match="shap_explanation needs shap: pip install shap"):
        shap_explanation(model, X)
