"""``gtgbm export``: writes a model for another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from gtgbm import export
from gtgbm.cli.errors import UserError
from gtgbm.estimators import load_model


def run_export(path: Path, file_format: str, out: Path, task: str | None) -> None:
    """Write a model file in another format, and name the files written."""
    model, write = load_model(path), getattr(export, f"export_{file_format}")
    for written in write(model, out, task=None if task is None else _task(model, task)):
        typer.echo(written)


def _task(model: Any, text: str) -> Any:
    """Return the task with this text as its name."""
    tasks = getattr(model, "tasks_", [])
    for task in tasks:
        if str(task) == text:
            return task
    if not tasks:
        raise UserError(f"--task {text}: the model has a single task; leave it out")
    names = ", ".join(map(str, tasks[:10]))
    raise UserError(f"--task {text}: the model has the tasks {names}; give one of them")
