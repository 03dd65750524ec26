"""The tasks of a multitask model: a table and plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gtgbm.plots import TaskCurvesDisplay, TaskMatrixDisplay, task_matrix
from gtgbm.report.sample import Sample
from gtgbm.report.svg import Picture, picture


@dataclass(frozen=True)
class TaskLine:
    """A task: its rows in the report, its features and its metric."""

    name: str
    n_rows: int
    n_features: int
    n_own: int
    score: float


def task_lines(model: Any, sample: Sample) -> list[TaskLine]:
    """Return one line per task that has rows in the report."""
    scores = sample.rows.measured_by_task(sample.metric, sample.prediction)
    shared = model.shared_features_
    return [
        TaskLine(
            str(name),
            sample.rows.rows_of_task[name][0].shape[0],
            model.task_features_[name].shape[0],
            int(np.count_nonzero(~np.isin(model.task_features_[name], shared))),
            score,
        )
        for name, score in scores.items()
    ]


def task_pictures(model: Any, names: Sequence[str]) -> list[Picture]:
    """Draw the features by task, and the learning curves of the tasks."""
    matrix = TaskMatrixDisplay(*task_matrix(model, names))
    width = 2.6 + 0.4 * max(4, min(len(matrix.tasks), 24))
    curves = {task: results["training"] for task, results in model.evals_result_.items()}
    label = next(iter(next(iter(curves.values()))))
    losses = {task: by_name[label] for task, by_name in curves.items()}
    lines = TaskCurvesDisplay(losses, f"training {label}")
    return [
        picture(
            matrix.plot,
            "Features by task",
            "A cell is blank if the task does not use the feature, and of a stronger colour for a larger "
            "share in the total gain of the task. Features that most tasks use come first.",
            size=(width, 1.3 + 0.22 * max(len(matrix.features), 4)),
        ),
        picture(lines.plot, "Training loss by task"),
    ]
