"""Losses of single rows: built-in ones and the base class of custom ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gtgbm.exact import F64, FitContext, exact_mean, lend
from gtgbm.losses.averages import Averages
from gtgbm.losses.base import Derivatives, LeafRule, Link, NewtonLeaf, QuantileLeaf, Targets
from gtgbm.losses.exponential import exp

_DAMPING = 2.0137527074704766
"""exp(0.7): factor on the curvature of `Poisson`."""
_NEWTON_ROUNDS = 100
"""Most Newton steps to the best constant of a loss that does not define `start`."""


class LossFunction:
    """A loss of one score per row: subclass it, or pass any object with `value`, `gradient` and `curvature`.

    All methods take and return arrays of shape (n,), one entry per row. Those given cannot be written to:
    copy what you change. ``gtgbm.losses.check_loss`` compares gradients and curvatures with finite
    differences.
    """

    name: ClassVar[str] = "custom"

    @property
    def leaf(self) -> LeafRule:
        """Rule by which leaf values are computed."""
        return NewtonLeaf()

    def value(self, y: F64, score: F64) -> F64:
        """Return the loss of each row."""
        raise NotImplementedError(f"{type(self).__name__} needs a method value(y, score)")

    def gradient(self, y: F64, score: F64) -> F64:
        """Return the derivative of the loss with respect to the score."""
        raise NotImplementedError(f"{type(self).__name__} needs a method gradient(y, score)")

    def curvature(self, y: F64, score: F64) -> F64:
        """Return the second derivative, or an upper bound of it; must not be negative."""
        raise NotImplementedError(f"{type(self).__name__} needs a method curvature(y, score)")

    def start(self, y: F64, averages: Averages) -> float:
        """Return the best constant score, by Newton's method unless overridden."""

        def mean(verb: Callable[[F64, F64], F64], at: float) -> float:
            return averages.mean(verb(y, np.full_like(y, at)))

        score = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            loss = mean(self.value, score)
            for _ in range(_NEWTON_ROUNDS):
                curvature = mean(self.curvature, score)
                step = -mean(self.gradient, score) / curvature if curvature > 0.0 else 0.0
                # Halve the step until the loss falls: far from the minimum, Newton's method overshoots.
                while abs(step) > 1e-9 * (1.0 + abs(score)):
                    new_loss = mean(self.value, score + step)
                    if new_loss < loss:
                        break
                    step /= 2.0
                else:
                    break
                score, loss = score + step, new_loss
        return score

    def predict(self, score: F64) -> F64:
        """Convert scores to predictions."""
        return score

    def check_target(self, y: F64, name: str) -> None:
        """Raise a ValueError for targets that the loss does not accept."""


@dataclass(frozen=True)
class AbsoluteError(LossFunction):
    """Absolute error |y - score|: predicts the median."""

    name: ClassVar[str] = "absolute_error"

    @property
    def leaf(self) -> LeafRule:
        """Leaves take the median."""
        return QuantileLeaf(0.5)

    def value(self, y: F64, score: F64) -> F64:
        """Return |y - score|."""
        return np.abs(y - score)

    def gradient(self, y: F64, score: F64) -> F64:
        """-1 below the target, 1 above."""
        return np.sign(score - y)

    def curvature(self, y: F64, score: F64) -> F64:
        """1: leaves take medians instead of Newton steps."""
        del y
        return np.ones_like(score)

    def start(self, y: F64, averages: Averages) -> float:
        """Return the median of the targets."""
        return averages.quantile(y, 0.5)


@dataclass(frozen=True)
class Quantile(LossFunction):
    """Pinball loss: predicts the value below which `share` of the targets lie.

    Parameters
    ----------
    share : float, default 0.5
        In (0, 1).
    """

    share: float = 0.5
    name: ClassVar[str] = "quantile"

    def __post_init__(self) -> None:
        _require(0.0 < self.share < 1.0, f"Quantile(share={self.share!r}): give a share in (0, 1)")
        object.__setattr__(self, "share", float(self.share))  # accepts numpy scalars

    @property
    def leaf(self) -> LeafRule:
        """Leaves take the same quantile."""
        return QuantileLeaf(self.share)

    def value(self, y: F64, score: F64) -> F64:
        """Share · (y - score) above the score, (1 - share) · (score - y) below."""
        return np.maximum(self.share * (y - score), (self.share - 1.0) * (y - score))

    def gradient(self, y: F64, score: F64) -> F64:
        """-share above the score, 1 - share below."""
        return np.where(y > score, -self.share, np.where(y < score, 1.0 - self.share, 0.0))

    def curvature(self, y: F64, score: F64) -> F64:
        """1: leaves take quantiles instead of Newton steps."""
        del y
        return np.ones_like(score)

    def start(self, y: F64, averages: Averages) -> float:
        """Return the quantile of the targets."""
        return averages.quantile(y, self.share)


