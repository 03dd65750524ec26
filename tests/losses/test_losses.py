"""Losses against finite differences and numeric minimisation, users' own ones against the built-in ones."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.base import clone

from gtgbm import AGBMClassifier, AGBMRegressor, GTGBMRegressor
from gtgbm.exact import FitContext
from gtgbm.exact.arrays import F64
from gtgbm.exact.weights import RowWeights
from gtgbm.losses import AbsoluteError, Huber, LossFunction, Poisson, Quantile, Tweedie, check_loss
from gtgbm.losses.averages import Averages
from gtgbm.losses.base import Loss, Targets
from gtgbm.losses.classic import LogLoss, MultinomialLoss, SquaredError
from gtgbm.losses.pointwise import Pointwise
from tests.estimators.test_determinism import bytes_of
from tests.strategies import seeds

CONTEXT = FitContext.serial()
FUNCTIONS: list[LossFunction] = [AbsoluteError(), Huber(), Huber(0.1), Quantile(), Quantile(0.9)]
FUNCTIONS += [Poisson(), Tweedie(), Tweedie(1.0), Tweedie(1.9)]
NAMES = {
    "absolute_error": AbsoluteError(),
    "huber": Huber(1.0),
    "quantile": Quantile(0.5),
    "poisson": Poisson(),
    "tweedie": Tweedie(1.5),
}
LOSSES: list[Loss] = [SquaredError(), LogLoss(), MultinomialLoss(3), *map(Pointwise, FUNCTIONS)]


def label(loss: Any) -> str:
    return repr(getattr(loss, "_function", type(loss).__name__))


def targets_of(loss: Loss, n: int, rng: np.random.Generator, weighted: bool) -> Targets:
    if isinstance(loss, LogLoss | MultinomialLoss):
        y = rng.integers(0, max(2, loss.n_scores), n).astype(np.float64)
        y[:3] = [0, 1, max(1, loss.n_scores - 1)]  # a class that is absent has no best score
    elif isinstance(getattr(loss, "_function", None), Tweedie):
        y = rng.poisson(2.0, n) + 1.0 * (np.arange(n) == 0)
    else:
        y = 3.0 * rng.normal(size=n) + 1.0
    weights = RowWeights.of(rng.random(n) + 0.01) if weighted else RowWeights.equal(n)
    return Targets(y, weights)


@given(seed=seeds, weighted=st.booleans())
@pytest.mark.parametrize("loss", LOSSES, ids=label)
def test_residuals_are_slopes_of_the_loss(loss: Loss, seed: int, weighted: bool) -> None:
    rng, n, step = np.random.default_rng(seed), 7, 1e-5
    targets = targets_of(loss, n, rng, weighted)
    scores = rng.normal(size=(loss.n_scores, n))
    # Between two sides of a kink there is no slope.
    scores[np.abs(scores - targets.y) < 1e-3] += 0.01
    share = targets.weights.as_floats() / targets.weights.as_floats().sum()
    residuals = loss.derivatives(scores, targets, CONTEXT).residuals
    for k, i in np.ndindex(*scores.shape):
        around = []
        for sign in (1.0, -1.0):
            moved = scores.copy()
            moved[k, i] += sign * step
            around.append(loss.derivatives(moved, targets, CONTEXT).mean_loss)
        slope = (around[0] - around[1]) / (2.0 * step)
        factor = 2.0 if isinstance(loss, SquaredError) else 1.0  # it reports the whole square
        assert slope == pytest.approx(-factor * share[i] * residuals[k, i], abs=1e-6, rel=1e-5)


@given(seed=seeds)
@pytest.mark.parametrize("loss", [LogLoss(), MultinomialLoss(3)], ids=label)
def test_curvatures_are_slopes_of_residuals(loss: Loss, seed: int) -> None:
    rng, step = np.random.default_rng(seed), 1e-5
    targets = targets_of(loss, 20, rng, False)
    scores = rng.normal(size=(loss.n_scores, 20))
    seen = loss.derivatives(scores, targets, CONTEXT).curvatures
    assert seen is not None
    for k in range(loss.n_scores):
        up, down = scores.copy(), scores.copy()
        up[k] += step
        down[k] -= step
        fall = [loss.derivatives(s, targets, CONTEXT).residuals[k] for s in (down, up)]
        friedman = loss.n_scores / (loss.n_scores - 1.0) if loss.n_scores > 1 else 1.0
        np.testing.assert_allclose(
            seen[k], friedman * (fall[0] - fall[1]) / (2.0 * step), rtol=1e-5, atol=1e-8
        )


# Once: Tweedie's curvature, exp((2 - p) score), is below the second derivative where y is above the mean, so
# that Tweedie(1.5) and Tweedie(1.9) fail the library's own check. (Tweedie.curvature, or check_loss's rule.)
@pytest.mark.parametrize("function", FUNCTIONS, ids=repr)
def test_own_losses_pass_their_own_check(function: LossFunction) -> None:
    rng = np.random.default_rng(0)
    score = rng.normal(size=200)
    y = score + rng.choice([-1.0, 1.0], 200) * rng.uniform(0.2, 3.0, 200)
    if isinstance(function, Tweedie):
        y = rng.poisson(3.0, 200).astype(np.float64)
    if isinstance(function, Huber):  # a kink of the gradient
        y = y[np.abs(np.abs(y - score) - function.delta) > 0.01]
        score = score[: y.shape[0]] * 0.0 + y + 0.5 * function.delta
    check_loss(function, y, score)


class SquaredByHand:
    """As ``squared_error``, but for the mean loss, which is half of it."""

    def value(self, y: F64, score: F64) -> F64:
        return (score - y) ** 2 / 2.0

    def gradient(self, y: F64, score: F64) -> F64:
        return score - y

    def curvature(self, y: F64, score: F64) -> F64:
        return np.ones_like(y + score)


class LogisticByHand(LossFunction):
    def value(self, y: F64, score: F64) -> F64:
        return np.logaddexp(0.0, score) - y * score

    def gradient(self, y: F64, score: F64) -> F64:
        return self.predict(score) - y

    def curvature(self, y: F64, score: F64) -> F64:
        del y
        return self.predict(score) * (1.0 - self.predict(score))

    def predict(self, score: F64) -> F64:
        return np.asarray(1.0 / (1.0 + np.exp(-score)))


class CountsByHand:
    """Poisson's loss, with nothing but what is asked for."""

    def value(self, y: F64, score: F64) -> F64:
        return np.asarray(np.exp(score) - y * score)

    def gradient(self, y: F64, score: F64) -> F64:
        return np.asarray(np.exp(score) - y)

    def curvature(self, y: F64, score: F64) -> F64:
        del y
        return np.asarray(np.exp(score))


