"""What stands in a model file: one class for each kind of object."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

FORMAT_VERSION: Literal[1] = 1
"""Files of this version and of all earlier ones can be read."""

Index = Annotated[int, msgspec.Meta(ge=0)]
Float = float | None
"""None stands for NaN."""
Label = bool | int | float | str
MAX_FEATURES = 1 << 24
"""A hostile file could ask for any number of columns, and so for any amount of memory."""


MAX_UNNAMED = 1 << 20
"""The same, where each column takes more than a number."""


class ModelFileError(ValueError):
    """A file that is no model, or not a whole one."""


class Header(msgspec.Struct):
    """What every version has."""

    format: Literal["gtgbm"]
    version: Annotated[int, msgspec.Meta(ge=1)]


class TreeLayout(msgspec.Struct, forbid_unknown_fields=True):
    """A tree: parallel arrays over its nodes, and lists of nodes.

    Attributes
    ----------
    output : int
        The score that it adds to.
    threshold : list of float or str or None
        Largest value that goes left ("inf" and "-inf" as text); at a category node the category that goes
        right, None being missing values.
    category, missing_left : list of int
        Nodes that split on a category; nodes that send missing values left.
    """

    output: Index
    feature: list[int]
    threshold: list[float | str | None]
    left: list[int]
    value: list[float]
    rows: list[int]
    gain: list[float]
    category: list[Index]
    missing_left: list[Index]


class BoughtLayout(msgspec.Struct, forbid_unknown_fields=True):
    """An entry of the selection history; a category of None stands for missing values."""

    tree: Index
    feature: Index
    gain: float
    price: float
    training_loss: Float
    category: float | str | msgspec.UnsetType | None = msgspec.UNSET


class SearchLayout(msgspec.Struct, forbid_unknown_fields=True):
    """The search used, and why."""

    name: str
    reason: str


class PartLayout(msgspec.Struct, forbid_unknown_fields=True):
    """Trees that belong together: a model, or one task of several."""

    task: Label | None
    start: list[float]
    history: list[BoughtLayout]
    training_loss: list[Float]
    evaluations: list[dict[str, list[Float]]]
    best_round: Index | None
    search: SearchLayout
    trees: list[TreeLayout]


class OwnedLayout(msgspec.Struct, forbid_unknown_fields=True):
    """A feature that some task owns."""

    feature: Index
    category: float | str | msgspec.UnsetType | None = msgspec.UNSET


class TasksLayout(msgspec.Struct, forbid_unknown_fields=True):
    """What several tasks have together.

    Attributes
    ----------
    names : list
        One for each part; or for the only part, which is then of all tasks in one.
    by_column : bool
        Whether targets had a column for each task.
    owned : list of OwnedLayout
        Features of all tasks, in the order they were bought.
    """

    names: Annotated[list[Label], msgspec.Meta(min_length=1)]
    by_column: bool
    owned: list[OwnedLayout]


class ClassesLayout(msgspec.Struct, forbid_unknown_fields=True):
    """Labels of classes."""

    type: Literal["bool", "int", "float", "str"]
    labels: list[Label]


class ModelLayout(msgspec.Struct, forbid_unknown_fields=True):
    """A model.

    Attributes
    ----------
    about : dict
        What the writer wanted readers to know, such as the name of the target.
    model : str
        Class of the estimator.
    parameters : dict
        Its parameters; see ``plain_values.py`` for those that are no plain values.
    feature_names : list of str, or None
    kinds : dict or None
        Columns of the training dataframe, by number, that hold times or categories; None: it was none.
    """

    format: Literal["gtgbm"]
    version: Literal[1]
    written_by: str
    about: dict[str, str]
    model: str
    parameters: dict[str, Any]
    n_features: Annotated[int, msgspec.Meta(ge=1, le=MAX_FEATURES)]
    feature_names: list[str] | None
    kinds: dict[str, Literal["time", "category"]] | None
    classes: ClassesLayout | None
    tasks: TasksLayout | None
    timings: dict[str, float]
    parts: Annotated[list[PartLayout], msgspec.Meta(min_length=1)]
