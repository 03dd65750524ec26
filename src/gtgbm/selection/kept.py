"""Models and results of a selection in the checkpoint of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

from gtgbm.boosting import Checkpoint, Dataset, Model, Problem
from gtgbm.selection.features import Feature
from gtgbm.selection.forward_backward import ForwardBackward
from gtgbm.selection.importance import Importance
from gtgbm.selection.judging import Judge, Stage, Trainer
from gtgbm.selection.leaves import chosen_leaves

_SELECTION = "selection"
_Pairs = list[list[tuple[Feature, float]]]


def kept_models(trainer: Trainer, checkpoint: Checkpoint) -> Trainer:
    """Return a trainer whose models are kept: a selection always trains the same ones in the same order."""
    number = count()

    def train(rows: Sequence[Dataset], stage: Stage) -> list[Model]:
        return checkpoint.stage(f"{_SELECTION}: {next(number)}", list[Model], lambda: trainer(rows, stage))

    return train


class Selected(NamedTuple):
    """What a selection decides for the last fit.

    Attributes
    ----------
    features : list of dict from Feature to float
        The features of each task with their importance.
    max_leaf_nodes : int or None
        Most leaves of its trees; None: what the settings say.
    """

    features: list[Importance]
    max_leaf_nodes: int | None

    def last(self, problem: Problem) -> Problem:
        """Return the problem of the last fit of a task."""
        if self.max_leaf_nodes is None:
            return problem
        return problem.with_settings(problem.settings.with_leaves(self.max_leaf_nodes))


def selected(judge: Judge, problems: Sequence[Problem], checkpoint: Checkpoint) -> Selected:
    """Select the features of each task; once that is done, models of folds need not be kept any more.

    Parameters
    ----------
    problems : sequence of Problem
        Of each task.
    """

    def select() -> tuple[_Pairs, int | None]:
        features, leaves = ForwardBackward(judge).select(), None
        if problems[0].settings.tree.max_leaf_nodes == "auto":
            n_rows = max(problem.data.targets.weights.n_total for problem in problems)
            leaves = chosen_leaves(judge, features, n_rows)
        return [list(of_task.items()) for of_task in features], leaves

    pairs, leaves = checkpoint.stage(_SELECTION, tuple[_Pairs, int | None], select)
    return Selected([dict(of_task) for of_task in pairs], leaves)
