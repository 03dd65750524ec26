"""``gtgbm predict``: predicts the rows of a table file batch by batch."""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from gtgbm.cli.errors import UserError
from gtgbm.cli.files import Wanted, open_table
from gtgbm.cli.loading import LibsvmColumns, Roles, is_libsvm, load
from gtgbm.data import lacking, listed
from gtgbm.estimators import load_model
from gtgbm.files import check_writable, write_aside

_BLOCK = 1 << 20


def run_predict(path: Path, table: Path, out: Path | None, task: str | None, console: Console) -> None:
    """Predict the rows of a table, in order."""
    if out is not None:
        check_writable(out)
    model = load_model(path)
    # To a temporary file first: if a late value changes the type of a CSV column, all rows are redone.
    with tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as file:
        _write(model, table, task or model._about.get("task"), file, console)
        file.seek(0)
        if out is None:
            shutil.copyfileobj(file, sys.stdout)
        else:
            write_aside(out, (block.encode() for block in iter(lambda: file.read(_BLOCK), "")))


def _write(model: Any, table: Path, task: str | None, file: IO[str], console: Console) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_headings(model, task))
    for rows in _predicted(model, table, task, console):
        if rows is None:
            file.seek(0)
            file.truncate()
            writer.writerow(_headings(model, task))
        else:
            writer.writerows(rows)


def _is_by_column(model: Any, task: str | None) -> bool:
    """Whether every row has a prediction for each task."""
    return task is None and hasattr(model, "tasks_")


def _headings(model: Any, task: str | None) -> list[str]:
    classes = getattr(model, "classes_", None)
    if _is_by_column(model, task):
        p = [] if classes is None else [f"p_{name}" for name in model.tasks_]
        return [*(f"prediction_{name}" for name in model.tasks_), *p]
    return ["prediction", *([] if classes is None else [f"p_{label}" for label in classes.tolist()])]


def _predicted(
    model: Any, path: Path, task: str | None, console: Console
) -> Iterator[list[list[Any]] | None]:
    """Yield predictions; None means that all earlier predictions are discarded and yielded again."""
    if is_libsvm(path):
        yield _rows(model, load(path, Roles(), console, libsvm=LibsvmColumns.of(model)).X, None)
        return
    file = open_table(path)
    names = _needed(model, path, file.names)
    if task is not None and task not in file.names:
        raise UserError(f"{path} has no column {task!r} with the task of each row; give --task")
    wanted = Wanted([*names, *([task] if task else [])], _text(model, names), [task] if task else [])
    for batch in file.batches(wanted, lambda _: None):
        if batch is None:
            yield None
        elif batch.num_rows:
            ids = None if task is None else np.asarray(batch.column(task))
            yield _rows(model, _as_trained(model, batch.select(names)), ids)


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
    missing = lacking(needed, present)
    if missing:
        raise UserError(f"{path} has no columns {listed(missing)}, which the model needs")
    # A model without features predicts a constant; a column is read to count the rows.
    return needed or present[:1]


def _text(model: Any, names: list[str]) -> list[str]:
    """Return the columns to read as text, even if they look like numbers."""
    if model._schema is None:
        return []
    if not model._schema.is_named:
        return [names[k] for k in model._schema.categorical]
    wanted = set(names)
    return [name for name in model._schema.text_names if name in wanted]


def _as_trained(model: Any, table: Any) -> Any:
    """Return the columns by position if the model was trained without names."""
    if hasattr(model, "feature_names_in_"):
        return table
    if model._schema is not None:
        return table.rename_columns([str(k) for k in range(table.num_columns)])
    return np.column_stack([column.to_numpy() for column in table.columns])


def _rows(model: Any, X: Any, task: NDArray[Any] | None) -> list[list[Any]]:
    arguments = {} if task is None else {"task": task}
    predicted = model.predict(X, **arguments)
    columns = [(predicted if predicted.ndim == 2 else predicted[:, None]).astype(object)]
    if hasattr(model, "classes_"):
        p = model.predict_proba(X, **arguments)
        columns.append((p[:, :, 1] if p.ndim == 3 else p).astype(object))
    rows: list[list[Any]] = np.hstack(columns).tolist()
    return rows
