"""Reads a model file: decodes it into the types of the layout, then validates it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path

import msgspec

from gtgbm.model_file.layout import FORMAT_VERSION, Header, ModelFileError, ModelLayout, TasksLayout
from gtgbm.model_file.plain_values import from_plain
from gtgbm.model_file.stored import (
    ESTIMATORS,
    StoredColumns,
    StoredEstimator,
    StoredModel,
    StoredPart,
    StoredTasks,
)
from gtgbm.model_file.validation import (
    require,
    valid_classes,
    valid_columns,
    valid_model,
    valid_owned,
    valid_path,
)
from gtgbm.search import SearchChoice


def read_model_file(path: str | PathLike[str]) -> StoredModel:
    """Read a model file and validate it.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    StoredModel
        The values of the parameters are not validated: the estimators do that.

    Raises
    ------
    ModelFileError
        If the file is incomplete or invalid. Reading a file runs no code from it.
    """
    content = Path(path).read_bytes()
    with model_file_errors(path):
        return _stored(_decode(content))


@contextmanager
def model_file_errors(path: str | PathLike[str]) -> Iterator[None]:
    """Convert errors about the content of a file to a ModelFileError that names the file."""
    try:
        yield
    # These come from the decoder, the arrays, the loss, the forest, and from parameters nested too deeply.
    except (ValueError, TypeError, OverflowError, AttributeError, RecursionError) as error:
        raise ModelFileError(f"{Path(path)} is not a valid gtgbm model file: {error}") from error


def _decode(content: bytes) -> ModelLayout:
    try:
        header = msgspec.json.decode(content, type=Header)
        if header.version > FORMAT_VERSION:
            raise ModelFileError(
                f"its format version is {header.version}, this gtgbm reads up to {FORMAT_VERSION}: upgrade "
                "gtgbm"
            )
        return msgspec.json.decode(content, type=ModelLayout)
    except msgspec.MsgspecError as error:
        raise ModelFileError(str(error)) from error


def _stored(layout: ModelLayout) -> StoredModel:
    if layout.model not in ESTIMATORS:
        raise ModelFileError(f"model {layout.model!r} is unknown; known are {', '.join(sorted(ESTIMATORS))}")
    kind = ESTIMATORS[layout.model]
    parameters = {name: from_plain(name, value) for name, value in layout.parameters.items()}
    columns = valid_columns(layout)
    require((layout.classes is not None) == kind.has_classes, "its classes do not match its model")
    classes = None if layout.classes is None else valid_classes(layout.classes)
    n_classes = 2 if classes is None else classes.shape[0]
    is_single = kind.has_tasks and parameters.get("method") == "single-task"
    tasks = _tasks(layout, columns, n_classes, is_single) if kind.has_tasks else None
    if not kind.has_tasks:
        require(layout.tasks is None and len(layout.parts) == 1, "it has tasks, but its model has none")
    parts = []
    for k, part in enumerate(layout.parts):
        own = n_classes if tasks is None or tasks.classes is None else len(tasks.classes[k])
        model = valid_model(part, columns, 1 if own == 2 else own, knows_task=is_single)
        parts.append(StoredPart(part.task, model, SearchChoice(part.search.name, part.search.reason)))
    estimator = StoredEstimator(layout.model, parameters, classes)
    path = None if layout.selection_path is msgspec.UNSET else valid_path(layout.selection_path, columns)
    chose_size = parameters.get("n_features_to_select") == "auto"
    require((path is not None) == chose_size, "its selection path does not match n_features_to_select")
    return StoredModel(estimator, columns, parts, tasks, layout.about, layout.timings, path)


def _tasks(layout: ModelLayout, columns: StoredColumns, n_classes: int, is_single: bool) -> StoredTasks:
    tasks = layout.tasks
    require(tasks is not None, "its tasks are missing")
    assert tasks is not None
    require(len(set(tasks.names)) == len(tasks.names), "it has several tasks of the same name")
    if is_single:
        require(len(layout.parts) == 1, "its method has one part, but it has several")
    else:
        require([part.task for part in layout.parts] == tasks.names, "its parts and tasks do not match")
    owned = valid_owned(tasks.owned, columns)
    return StoredTasks(tasks.names, tasks.by_column, is_single, owned, _classes(tasks, n_classes, is_single))


def _classes(tasks: TasksLayout, n_classes: int, is_single: bool) -> list[list[int]] | None:
    if tasks.classes is msgspec.UNSET:
        return None
    require(not is_single and n_classes > 2, "its tasks have classes of their own, but its model has not")
    require(len(tasks.classes) == len(tasks.names), "its tasks and their classes do not match")
    for of_task in tasks.classes:
        is_right = len(of_task) > 1 and of_task == sorted(set(of_task)) and of_task[-1] < n_classes
        require(is_right, f"a task has the classes {of_task[:10]} of {n_classes}")
    return tasks.classes
