"""Offsets: known parts of scores that trees are added to."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pytest

from gtgbm import AGBMClassifier, AGBMRegressor, GTGBMClassifier, GTGBMRegressor
from tests.strategies import selects_few

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 5))
SIGNAL = X[:, 0] + X[:, 1] * X[:, 2]
OFFSET = RNG.normal(size=600) + 0.5
SETTINGS: dict[str, Any] = {"n_estimators": 15, "penalty": 0.0}


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
@pytest.mark.parametrize("selection", ["forward", "forward-backward"])
def test_where_only_differences_count_an_offset_shifts_the_target(loss: str, selection: str) -> None:
    settings: dict[str, Any] = {"n_estimators": 15, "n_features_to_select": 3, "random_state": 0}
    settings["selection"] = selection
    shifted = GTGBMRegressor(loss=loss, **settings).fit(X, SIGNAL)
    model = GTGBMRegressor(loss=loss, **settings).fit(X, SIGNAL + OFFSET, offset=OFFSET)
    assert model.selected_features_.tolist() == shifted.selected_features_.tolist()
    np.testing.assert_allclose(model.predict(X), shifted.predict(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(model.predict(X, offset=OFFSET), model.predict(X) + OFFSET)


def test_exposures_of_counts() -> None:
    exposure = np.exp(RNG.normal(size=600))
    counts = RNG.poisson(exposure * np.exp(SIGNAL / 2))
    model = AGBMRegressor(loss="poisson", **SETTINGS).fit(X, counts, offset=np.log(exposure))
    assert model._models[None].start[0] == pytest.approx(np.log(counts.sum() / exposure.sum()), rel=1e-7)
    rate = model.predict(X)
    np.testing.assert_allclose(model.predict(X, offset=np.log(exposure)), rate * exposure, rtol=1e-12)
    blind = AGBMRegressor(loss="poisson", **SETTINGS).fit(X, counts)
    truth = np.exp(SIGNAL / 2)
    assert np.abs(np.log(rate / truth)).mean() < np.abs(np.log(blind.predict(X) / truth)).mean()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_score_of_a_model_continues_as_its_own_next_trees(n_classes: int) -> None:
    """Trees after an offset are those that training would have grown next."""
    y = np.digitize(SIGNAL, [0.0] if n_classes == 2 else [-1.0, 1.0])
    whole = AGBMClassifier(**SETTINGS | {"n_estimators": 10}).fit(X, y)
    first = AGBMClassifier(**SETTINGS | {"n_estimators": 4}).fit(X, y)
    rest = AGBMClassifier(**SETTINGS | {"n_estimators": 6, "init": "zero"})
    rest.fit(X, y, offset=first.decision_function(X))
    together = rest.predict_proba(X, offset=first.decision_function(X))
    np.testing.assert_allclose(together, whole.predict_proba(X), rtol=1e-9)
    np.testing.assert_array_equal(rest.predict(X, offset=first.decision_function(X)), whole.predict(X))


def test_losses_are_those_of_lightgbm_with_init_score() -> None:
    """Both begin with the same loss, and one tree of each lowers it about as much."""
    y = (SIGNAL + OFFSET > 0).astype(float)
    ours = AGBMClassifier(n_estimators=1, penalty=0.0, init="zero", max_leaf_nodes=8).fit(X, y, offset=OFFSET)
    table = lightgbm.Dataset(X, y, init_score=OFFSET)
    settings = {"objective": "binary", "num_leaves": 8, "min_data_in_leaf": 12, "verbose": -1}
    theirs = lightgbm.train(settings, table, 1)

    def log_loss(score: Any) -> float:
        return float(np.mean(np.logaddexp(0.0, score) - y * score))

    scores = ours.decision_function(X, offset=OFFSET), theirs.predict(X, raw_score=True) + OFFSET
    after = [log_loss(score) for score in scores]
    assert ours.evals_result_["training"]["log_loss"][0] == pytest.approx(after[0])
    fall = log_loss(OFFSET) - np.array(after)
    assert fall[0] == pytest.approx(fall[1], rel=0.1)


@selects_few
def test_eval_sets_and_held_out_rows_have_offsets() -> None:
    y = SIGNAL + 50.0 * OFFSET
    given: dict[str, Any] = {"offset": 50.0 * OFFSET}
    model = AGBMRegressor(eval_metric="rmse", early_stopping_rounds=5, random_state=0, **SETTINGS)
    model.fit(X, y, eval_set=(X, y), eval_offset=50.0 * OFFSET, **given)
    expected = np.sqrt(np.mean((model.predict(X, **given) - y) ** 2))
    assert model.evals_result_["validation_0"]["rmse"][model.n_iter_ - 1] == pytest.approx(expected)
    model.fit(X, y, **given)
    assert model.evals_result_["validation_0"]["rmse"][model.n_iter_ - 1] < 5.0
    weighted = AGBMRegressor(**SETTINGS).fit(X, y, sample_weight=np.arange(600) % 2, **given)
    half = AGBMRegressor(**SETTINGS).fit(X[1::2], y[1::2], offset=given["offset"][1::2])
    np.testing.assert_array_equal(weighted.predict(X), half.predict(X))


def test_wrong_offsets() -> None:
    model = GTGBMClassifier(n_estimators=2, random_state=0)
    y = np.digitize(SIGNAL, [-1, 1])
    for wrong, message in (
        (OFFSET[:-1], r"offset has shape \(599,\)"),
        (OFFSET, r"give shape \(600, 3\)"),
        (np.full((600, 3), np.nan), "offset holds NaN"),
        (["a"] * 600, "offset does not hold numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, offset=wrong)
    with pytest.raises(ValueError, match="eval set, or to none"):
        model.fit(X, y, offset=np.zeros((600, 3)), eval_set=(X, y))
    model.fit(X, y, offset=np.zeros((600, 3)))
    with pytest.raises(ValueError, match=r"give shape \(600, 3\)"):
        model.predict(X, offset=OFFSET)
