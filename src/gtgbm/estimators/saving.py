"""From a fitted estimator to a model file and back; ``gtgbm.model_file`` knows the file."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np

from gtgbm import estimators
from gtgbm.boosting import Fitted, Model
from gtgbm.data import FrameSchema
from gtgbm.estimators.tables import keep_schema
from gtgbm.exact import F64
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
from gtgbm.multitask import FittedTasks


def save_model(model: Any, path: str | PathLike[str], about: Mapping[str, str] | None = None) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        Any of gtgbm's. Trees, selection history, results and parameters are written, so that a loaded model
        predicts the same bits; training data is not.
    path : str or path
        JSON; written aside and then renamed, so that no half of a file is ever there.
    about : mapping of str to str, optional
        What the reader should know, such as the name of the target.
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
        Of the class that was saved. It predicts the same bits; a later ``fit`` begins anew.

    Raises
    ------
    ModelFileError
        If the file is not a whole and valid model. Reading runs no code from the file.
    """
    stored = read_model_file(path)
    with model_file_errors(path):
        return _estimator(stored)


def stored_model(model: Any, about: Mapping[str, str] | None = None) -> StoredModel:
    """Return what a file holds of a fitted estimator."""
    if not hasattr(model, "trees_"):
        raise ValueError(f"model={model!r} is no fitted model of gtgbm: call fit first")
    names = getattr(model, "feature_names_in_", None)
    schema: FrameSchema | None = model._schema
    return StoredModel(
        StoredEstimator(type(model).__name__, model.get_params(deep=False), getattr(model, "classes_", None)),
        StoredColumns(model.n_features_in_, None if names is None else names.tolist(), schema),
        _parts(model),
        _tasks(model),
        model._about if about is None else about,
        model.timings_,
    )


def _parts(model: Any) -> list[StoredPart]:
    if not hasattr(model, "tasks_"):
        kept = model.selection_history_, model.evals_result_, model.best_iteration_
        return [StoredPart(None, _model(model, model._start, model.trees_, *kept), model.search_)]
    found = []
    # A model of all tasks in one is the same for each.
    for task in model.tasks_[:1] if model._is_single else model.tasks_:
        start: F64 = model._forests[task].start
        of_task = (model.trees_, model.selection_history_, model.evals_result_, model.best_iteration_)
        name = None if model._is_single else _task_name(task)
        found.append(
            StoredPart(name, _model(model, start, *(one[task] for one in of_task)), model.search_[task])
        )
    return found


def _model(model: Any, start: F64, trees: Any, history: Any, results: Any, best_round: int | None) -> Model:
    others = dict(results)
    training = next(iter(others.pop("training").values()))
    outputs = getattr(model, "_outputs", [0] * len(trees))
    coded = [model._coded(entry) for entry in history]
    return Model(start, trees, outputs, coded, training, list(others.values()), best_round)


def _tasks(model: Any) -> StoredTasks | None:
    if not hasattr(model, "tasks_"):
        return None
    schema: FrameSchema | None = model._schema
    owned = [
        (int(column), category if category is None or schema is None else schema.code(column, category))
        for column, category in model._owned
    ]
    names = [_task_name(task) for task in model.tasks_]
    return StoredTasks(names, bool(model._matrix_form), bool(model._is_single), owned)


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
    loss = estimator._make_loss()
    if stored.tasks is None:
        estimator._keep(stored.parts[0].model, loss, columns.count)
        estimator.search_ = stored.parts[0].search
    else:
        tasks = stored.tasks
        estimator._matrix_form, estimator._is_single = tasks.by_column, tasks.is_single
        fitted = [Fitted(part.model, part.search, {}) for _, part in stored.parts_by_task()]
        estimator._keep_tasks(tasks.names, FittedTasks(fitted, tasks.owned, 0.0), loss)
    estimator.timings_ = stored.timings
    estimator._about = stored.about
    return estimator


def _new_estimator(stored: StoredEstimator) -> Any:
    cls = getattr(estimators, stored.name)
    unknown = sorted(set(stored.parameters) - set(cls().get_params()))
    if unknown:
        raise ModelFileError(f"{stored.name} has no parameters {', '.join(map(repr, unknown[:5]))}")
    return cls(**stored.parameters)
