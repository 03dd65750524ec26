"""Writes the files of an export, one for each task of a multitask model."""

from __future__ import annotations

import re
from collections.abc import Callable
from os import PathLike, fspath
from typing import Any

from gtgbm.export.plain_model import PlainModel, check_fitted, plain_model
from gtgbm.files import write_together

TASK = "{task}"
"""What stands for the name of a task in the path of an export."""


def export_files(
    estimator: Any, path: str | PathLike[str], task: Any, content: Callable[[PlainModel], bytes]
) -> list[str]:
    """Write the file of a model, or of each task, and return the paths.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    path : str or path
        For all tasks of a multitask model it contains ``{task}``, which is replaced by their names.
    task : object
        The only task to write; None: all.
    content : callable
        Makes the content of a file. No file appears unless all are written.
    """
    check_fitted(estimator)
    paths = _paths(estimator, fspath(path), task)
    contents = {file: content(plain_model(estimator, name)) for name, file in paths.items()}
    write_together(contents)
    return list(contents)


def _paths(estimator: Any, path: str, task: Any) -> dict[Any, str]:
    """Return the path of each task; characters that file names should not have become underscores."""
    if not hasattr(estimator, "tasks_"):
        return {task: path}  # `plain_model` refuses a task that there is not
    tasks = estimator.tasks_ if task is None else [task]
    if len(tasks) > 1 and TASK not in path:
        raise ValueError(
            f"path={path!r} is one file, but the model has {len(tasks)} tasks: put {TASK} into the path for "
            "a file of each, or give task=..."
        )
    paths = {name: path.replace(TASK, re.sub(r"[^\w.-]", "_", str(name))) for name in tasks}
    if len(set(paths.values())) < len(paths):
        raise ValueError(
            f"path={path!r}: several tasks have the same file name; export them one by one with task=..."
        )
    return paths