@dataclass
class Broken:
    """A sound loss, one answer of which is replaced."""

    verb: str
    answer: str

    def __getattr__(self, name: str) -> Any:
        if name not in ("value", "gradient", "curvature"):
            raise AttributeError(name)
        right = getattr(LogisticByHand(), name)
        if name != self.verb:
            return right
        wrong = {
            "tripled": lambda y, score: 3.0 * right(y, score),
            "halved": lambda y, score: 0.5 * right(y, score),
            "negative": lambda y, score: -right(y, score),
            "short": lambda y, score: right(y, score)[1:],
            "a number": lambda y, score: float(right(y, score).mean()),
            "nan": lambda y, score: np.where(y > 0, np.nan, right(y, score)),
        }
        return wrong[self.answer]


def points() -> tuple[F64, F64]:
    rng = np.random.default_rng(1)
    return rng.integers(0, 2, 50).astype(np.float64), rng.normal(size=50)


@pytest.mark.parametrize(
    ("verb", "answer"),
    [
        ("gradient", "tripled"),
        ("gradient", "negative"),
        ("gradient", "short"),
        ("value", "tripled"),
        ("value", "a number"),
        ("curvature", "halved"),
        ("curvature", "negative"),
        ("curvature", "short"),
    ],
)
def test_check_finds_what_is_wrong(verb: str, answer: str) -> None:
    with pytest.raises(AssertionError, match="gradient" if (verb, answer) == ("value", "tripled") else verb):
        check_loss(Broken(verb, answer), *points())


