"""Settings of the fits that selection runs before the last one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gtgbm.boosting import (
    Dataset,
    Fitted,
    PriceSettings,
    Problem,
    RoundSettings,
    Settings,
    TreeSettings,
    chosen_search,
)
from gtgbm.exact import FitContext
from gtgbm.pricing import SpendingLimits, Units
from gtgbm.selection.features import Feature, FeatureForest
from gtgbm.selection.importance import Importance
from gtgbm.selection.judging import Stage

_ROUNDS = 25
_FEWEST_ROUNDS = 15
"""Fewest rounds of a fit with many scores per row, which grows a tree for each score in each round."""
_LEARNING_RATE = 0.15
_NODE_FRACTION = 0.04
"""Nodes with a smaller share of the rows are not split: shallow trees tell better which features matter."""
_LARGEST_PENALTY = 0.5
_DEEP_ROUNDS = 50
_DEEP_LEARNING_RATE = 0.2
"""Most rounds and largest learning rate of a fit that stands for the last one; the user's may be larger."""


def ignore(text: str) -> None:
    """Report nothing about a phase."""
    del text


def too_few_rows(n_rows: int) -> str:
    """Return the message that so many rows are too few for a path over numbers of features."""
    return (
        f"{n_rows} training rows (for rankings, their queries) are too few to hold some of them out: a "
        "selection path needs at least 12 of each task in every part of the cross-validation"
    )


def stage_settings(settings: Settings, stage: Stage, n_scores: int, rows: Dataset) -> Settings:
    """Return the settings of a fit that tells which features matter: fewer rounds, with another price.

    Parameters
    ----------
    rows : Dataset
        The rows that are trained on.
    """
    n_rows = rows.targets.weights.total_cells / rows.targets.weights.row
    units = settings.prices.units
    if stage.without:
        units = units.without(sorted(stage.without), rows.table.shape[1])
    if stage.max_leaf_nodes is None:
        tree, rounds = _shallow(settings.tree), _few_rounds(settings.rounds, n_scores)
    else:
        tree = replace(settings.tree, max_leaf_nodes=stage.max_leaf_nodes)
        rounds = _half_the_rounds(settings.rounds)
    prices = _prices(stage, min(stage.price / n_rows, _LARGEST_PENALTY), units)
    return replace(settings, tree=tree, rounds=replace(rounds, patience=None), prices=prices)


def _few_rounds(rounds: RoundSettings, n_scores: int) -> RoundSettings:
    """Return as many rounds as it takes to see which features matter."""
    n_rounds = _ROUNDS if n_scores == 1 else max(_FEWEST_ROUNDS, _ROUNDS // n_scores)
    return replace(rounds, n_rounds=n_rounds, learning_rate=max(rounds.learning_rate, _LEARNING_RATE))


def _half_the_rounds(rounds: RoundSettings) -> RoundSettings:
    """Return fewer rounds than those of the last fit, with a learning rate that is larger in proportion."""
    n_rounds = min(rounds.n_rounds, _DEEP_ROUNDS)
    rate = min(_DEEP_LEARNING_RATE, rounds.learning_rate * rounds.n_rounds / max(n_rounds, 1))
    return replace(rounds, n_rounds=n_rounds, learning_rate=max(rounds.learning_rate, rate))


def _shallow(tree: TreeSettings) -> TreeSettings:
    """Return the settings of shallow trees, whose few leaves need no limit of their own."""
    return replace(
        tree,
        min_node_fraction=max(tree.min_node_fraction, _NODE_FRACTION),
        max_leaf_nodes=None if tree.max_leaf_nodes == "auto" else tree.max_leaf_nodes,
    )


def with_one_search(problem: Problem, rows: Dataset, context: FitContext) -> Problem:
    """Return the problem with the search that suits some rows; each fit would choose it again.

    Parameters
    ----------
    rows : Dataset
        The rows that folds are taken from.
    """
    settings = stage_settings(problem.settings, Stage(0.0, None), problem.loss.n_scores, rows)
    choice = chosen_search(replace(problem, data=rows, settings=settings), context)
    return problem.with_settings(problem.settings.with_search(str(choice)))


def _prices(stage: Stage, penalty: float, units: Units) -> PriceSettings:
    if stage.budget is not None:
        limits = SpendingLimits(stage.limit, stage.budget)
        return PriceSettings(penalty / units.typical_cost, "root", limits, units=units)
    count = None if stage.limit is None else stage.limit + len(units.fixed_units)
    return PriceSettings(penalty, "root", SpendingLimits(count), units=units.relative())


def with_used_features(fitted: Fitted, importance: Importance, fixed: Sequence[int] = ()) -> Fitted:
    """Describe the features that were owned before the first round: those that trees use are selected.

    Their gain is their importance, since nothing was bought, and their loss that of the first round. Fixed
    columns come first, and features that are owned because others of their group are come last.
    """
    model = fitted.model
    used = set(FeatureForest.of(model).features)
    first = model.training_losses[0] if model.training_losses else float("nan")
    listed = {Feature.of(entry.feature, entry.category): entry for entry in model.history}
    selected = {feature: entry for feature, entry in listed.items() if feature.column in fixed}
    for feature, value in importance.items():
        selected[feature] = feature.entry(value)._replace(training_loss=first)
    selected |= {feature: entry for feature, entry in listed.items() if feature not in selected}
    model.history = [
        entry for feature, entry in selected.items() if feature in used or feature.column in fixed
    ]
    return fitted
