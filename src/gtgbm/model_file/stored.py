"""The content of a model file, independent of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from gtgbm.boosting import Model
from gtgbm.data import FrameSchema
from gtgbm.model_file.layout import Label
from gtgbm.search import SearchChoice
from gtgbm.selection import SelectionPath


@dataclass(frozen=True)
class EstimatorKind:
    """Whether the file of an estimator must hold classes and tasks."""

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
    "MultitaskGTGBMRanker": EstimatorKind(has_classes=False, has_tasks=True),
    "MultitaskGTGBMRegressor": EstimatorKind(has_classes=False, has_tasks=True),
}
"""The estimators that files can hold, by the name of their class."""


@dataclass(frozen=True)
class StoredEstimator:
    """An estimator: the name of its class, its parameters, and the class labels of a classifier."""

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
        The columns of a dataframe; None for arrays.
    """

    count: int
    names: list[str] | None
    schema: FrameSchema | None

    def label(self, column: int, category: float | None) -> Any:
        """Return a category as it was in the training table."""
        return category if category is None or self.schema is None else self.schema.label(column, category)


@dataclass(frozen=True)
class StoredPart:
    """The model of a task, or of all tasks; categories are codes of the schema of the columns."""

    task: Label | None
    model: Model
    search: SearchChoice


@dataclass(frozen=True)
class StoredTasks:
    """The tasks of a multitask model.

    Attributes
    ----------
    names : list
        Ids of the tasks.
    by_column : bool
        Whether the targets had one column per task.
    is_single : bool
        Whether one part is the model of all tasks (method="single-task").
    owned : list of (int, float or None)
        Features selected by any task as (column, category or None), in the order of selection.
    classes : list of list of int, or None
        Positions of the classes of each task among the classes of the model; None: every task has all.
    """

    names: list[Label]
    by_column: bool
    is_single: bool
    owned: list[tuple[int, float | None]]
    classes: list[list[int]] | None = None


@dataclass(frozen=True)
class StoredModel:
    """A model; if it was read from a file, it has been validated.

    Attributes
    ----------
    parts : list of StoredPart
        One part for a single-task model and for method="single-task", otherwise one part per task.
    about : mapping of str to str
        Texts of the user, such as the name of the target.
    timings : mapping of str to float
        Seconds per stage of the fit.
    path : SelectionPath or None
        Of a model that chose its number of features.
    """

    estimator: StoredEstimator
    columns: StoredColumns
    parts: list[StoredPart]
    tasks: StoredTasks | None
    about: Mapping[str, str]
    timings: Mapping[str, float]
    path: SelectionPath | None = None

    def parts_by_task(self) -> list[tuple[Label | None, StoredPart]]:
        """Return the part of each task; with method="single-task", all tasks have the same part."""
        if self.tasks is not None and self.tasks.is_single:
            return [(name, self.parts[0]) for name in self.tasks.names]
        return [(part.task, part) for part in self.parts]
