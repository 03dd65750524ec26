"""Models and results of a selection in the checkpoint of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from gtgbm.boosting import Checkpoint, Dataset, Model
from gtgbm.selection.features import Feature
from gtgbm.selection.forward_backward import ForwardBackward
from gtgbm.selection.importance import Importance
from gtgbm.selection.judging import Judge, Stage, Trainer

_SELECTION = "selection"
_Pairs = list[list[tuple[Feature, float]]]


def kept_models(trainer: Trainer, checkpoint: Checkpoint) -> Trainer:
    """Return a trainer whose models are kept: a selection always trains the same ones in the same order."""
    number = count()

    def train(rows: Sequence[Dataset], stage: Stage) -> list[Model]:
        return checkpoint.stage(f"{_SELECTION}: {next(number)}", list[Model], lambda: trainer(rows, stage))

    return train


def selected_features(judge: Judge, checkpoint: Checkpoint) -> list[Importance]:
    """Select the features of each task; once that is done, their models need not be kept any more."""

    def select() -> _Pairs:
        return [list(of_task.items()) for of_task in ForwardBackward(judge).select()]

    return [dict(of_task) for of_task in checkpoint.stage(_SELECTION, _Pairs, select)]
