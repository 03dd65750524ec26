"""A model as a file holds it: what is left of an estimator without scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from gtgbm.boosting import Model
from gtgbm.data import FrameSchema
from gtgbm.model_file.layout import Label
from gtgbm.search import SearchChoice


@dataclass(frozen=True)
class EstimatorKind:
    """What a file of an estimator must hold."""

    has_classes: bool
    has_tasks: bool = False


ESTIMATORS: dict[str, EstimatorKind] = {
    "AGBMClassifier": EstimatorKind(has_classes=True),
    "AGBMRegressor": EstimatorKind(has_classes=False),
    "GBFSClassifier": EstimatorKind(has_classes=True),
    "GBFSRegressor": EstimatorKind(has_classes=False),
    "GTGBMClassifier": EstimatorKind(has_classes=True),
    "GTGBMRanker": EstimatorKind(has_classes=False),
    "GTGBMRegressor": EstimatorKind(has_classes=False),
    "MultitaskGTGBMClassifier": EstimatorKind(has_classes=True, has_tasks=True),
    "MultitaskGTGBMRegressor": EstimatorKind(has_classes=False, has_tasks=True),
}
"""The estimators that files can hold, by the name of their class."""


@dataclass(frozen=True)
class StoredEstimator:
    """What an estimator was: its class, its parameters, and the classes of its targets, if any."""

    name: str
    parameters: Mapping[str, Any]
    classes: NDArray[Any] | None


@dataclass(frozen=True)
class StoredColumns:
    """Columns of the training table.

    Attributes
    ----------
    names : list of str, or None
    schema : FrameSchema or None
        What they hold, if the table was a dataframe.
    """

    count: int
    names: list[str] | None
    schema: FrameSchema | None

    def label(self, column: int, category: float | None) -> Any:
        """Return a category as the training table had it."""
        return category if category is None or self.schema is None else self.schema.label(column, category)


@dataclass(frozen=True)
class StoredPart:
    """Trees that belong together, with their history; categories are codes of the columns' schema."""

    task: Label | None
    model: Model
    search: SearchChoice


@dataclass(frozen=True)
class StoredTasks:
    """What several tasks have together.

    Attributes
    ----------
    by_column : bool
        Whether targets had a column for each task.
    is_single : bool
        Whether one part is the model of all tasks.
    owned : list of (int, float or None)
        Columns, with the category if it is one, of the features of all tasks, in the order of selection.
    """

    names: list[Label]
    by_column: bool
    is_single: bool
    owned: list[tuple[int, float | None]]


@dataclass(frozen=True)
class StoredModel:
    """A model: valid if it was read from a file.

    Attributes
    ----------
    parts : list of StoredPart
        One; or one for each task, unless all tasks are in one model.
    about : mapping of str to str
        What the writer wanted readers to know, such as the name of the target.
    timings : mapping of str to float
        Seconds per stage of the fit.
    """

    estimator: StoredEstimator
    columns: StoredColumns
    parts: list[StoredPart]
    tasks: StoredTasks | None
    about: Mapping[str, str]
    timings: Mapping[str, float]

    def parts_by_task(self) -> list[tuple[Label | None, StoredPart]]:
        """Return the part of each task; a model of all tasks in one is the same for each."""
        if self.tasks is not None and self.tasks.is_single:
            return [(name, self.parts[0]) for name in self.tasks.names]
        return [(part.task, part) for part in self.parts]
