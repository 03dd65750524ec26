"""The layout of model files: one class for each kind of JSON object."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

FORMAT_VERSION: Literal[1] = 1
"""The version that is written. Files of this and of all earlier versions can be read."""

Index = Annotated[int, msgspec.Meta(ge=0)]
Float = float | None
"""JSON has no NaN: null stands for it."""
Label = bool | int | float | str
MAX_FEATURES = 1 << 24
"""Limit on the number of columns, so that a malicious file cannot allocate any amount of memory."""
MAX_UNNAMED = 1 << 20
"""The same limit where a column without a name takes more memory: dataframes and multitask models."""


class ModelFileError(ValueError):
    """Raised for a file that is not a valid and complete model file."""


class Header(msgspec.Struct):
    """The entries that every version has."""

    format: Literal["gtgbm"]
    version: Annotated[int, msgspec.Meta(ge=1)]


class TreeLayout(msgspec.Struct, forbid_unknown_fields=True):
    """A tree: parallel arrays over its nodes, and lists of nodes.

    Attributes
    ----------
    output : int
        The score that the tree adds to.
    threshold : list of float or str or None
        Largest value that goes left (infinities are "inf" and "-inf"). For a split on a category: the
        category that goes right; null is the category of missing values.
    category, missing_left : list of int
        Nodes that split on a category; nodes whose missing values go left.
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


class EntryLayout(msgspec.Struct, forbid_unknown_fields=True):
    """An entry of the selection history; a category of null is that of missing values.

    A cost of 1 is not written.
    """

    tree: Index
    feature: Index
    gain: float
    price: float
    training_loss: Float
    category: float | str | msgspec.UnsetType | None = msgspec.UNSET
    cost: Annotated[float, msgspec.Meta(ge=0)] | msgspec.UnsetType = msgspec.UNSET


class SearchLayout(msgspec.Struct, forbid_unknown_fields=True):
    """The search used, and the reason for it."""

    name: str
    reason: str


class PartLayout(msgspec.Struct, forbid_unknown_fields=True):
    """The trees of a single-task model, of one task, or of all tasks with method="single-task"."""

    task: Label | None
    start: list[float]
    history: list[EntryLayout]
    training_loss: list[Float]
    evaluations: list[dict[str, list[Float]]]
    best_round: Index | None
    search: SearchLayout
    trees: list[TreeLayout]


class OwnedLayout(msgspec.Struct, forbid_unknown_fields=True):
    """A feature that some task selected."""

    feature: Index
    category: float | str | msgspec.UnsetType | None = msgspec.UNSET


class TasksLayout(msgspec.Struct, forbid_unknown_fields=True):
    """The tasks of a multitask model.

    Attributes
    ----------
    names : list
        Ids of the tasks, in the order of the parts. With method="single-task" there is one part for all.
    by_column : bool
        Whether the targets had one column per task.
    owned : list of OwnedLayout
        Features selected by any task, in the order of selection.
    classes : list of list of int
        Positions of the classes of each task among the classes of the model, ascending. Not written if every
        task has all of them.
    """

    names: Annotated[list[Label], msgspec.Meta(min_length=1)]
    by_column: bool
    owned: list[OwnedLayout]
    classes: list[list[Index]] | msgspec.UnsetType = msgspec.UNSET


class ClassesLayout(msgspec.Struct, forbid_unknown_fields=True):
    """Labels of classes."""

    type: Literal["bool", "int", "float", "str"]
    labels: list[Label]


class PathLayout(msgspec.Struct, forbid_unknown_fields=True):
    """The selection path of a model that chose its number of features.

    Attributes
    ----------
    fold_scores : list of list of float
        By fold and size.
    fold_features : list of list of list of int
        Columns by fold and size.
    """

    sizes: Annotated[list[Annotated[int, msgspec.Meta(ge=1)]], msgspec.Meta(min_length=1)]
    fold_scores: Annotated[list[list[float]], msgspec.Meta(min_length=2)]
    fold_features: list[list[list[Index]]]
    scoring: str


class ModelLayout(msgspec.Struct, forbid_unknown_fields=True):
    """A model.

    Attributes
    ----------
    about : dict
        Texts of the user, such as the name of the target.
    model : str
        Class of the estimator.
    parameters : dict
        Its parameters; ``plain_values.py`` converts those that JSON cannot hold.
    feature_names : list of str, or None
    kinds : dict or None
        Columns of the training dataframe that hold times or categories, by index; None if the training table
        was not a dataframe.
    selection_path : PathLayout
        Only of models with n_features_to_select="auto".
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
    selection_path: PathLayout | msgspec.UnsetType = msgspec.UNSET
