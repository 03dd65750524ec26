"""``gtgbm predict``: predicts the rows of a table file batch by batch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from gtgbm.cli.columns import check_named, meant
from gtgbm.cli.errors import UserError
from gtgbm.cli.files import open_table
from gtgbm.cli.loading import LibsvmColumns, Roles, is_libsvm, load
from gtgbm.cli.prediction_file import check_format, check_out, predictions_to
from gtgbm.cli.table_file import TableFile, Wanted
from gtgbm.cli.text_format import TextFormat
from gtgbm.data import FrameColumn, FrameSchema, lacking, listed
from gtgbm.estimators import load_model


@dataclass(frozen=True)
class PredictOptions:
    """What ``gtgbm predict`` was asked for.

    Attributes
    ----------
    id_columns : sequence of str or None
        Columns to pass on; None: those that the training named, as far as there are such.
    contributions : bool
        Whether to add the contributions of the selected columns to the score.
    """

    model: Path
    table: Path
    out: Path | None
    task: str | None
    id_columns: Sequence[str] | None
    text_format: TextFormat
    contributions: bool = False


def run_predict(options: PredictOptions, console: Console) -> None:
    """Predict the rows of a table, in order."""
    if options.out is not None:
        check_format(options.out)
        check_out(options.out)
    model = load_model(options.model)
    with predictions_to(options.out) as writer:
        for columns in _predicted(model, options, console):
            if columns is None:
                writer.restart()
            else:
                writer.add(columns)


def _is_by_column(model: Any, task: str | None) -> bool:
    """Whether every row has a prediction for each task."""
    return task is None and hasattr(model, "tasks_")


def _headings(model: Any, task: Any, options: PredictOptions) -> list[str]:
    classes = [] if not hasattr(model, "classes_") else model.classes_.tolist()
    contributions = _contribution_names(model, task is None) if options.contributions else []
    if not _is_by_column(model, task):
        return ["prediction", *(f"p_{label}" for label in classes), *contributions]
    p = [f"p_{name}" for name in model.tasks_] if classes else []
    if len(classes) > 2:
        p = [f"p_{name}_{label}" for name in model.tasks_ for label in classes]
    return [*(f"prediction_{name}" for name in model.tasks_), *p, *contributions]


def _predicted(model: Any, options: PredictOptions, console: Console) -> Iterator[Mapping[str, Any] | None]:
    """Yield predictions; None says that all before was wrong, and that it comes again."""
    path, task = options.table, options.task or model._about.get("task")
    if is_libsvm(path):
        for name in options.id_columns or ():
            raise UserError(f"--id-columns {name}: {path} is in libsvm's format, whose columns have no names")
        loaded = load(path, Roles(), console, libsvm=LibsvmColumns.of(model))
        yield _of_rows(model, loaded.X, None, options)
        return
    file = open_table(path, options.text_format.or_as_in(model._about))
    ids = _ids(model, options, file)
    names = _needed(model, path, [name for name in file.names if name not in ids or _knows_names(model)])
    if task is not None and task not in file.names:
        raise UserError(f"{path} has no column {task!r}, which names the task of each row; give --task")
    wanted = Wanted.like(_schema(model, names), names, [task] if task else [])
    # The features once more: a column may be both.
    columns = list(dict.fromkeys([*wanted.columns, *ids]))
    wanted = replace(wanted, columns=columns, verbatim=[name for name in ids if name not in wanted.columns])
    headings, n_rows = _headings(model, task, options), 0
    clash = [name for name in ids if name in headings]
    if clash:
        raise UserError(f"--id-columns {clash[0]!r} has the name of a column of predictions: rename it")
    for batch in file.batches(wanted, lambda _: None):
        if batch is None:
            n_rows = 0
            yield None
        elif batch.num_rows:
            n_rows += batch.num_rows
            of_row = None if task is None else np.asarray(batch.column(task))
            found = _of_rows(model, _as_trained(model, batch.select(names)), of_row, options)
            yield {name: batch.column(name) for name in ids} | found
    if n_rows == 0:
        yield {name: [] for name in [*ids, *headings]}


def _ids(model: Any, options: PredictOptions, file: TableFile) -> list[str]:
    """Columns that are passed on."""
    if options.id_columns is not None:
        check_named(options.table, file.names, {"--id-columns": options.id_columns})
        return list(options.id_columns)
    return [name for name in json.loads(model._about.get("id_columns", "[]")) if name in file.names]


def _knows_names(model: Any) -> bool:
    return hasattr(model, "feature_names_in_")


def _schema(model: Any, names: Sequence[str]) -> FrameSchema:
    """Return what the columns of a file have to hold."""
    if model._schema is not None:
        return model._schema  # type: ignore[no-any-return]
    return FrameSchema(tuple(FrameColumn(name, "number") for name in names))


def _needed(model: Any, path: Path, present: list[str]) -> list[str]:
    """Return the columns to read."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        if len(present) != model.n_features_in_:
            raise UserError(
                f"{path} has {len(present)} columns, but the model was trained on {model.n_features_in_} "
                "columns without names: give a table with exactly these"
            )
        return present
    needed = [str(name) for name in names[np.sort(model.selected_features_)]]
    absent = lacking(needed, present)
    if absent:
        what = f"{path} has no column {listed(absent)}, which the model needs"
        raise UserError(what + meant(absent[0], present))
    # A model that bought nothing predicts a constant for every row, of which it must know the number.
    return needed or present[:1]


def _as_trained(model: Any, table: Any) -> Any:
    """Return the columns by position if the model was trained without names."""
    if hasattr(model, "feature_names_in_"):
        return table
    if model._schema is not None:
        return table.rename_columns([str(k) for k in range(table.num_columns)])
    return np.column_stack([column.to_numpy() for column in table.columns])


def _of_rows(model: Any, X: Any, task: NDArray[Any] | None, options: PredictOptions) -> dict[str, list[Any]]:
    """Predict some rows; returns the columns by their headings."""
    values = _values(model, X, task)
    if options.contributions:
        given = {} if task is None else {"task": task}
        found = model.predict_contributions(X, **given, selected_only=True)
        values += [column.tolist() for column in found.reshape(found.shape[0], -1).T]
    return dict(zip(_headings(model, task, options), values, strict=True))


def _contribution_names(model: Any, by_column: bool) -> list[str]:
    """Return the headings of contributions: columns, and the expected score, of each class or task."""
    features = model.selected_features_.tolist()
    names = getattr(model, "feature_names_in_", None)
    columns = [*(features if names is None else names[features]), "expected"]
    classes = list(getattr(model, "classes_", ()))
    of_class = [f"{label}_" for label in classes] if len(classes) > 2 else [""]
    of_task = [f"{task}_" for task in model.tasks_] if hasattr(model, "tasks_") and by_column else [""]
    return [f"contribution_{task}{label}{name}" for task in of_task for label in of_class for name in columns]


def _values(model: Any, X: Any, task: NDArray[Any] | None) -> list[list[Any]]:
    """Predict some rows; returns the columns."""
    given = {} if task is None else {"task": task}
    predicted = model.predict(X, **given)
    columns = list((predicted if predicted.ndim == 2 else predicted[:, None]).T)
    if hasattr(model, "classes_"):
        p = model.predict_proba(X, **given)
        columns += list(p.reshape(p.shape[0], -1).T)
    return [column.tolist() for column in columns]