@dataclass(frozen=True)
class Huber(LossFunction):
    """Huber loss: squared error up to `delta`, linear beyond, so that outliers have limited influence.

    Parameters
    ----------
    delta : float, default 1.0
        In units of the target, above 0.
    """

    delta: float = 1.0
    name: ClassVar[str] = "huber"

    def __post_init__(self) -> None:
        _require(0.0 < self.delta < np.inf, f"Huber(delta={self.delta!r}): give a number above 0")

    def value(self, y: F64, score: F64) -> F64:
        """(y - score)² / 2 up to delta, a straight line beyond."""
        off = np.abs(y - score)
        near = np.minimum(off, self.delta)
        return np.asarray(near * (off - 0.5 * near))

    def gradient(self, y: F64, score: F64) -> F64:
        """Score - y, clipped to [-delta, delta]."""
        return np.clip(score - y, -self.delta, self.delta)

    def curvature(self, y: F64, score: F64) -> F64:
        """1 within delta, delta / |y - score| beyond.

        This is an upper bound: the second derivative itself is 0 beyond delta. With it, a leaf's step is a
        weighted mean of the errors of its rows and never overshoots.
        """
        return np.asarray(self.delta / np.maximum(np.abs(y - score), self.delta))

    def start(self, y: F64, averages: Averages) -> float:
        """Return the best constant, by Newton's method from the median."""
        score = averages.quantile(y, 0.5)
        return score + super().start(y - score, averages)


@dataclass(frozen=True)
class Tweedie(LossFunction):
    """Tweedie deviance of non-negative targets, such as claims; the score is the logarithm of the mean.

    Parameters
    ----------
    power : float, default 1.5
        In [1, 2): the variance grows with this power of the mean. 1 is the Poisson deviance, without the
        damping of `Poisson`.
    """

    power: float = 1.5
    name: ClassVar[str] = "tweedie"

    @property
    def leaf(self) -> LeafRule:
        """Newton steps for a score that is a logarithm."""
        return NewtonLeaf(is_logarithmic=True)

    def __post_init__(self) -> None:
        _require(1.0 <= self.power < 2.0, f"Tweedie(power={self.power!r}): give a power in [1, 2)")

    def value(self, y: F64, score: F64) -> F64:
        """Half the deviance, up to a term that does not depend on the score."""
        over, under = self._parts(y, score)
        first = y * score if self.power == 1.0 else under / (1.0 - self.power)
        return np.asarray(over / (2.0 - self.power) - first)

    def gradient(self, y: F64, score: F64) -> F64:
        """exp((2 - p) score) - y exp((1 - p) score)."""
        over, under = self._parts(y, score)
        return np.asarray(over - under)

    def curvature(self, y: F64, score: F64) -> F64:
        """(2 - p) exp((2 - p) score) + (p - 1) y exp((1 - p) score)."""
        over, under = self._parts(y, score)
        return np.asarray((2.0 - self.power) * over + (self.power - 1.0) * under)

    def start(self, y: F64, averages: Averages) -> float:
        """Return the logarithm of the mean target."""
        mean = averages.mean(y)
        if not mean > 0.0:
            raise ValueError(
                f"sample_weight leaves nothing of the targets above 0, loss={self.name!r} needs a positive "
                "mean: give weights less far apart"
            )
        return math.log(mean)

    def predict(self, score: F64) -> F64:
        """Return exp(score), the predicted mean."""
        return exp(score)

    def check_target(self, y: F64, name: str) -> None:
        """Raise an error for negative targets, and for targets that are all 0."""
        lowest = float(y.min(initial=0.0))
        if lowest < 0.0:
            raise ValueError(f"{name} holds {lowest:g}: loss={self.name!r} needs targets of at least 0")
        if name == "y" and not y.any():
            raise ValueError(f"y is 0 everywhere: loss={self.name!r} needs a positive mean")

    def _parts(self, y: F64, score: F64) -> tuple[F64, F64]:
        return exp((2.0 - self.power) * score), y * exp((1.0 - self.power) * score)


