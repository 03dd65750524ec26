"""``gtgbm predict``: a model file and a table file in, predictions out, batch by batch."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from gtgbm.cli.errors import UserError
from gtgbm.cli.files import Wanted, open_table
from gtgbm.cli.loading import Roles, is_libsvm, load
from gtgbm.data.frames import listed
from gtgbm.files import write_aside
from gtgbm.model_file.reading import load_model


def run_predict(path: Path, table: Path, out: Path | None, task: str | None, console: Console) -> None:
    """Predict the rows of a table, in order."""
    model = load_model(path)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_headings(model))
    for rows in _predicted(model, table, task or model._about.get("task"), console):
        writer.writerows(rows)
    if out is None:
        sys.stdout.write(text.getvalue())
    else:
        write_aside(out, text.getvalue().encode())


def _headings(model: Any) -> list[str]:
    classes = getattr(model, "classes_", None)
    return ["prediction", *([] if classes is None else [f"p_{label}" for label in classes.tolist()])]


def _predicted(model: Any, table: Path, task: str | None, console: Console) -> Iterator[list[list[Any]]]:
    if is_libsvm(table):
        X = load(table, Roles(), console).X
        missing = model.n_features_in_ - X.shape[1]
        if missing > 0:  # the last columns may be zero in all rows
            X.resize(X.shape[0], model.n_features_in_)
        yield _rows(model, X, None)
        return
    file = open_table(table)
    names = _needed(model, table, file.names)
    text = (
        []
        if model._schema is None
        else [
            column.name
            for column in model._schema.columns
            if column.kind == "category" and column.name in names
        ]
    )
    if task is not None and task not in file.names:
        raise UserError(f"{table} has no column {task!r}, which names the task of each row; give --task")
    wanted = Wanted([*names, *([task] if task else [])], text, [task] if task else [])
    found: list[list[list[Any]]] = []
    for batch in file.batches(wanted, lambda _: None):
        if batch is None:
            found = []
        elif batch.num_rows:
            ids = None if task is None else np.asarray(batch.column(task))
            found.append(_rows(model, batch.select(names), ids))
    yield from found


def _needed(model: Any, table: Path, present: list[str]) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        if len(present) < model.n_features_in_:
            raise UserError(f"{table} has {len(present)} columns, the model takes {model.n_features_in_}")
        return present[: model.n_features_in_]
    needed = [str(name) for name in names[np.sort(model.selected_features_)]]
    absent = [name for name in needed if name not in set(present)]
    if absent:
        raise UserError(f"{table} has no columns {listed(absent)}, which the model needs")
    # A model that bought nothing predicts a constant for every row, of which it must know the number.
    return needed or present[:1]


def _rows(model: Any, X: Any, task: NDArray[Any] | None) -> list[list[Any]]:
    given = {} if task is None else {"task": task}
    columns = [model.predict(X, **given)[:, None].astype(object)]
    if hasattr(model, "classes_"):
        columns.append(model.predict_proba(X, **given).astype(object))
    rows: list[list[Any]] = np.hstack(columns).tolist()
    return rows
