"""More features than wanted are bought first; those that gain most are kept, and trained on again."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gtgbm import _core
from gtgbm.boosting import AnyCallback, Evaluated, Fitted, HistoryEntry, Model, Settings, train
from gtgbm.data import AnyTable
from gtgbm.exact import Timings
from gtgbm.losses import Loss, Targets
from gtgbm.tree import Tree


def train_selecting(
    table: AnyTable,
    targets: Targets,
    loss: Loss,
    settings: Settings,
    *,
    seed: int,
    pool: _core.Pool,
    evaluated: Evaluated,
    callbacks: Sequence[AnyCallback] = (),
    continued: Model | None = None,
) -> Fitted:
    """Fit a model to a table, over a shortlist of features where the settings ask for one."""
    timings, limit = Timings(), settings.n_features_to_select

    def trained(n_features: int | None, owned: Model | None, callbacks: Sequence[AnyCallback] = ()) -> Fitted:
        return train(
            table,
            targets,
            loss,
            replace(settings, n_features_to_select=n_features),
            seed=seed,
            pool=pool,
            evaluated=evaluated,
            callbacks=callbacks,
            continued=owned,
            timings=timings,
        )

    if limit is None or settings.shortlist <= 1.0 or continued is not None:
        return trained(limit, continued, callbacks)
    owned = shortlisted(
        lambda n_features, owned: trained(n_features, owned).model, _times(settings.shortlist, limit), limit
    )
    fitted = trained(limit, owned, callbacks)
    if fitted.model.training_losses:
        first = fitted.model.training_losses[0]
        fitted.model.history = with_loss_of_first_round(fitted.model.history, first)
    return fitted


def shortlisted(trained: Callable[[int, Model | None], Model], n_bought: int, n_wanted: int) -> Model:
    """Return a model without trees that owns the best of many features.

    Of those bought the better half is kept and trained on again, and so on: what a feature gains among many
    says little of what it gains among few.

    Parameters
    ----------
    trained : callable
        Trains a model with at most so many features that goes on with another one, or begins anew.
    n_bought : int
        Features to buy at first.
    n_wanted : int
        Features to keep.
    """
    model = trained(n_bought, None)
    while True:
        size = max(n_wanted, len(model.history) // 2)
        owned = best_features(model, size)
        if size == n_wanted:
            return owned
        model = trained(size, owned)


def best_features(model: Model, n_features: int) -> Model:
    """Return a model without trees that owns the features of another one that gain most.

    Parameters
    ----------
    model : Model
    n_features : int
        How many of its features to keep, in the order they were bought; all if it has no more.
    """
    by_category = {entry.feature for entry in model.history if entry.category is not None}
    gains: dict[tuple[int, str], float] = defaultdict(float)
    for tree in model.trees:
        for node in np.flatnonzero(tree.feature >= 0).tolist():
            gains[_split_on(tree, node, by_category)] += float(tree.gain[node])
    # Sorting is stable: of equals the one bought first is kept.
    ranked = sorted(model.history, key=lambda entry: -gains[_key(entry.feature, entry.category)])
    kept = set(map(id, ranked[:n_features]))
    return Model(
        model.start, history=[entry._replace(tree=0) for entry in model.history if id(entry) in kept]
    )


def with_loss_of_first_round(history: list[HistoryEntry], loss: float) -> list[HistoryEntry]:
    """Let features that were owned from the start have the loss after the first round."""
    return [entry._replace(training_loss=loss) if entry.tree == 0 else entry for entry in history]


def _split_on(tree: Tree, node: int, by_category: set[int]) -> tuple[int, str]:
    column = int(tree.feature[node])
    return _key(column, float(tree.threshold[node]) if column in by_category else None)


def _key(column: int, category: float | None) -> tuple[int, str]:
    # As text: a missing value is a category too, and equals nothing.
    return column, str(category)


def _times(factor: float, number: int) -> int:
    """Return a multiple, rounded up; 1.1 * 50 is a little more than 55 in floats, and should not be."""
    return math.ceil(min(factor * number, 1e9) - 1e-9)
