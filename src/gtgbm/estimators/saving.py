"""Converts fitted estimators to stored models and back; ``gtgbm.model_file`` reads and writes the files."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from gtgbm import estimators
from gtgbm.boosting import Fitted
from gtgbm.data import FrameSchema
from gtgbm.estimators.tables import keep_schema
from gtgbm.model_file import (
    Label,
    ModelFileError,
    StoredColumns,
    StoredEstimator,
    StoredModel,
    StoredPart,
    StoredTasks,
    model_file_errors,
    read_model_file,
    write_model_file,
)


def save_model(model: Any, path: str | PathLike[str], about: Mapping[str, str] | None = None) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : fitted estimator of this package
        Trees, selection history, results and parameters are written, so that the predictions of a loaded
        model are identical; training data is not written.
    path : str or path
        The JSON file to write. A temporary file is written first and then renamed, so that the file is never
        incomplete.
    about : mapping of str to str, optional
        Texts to store in the file, such as the name of the target.
    """
    write_model_file(stored_model(model, about), path)


def load_model(path: str | PathLike[str]) -> Any:
    """Read a model that `save_model` wrote.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        An estimator of the class that was saved, with identical predictions. A single-task model can be
        continued with ``warm_start=True``; a file keeps only the categories that trees ask for, so that
        tables with text may have to be trained from scratch.

    Raises
    ------
    ModelFileError
        If the file is incomplete or invalid. Reading a file runs no code from it.
    """
    stored = read_model_file(path)
    with model_file_errors(path):
        return _estimator(stored)


def stored_model(model: Any, about: Mapping[str, str] | None = None) -> StoredModel:
    """Return the content of the model file of a fitted estimator."""
    if not hasattr(model, "trees_"):
        raise ValueError(f"model={model!r} is not a fitted estimator of gtgbm: call fit first")
    names = getattr(model, "feature_names_in_", None)
    schema: FrameSchema | None = model._schema
    return StoredModel(
        StoredEstimator(type(model).__name__, model.get_params(deep=False), getattr(model, "classes_", None)),
        StoredColumns(model.n_features_in_, None if names is None else names.tolist(), schema),
        _parts(model),
        _tasks(model),
        model._about if about is None else about,
        model.timings_,
        getattr(model, "selection_path_", None),
    )


def _parts(model: Any) -> list[StoredPart]:
    tasks = list(model._models)
    if not hasattr(model, "tasks_"):
        return [StoredPart(None, model._models[None], model.search_)]
    # method="single-task" has one model for all tasks: it is stored once.
    return [
        StoredPart(None if model._is_single else _task_name(task), model._models[task], model.search_[task])
        for task in (tasks[:1] if model._is_single else tasks)
    ]


def _tasks(model: Any) -> StoredTasks | None:
    if not hasattr(model, "tasks_"):
        return None
    owned = [(int(column), category) for column, category in model._owned]
    names = [_task_name(task) for task in model.tasks_]
    classes = None
    if hasattr(model, "task_classes_"):
        positions = [model._positions_of(task).tolist() for task in model.tasks_]
        has_all = all(len(of_task) == model.classes_.shape[0] for of_task in positions)
        classes = None if has_all else positions
    return StoredTasks(names, bool(model._by_column), bool(model._is_single), owned, classes)


def _task_name(task: Any) -> Label:
    plain = task.item() if isinstance(task, np.generic) else task
    if not isinstance(plain, bool | int | float | str):
        raise ValueError(
            f"task {task!r} cannot be written to a model file: name tasks by numbers or text, or pickle the "
            "model"
        )
    return plain


def _estimator(stored: StoredModel) -> Any:
    columns, classes = stored.columns, stored.estimator.classes
    estimator = _new_estimator(stored.estimator)
    estimator.n_features_in_ = columns.count
    if columns.schema is not None:
        keep_schema(estimator, columns.schema)
    elif columns.names is not None:
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)
    if classes is not None:
        estimator.classes_ = classes
    if stored.tasks is not None:
        estimator.tasks_ = stored.tasks.names
        estimator._by_column, estimator._is_single = stored.tasks.by_column, stored.tasks.is_single
        if classes is not None:
            of_tasks = stored.tasks.classes or [list(range(classes.shape[0]))] * len(stored.tasks.names)
            pairs = zip(stored.tasks.names, of_tasks, strict=True)
            estimator.task_classes_ = {name: classes[of_task] for name, of_task in pairs}
    owned = [(entry.feature, entry.category) for entry in stored.parts[0].model.history]
    fitted = {task: Fitted(part.model, part.search, {}) for task, part in stored.parts_by_task()}
    estimator._keep(fitted, owned if stored.tasks is None else stored.tasks.owned, estimator._make_loss())
    if stored.path is not None:
        estimator.selection_path_ = stored.path
    if stored.tasks is None:
        estimator._prepare_to_continue()
    estimator.timings_ = stored.timings
    estimator._about = stored.about
    return estimator


def _new_estimator(stored: StoredEstimator) -> Any:
    cls = getattr(estimators, stored.name)
    unknown = sorted(set(stored.parameters) - set(cls().get_params()))
    if unknown:
        raise ModelFileError(f"{stored.name} has no parameters {', '.join(map(repr, unknown[:5]))}")
    return cls(**stored.parameters)
