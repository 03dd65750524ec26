"""A loss whose scores are added to known ones, the offsets of the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gtgbm.exact import F64, FitContext, exact_mean
from gtgbm.losses.base import Derivatives, LeafRule, Link, Loss, QuantileLeaf, Targets

_ROUNDS = 100
"""Most Newton steps to the best constant."""
_CLOSE = 1e-9
"""Relative size of a step that ends them."""


class WithOffset:
    """Adds the offsets of the targets to all scores; trees are fitted to what offsets leave over.

    Parameters
    ----------
    loss : Loss
        The loss of the sums.
    """

    def __init__(self, loss: Loss) -> None:
        self._loss = loss

    @property
    def n_scores(self) -> int:
        """Number of scores."""
        return self._loss.n_scores

    @property
    def leaf(self) -> LeafRule:
        """Rule by which leaf values are computed."""
        return self._loss.leaf

    @property
    def link(self) -> Link:
        """How scores with their offsets become predictions."""
        return self._loss.link

    def start(self, targets: Targets, context: FitContext) -> F64:
        """Return the best constants to add to the offsets, by Newton's method with halved steps."""
        if isinstance(self.leaf, QuantileLeaf):
            assert targets.offset is not None
            return self._loss.start(Targets(targets.y - targets.offset[0], targets.weights), context)
        if targets.queries is not None:
            return self._loss.start(targets, context)  # a constant changes no order
        start, n = np.zeros(self.n_scores), targets.y.shape[0]

        def at(constants: F64) -> Derivatives:
            return self.derivatives(np.repeat(constants[:, None], n, axis=1), targets, context)

        with np.errstate(over="ignore", invalid="ignore"):
            now = at(start)
            for _ in range(_ROUNDS):
                step = _newton_step(now, targets, context)
                after = at(start + step)
                while not after.mean_loss <= now.mean_loss and np.abs(step).max() > _CLOSE:
                    step = step / 2.0
                    after = at(start + step)
                if not after.mean_loss <= now.mean_loss:
                    break
                start, now = start + step, after
                if np.abs(step).max() <= _CLOSE * (1.0 + np.abs(start).max()):
                    break
        return start

    def derivatives(self, scores: F64, targets: Targets, context: FitContext) -> Derivatives:
        """Return the derivatives at the scores with their offsets."""
        return self._loss.derivatives(targets.with_offset(scores), _plain(targets), context)

    def unit_losses(self, scores: F64, targets: Targets, context: FitContext) -> F64:
        """Return what each row adds to the mean loss, with its offset."""
        return self._loss.unit_losses(targets.with_offset(scores), _plain(targets), context)

    def predict(self, scores: F64) -> F64:
        """Convert scores that contain their offsets to predictions."""
        return self._loss.predict(scores)


def _plain(targets: Targets) -> Targets:
    return replace(targets, offset=None)


def _newton_step(derivatives: Derivatives, targets: Targets, context: FitContext) -> F64:
    """Return the step of each score; sums are exact, so that they do not depend on the order of rows."""
    curvatures = derivatives.curvatures
    steps = []
    for k, residuals in enumerate(derivatives.residuals):
        slope = exact_mean(residuals, targets.weights, context)
        bend = 1.0 if curvatures is None else exact_mean(curvatures[k], targets.weights, context)
        steps.append(slope / bend if bend > 0.0 else 0.0)
    return np.array(steps)