def test_check_refuses_negative_curvature_where_the_loss_bends_down() -> None:
    class Concave(SquaredByHand):
        value = staticmethod(lambda y, score: -((score - y) ** 2) / 2.0)
        gradient = staticmethod(lambda y, score: y - score)
        curvature = staticmethod(lambda y, score: -np.ones_like(y + score))

    with pytest.raises(AssertionError, match="must not be negative"):
        check_loss(Concave(), *points())


@pytest.mark.parametrize("loss", [SquaredByHand(), LogisticByHand(), Broken("curvature", "tripled")])
def test_check_lets_pass_what_is_right(loss: Any) -> None:
    check_loss(loss, *points())


@pytest.mark.parametrize(
    ("verb", "answer", "part"),
    [
        ("gradient", "short", "gradient returned shape"),
        ("value", "a number", "value returned shape"),
        ("curvature", "negative", "curvature returned -"),
        ("gradient", "nan", "gradient returned NaN"),
    ],
)
def test_fit_refuses_broken_losses(verb: str, answer: str, part: str) -> None:
    X, y = np.random.default_rng(0).normal(size=(50, 3)), points()[0]
    with pytest.raises(ValueError, match=part):
        AGBMRegressor(n_estimators=2, loss=Broken(verb, answer), init="zero").fit(X, y)


@given(seed=seeds, weighted=st.booleans(), n=st.sampled_from([3, 4, 30]))
@pytest.mark.parametrize("loss", LOSSES, ids=label)
def test_start_is_the_best_constant(loss: Loss, seed: int, weighted: bool, n: int) -> None:
    targets = targets_of(loss, n, np.random.default_rng(seed), weighted)
    start = loss.start(targets, CONTEXT)
    assert start.shape == (loss.n_scores,)

    def mean_loss(of_score: F64) -> float:
        return loss.derivatives(np.repeat(of_score[:, None], n, axis=1), targets, CONTEXT).mean_loss

    at_start = mean_loss(start)
    for k in range(loss.n_scores):
        one = np.arange(loss.n_scores) == k
        found = minimize_scalar(lambda s, one=one: mean_loss(np.where(one, s, start)), bounds=(-20.0, 20.0))
        assert at_start <= found.fun + 1e-7 * (1.0 + abs(found.fun))


@given(seed=seeds, share=st.floats(0.05, 0.95))
def test_averages_of_whole_weights_are_those_of_repeated_values(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    values, weight = rng.integers(0, 5, 9).astype(np.float64), rng.integers(0, 4, 9)
    weight[0] = 1
    repeated = np.repeat(values, weight)
    again = Averages(RowWeights.equal(repeated.shape[0]))
    weighted = Averages(RowWeights.of(weight.astype(np.float64)))
    assert weighted.quantile(values, share) == again.quantile(repeated, share)
    assert weighted.mean(values / 7) == again.mean(repeated / 7)
    assert Averages(RowWeights.equal(4)).quantile(np.array([4.0, 1.0, 2.0, 9.0]), 0.5) == 3.0  # halfway


# Once: Newton's method without damping leaves the best constant of a convex loss. From 0 it jumps to
# score 199, and after its 100 steps the model starts from exp(99); with a mean of 2000 exp overflows.
@pytest.mark.parametrize("mean", [50.0, 200.0, 2000.0])
def test_start_of_a_loss_that_does_not_know_it(mean: float) -> None:
    targets = Targets.unweighted(np.array([0.5, 1.0, 1.5]) * mean)
    start = Pointwise(CountsByHand()).start(targets, CONTEXT)
    assert start[0] == pytest.approx(np.log(mean))


def data(n: int = 400) -> tuple[F64, F64]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 6))
    return X, X[:, 0] + np.sin(3.0 * X[:, 1]) + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", [AGBMRegressor, GTGBMRegressor])
