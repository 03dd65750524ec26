"""Shortlists: select more features than wanted, keep those with the largest gain, and train on them again."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from gtgbm import _core
from gtgbm.boosting import AnyCallback, Fitted, HistoryEntry, Model, Problem, train
from gtgbm.exact import FitContext
from gtgbm.tree import Tree


def train_selecting(
    problem: Problem,
    pool: _core.Pool,
    callbacks: Sequence[AnyCallback] = (),
    continued: Model | None = None,
) -> Fitted:
    """Fit a model, with a shortlist of features if the settings ask for one."""
    context, settings = FitContext(pool), problem.settings
    limit, shortlist = settings.prices.limit, settings.prices.shortlist

    def trained(n_features: int, owned: Model | None) -> Model:
        return train(problem.with_settings(settings.with_limit(n_features)), context, (), owned).model

    if limit is None or shortlist <= 1.0 or continued is not None:
        return train(problem, context, callbacks, continued)
    owned = shortlisted(trained, _times(shortlist, limit), limit)
    fitted = train(problem, context, callbacks, owned)
    # What is owned from the start is selected only if a tree uses it.
    gains = _gains(fitted.model)
    fitted.model.history = [entry for entry in fitted.model.history if _key_of(entry) in gains]
    if fitted.model.training_losses:
        first = fitted.model.training_losses[0]
        fitted.model.history = with_loss_of_first_round(fitted.model.history, first)
    return fitted


def shortlisted(trained: Callable[[int, Model | None], Model], n_bought: int, n_wanted: int) -> Model:
    """Return a model without trees that owns the best of many features.

    The better half of the selected features is kept and trained on again, repeatedly, because the gain of a
    feature among many others says little about its gain among few.

    Parameters
    ----------
    trained : callable
        ``trained(n_features, owned)`` trains a model with at most `n_features` features, which continues the
        model `owned` unless that is None.
    n_bought : int
        Number of features to select at first.
    n_wanted : int
        Number of features to keep.
    """
    model = trained(n_bought, None)
    while True:
        size = max(n_wanted, len(model.history) // 2)
        owned = best_features(model, size)
        if size == n_wanted:
            return owned
        model = trained(size, owned)


def best_features(model: Model, n_features: int) -> Model:
    """Return a model without trees that owns the features with the largest gain in another model.

    Parameters
    ----------
    model : Model
    n_features : int
        How many features to keep, in the order of selection; all if the model has fewer.
    """
    gains = _gains(model)
    # The stable sort keeps the feature selected first in case of ties.
    ranked = sorted(model.history, key=lambda entry: -gains.get(_key_of(entry), 0.0))
    kept = set(map(id, ranked[:n_features]))
    return Model(
        model.start, history=[entry._replace(tree=0) for entry in model.history if id(entry) in kept]
    )


def with_loss_of_first_round(history: list[HistoryEntry], loss: float) -> list[HistoryEntry]:
    """Set the training loss of features owned from the start to that of the first round."""
    return [entry._replace(training_loss=loss) if entry.tree == 0 else entry for entry in history]


def _gains(model: Model) -> dict[tuple[int, str], float]:
    """Return what the features that trees use have gained."""
    by_category = {entry.feature for entry in model.history if entry.category is not None}
    gains: dict[tuple[int, str], float] = defaultdict(float)
    for tree in model.trees:
        for node in np.flatnonzero(tree.feature >= 0).tolist():
            gains[_split_on(tree, node, by_category)] += float(tree.gain[node])
    return gains


def _key_of(entry: HistoryEntry) -> tuple[int, str]:
    return _key(entry.feature, entry.category)


def _split_on(tree: Tree, node: int, by_category: set[int]) -> tuple[int, str]:
    column = int(tree.feature[node])
    return _key(column, float(tree.threshold[node]) if column in by_category else None)


def _key(column: int, category: float | None) -> tuple[int, str]:
    # As text, since a missing value is a category too, and NaN does not equal itself.
    return column, str(category)


def _times(factor: float, number: int) -> int:
    """Return factor * number, rounded up, with a tolerance: in floats, 1.1 * 50 is slightly more than 55."""
    return math.ceil(min(factor * number, 1e9) - 1e-9)