@dataclass(frozen=True)
class Poisson(Tweedie):
    """Poisson deviance of counts; the score is the logarithm of the mean."""

    power: float = 1.0
    name: ClassVar[str] = "poisson"

    def __post_init__(self) -> None:
        _require(self.power == 1.0, f"Poisson(power={self.power!r}): the power is 1; use Tweedie for others")

    def curvature(self, y: F64, score: F64) -> F64:
        """exp(score + 0.7), the largest second derivative within a step of 0.7.

        The larger curvature damps steps, since models of counts overfit easily. LightGBM does the same.
        """
        return np.asarray(_DAMPING * super().curvature(y, score))

    def _parts(self, y: F64, score: F64) -> tuple[F64, F64]:
        return exp(score), y


class Pointwise:
    """Adapts a loss function of single rows to the `Loss` interface."""

    n_scores = 1

    def __init__(self, function: Any, is_of_classes: bool = False) -> None:
        self._function = function
        self._is_of_classes = is_of_classes
        self.leaf: LeafRule = getattr(function, "leaf", NewtonLeaf())

    def of_classes(self) -> Pointwise:
        """Return the loss for two classes, whose scores are log-odds unless it defines `predict`."""
        return Pointwise(self._function, is_of_classes=True)

    def start(self, targets: Targets, context: FitContext) -> F64:
        """Return the best constant: the function's own `start`, or by Newton's method."""
        find = getattr(self._function, "start", None)
        if find is None:
            find = LossFunction.start.__get__(self._function)
        start = lend(find, self._named("start"), targets.y, Averages(targets.weights, context))
        return np.array([float(start)])

    def derivatives(self, scores: F64, targets: Targets, context: FitContext) -> Derivatives:
        """Return the derivatives that the function computes, after checking them."""
        y, score = targets.y, scores[0]
        gradient = self._evaluate("gradient", y, score)
        curvature = self._evaluate("curvature", y, score)
        if curvature.min(initial=0.0) < 0.0:
            raise ValueError(f"{self._function!r}.curvature returned {curvature.min():g}; it must not be < 0")
        loss = exact_mean(self._evaluate("value", y, score), targets.weights, context)
        return Derivatives(-gradient[None], curvature[None], loss)

    def unit_losses(self, scores: F64, targets: Targets, context: FitContext) -> F64:
        """Return what each row adds to the mean loss."""
        del context
        return targets.weights.shares_of(self._evaluate("value", targets.y, scores[0]))

    def check_target(self, y: F64, name: str) -> None:
        """Call the function's own check of targets, if it has one."""
        check = getattr(self._function, "check_target", None)
        if check is not None:
            lend(check, self._named("check_target"), y, name)

    @property
    def link(self) -> Link:
        """How `predict` converts scores: by the function's own `predict`, if it has one."""
        predict = getattr(self._function, "predict", None)
        method = getattr(predict, "__func__", None)
        if predict is None or method is LossFunction.predict:
            return "logistic" if self._is_of_classes else "identity"
        return "exponential" if method is Tweedie.predict else "custom"

    def predict(self, scores: F64) -> F64:
        """Convert scores to predictions."""
        score: F64 = scores[0]
        if self.link == "identity":
            return score
        if self.link == "logistic":
            return np.asarray(1.0 / (1.0 + exp(-score)))
        return np.asarray(lend(self._function.predict, self._named("predict"), score), dtype=np.float64)

    def _named(self, verb: str) -> str:
        return f"{self._function!r}.{verb}"

    def _evaluate(self, verb: str, y: F64, score: F64) -> F64:
        with np.errstate(over="ignore", invalid="ignore"):
            said = lend(getattr(self._function, verb), self._named(verb), y, score)
        answer = np.array(said, dtype=np.float64)  # a function may go on writing into what it returned
        if answer.shape != y.shape:
            raise ValueError(
                f"{self._function!r}.{verb} returned shape {answer.shape}; it must be {y.shape}, one per row"
            )
        if verb != "value" and not np.isfinite(answer).all():
            raise ValueError(
                f"{self._function!r}.{verb} returned NaN or infinity; check the loss, or lower learning_rate"
            )
        return answer


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)