def test_squared_error_by_hand_gives_the_same_bits(method: Any, weighted: bool) -> None:
    X, y = data()
    weight = np.random.default_rng(0).random(y.shape[0]) if weighted else None
    settings = {"n_estimators": 20, "init": "zero", "random_state": 0}
    one = method(**settings).fit(X, y, sample_weight=weight)
    other = method(**settings, loss=SquaredByHand()).fit(X, y, sample_weight=weight)
    assert bytes_of(one.trees_) == bytes_of(other.trees_)
    assert one.predict(X).tobytes() == other.predict(X).tobytes()
    halves = 2.0 * np.array(other.evals_result_["training"]["custom"])
    np.testing.assert_allclose(halves, one.evals_result_["training"]["squared_error"])


def test_squared_error_by_hand_finds_its_start() -> None:
    X, y = data()
    one, other = (AGBMRegressor(n_estimators=9, loss=loss) for loss in ("squared_error", SquaredByHand()))
    np.testing.assert_allclose(one.fit(X, y + 7.0).predict(X), other.fit(X, y + 7.0).predict(X), rtol=1e-6)


def test_log_loss_by_hand() -> None:
    X, y = data()
    one, other = (
        AGBMClassifier(n_estimators=10, loss=loss).fit(X, y > 0.5) for loss in ("log_loss", LogisticByHand())
    )
    np.testing.assert_array_equal(one.selected_features_, other.selected_features_)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    for again in (pickle.loads(pickle.dumps(other)), clone(other).fit(X, y > 0.5)):
        assert again.predict_proba(X).tobytes() == other.predict_proba(X).tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_names_stand_for_objects(name: str) -> None:
    X, y = data()
    y = np.maximum(np.round(y + 2.0), 0.0)
    one, other = (AGBMRegressor(n_estimators=5, loss=loss).fit(X, y) for loss in (name, NAMES[name]))
    assert bytes_of(one.trees_) == bytes_of(other.trees_)
    assert one.evals_result_ == other.evals_result_
    losses = one.evals_result_["training"][name]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("loss", [Quantile(0.9), Huber(2.0), Tweedie(1.2), Poisson(), AbsoluteError()])
def test_models_with_loss_objects_travel(loss: LossFunction) -> None:
    X, y = data()
    model = AGBMRegressor(n_estimators=5, loss=loss).fit(X, np.abs(y))
    assert model.get_params()["loss"] is loss
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X).tobytes() == model.predict(X).tobytes()
    assert again.loss == loss
    copy = clone(model)
    assert copy.loss == loss
    assert not hasattr(copy, "trees_")
    assert bytes_of(copy.fit(X, np.abs(y)).trees_) == bytes_of(model.trees_)
    compact = pickle.loads(pickle.dumps(model.compact()))
    assert compact.predict(X[:, compact.features_]).tobytes() == model.predict(X).tobytes()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_quantiles_are_covered(share: float) -> None:
    X, y = data(2000)
    model = AGBMRegressor(n_estimators=60, loss=Quantile(share)).fit(X, y)
    assert np.mean(y <= model.predict(X)) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize(
    ("kind", "value"),
    [(Quantile, 0.0), (Quantile, 1.0), (Huber, 0.0), (Tweedie, 2.0), (Tweedie, 0.5), (Poisson, 1.5)],
)
def test_parameters_out_of_range(kind: Any, value: float) -> None:
    with pytest.raises(ValueError, match=rf"{kind.__name__}\((share|delta|power)={value}\)"):
        kind(value)
