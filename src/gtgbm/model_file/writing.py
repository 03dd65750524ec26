"""Writes a stored model to a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from typing import Any

import msgspec
import numpy as np

from gtgbm.boosting import HistoryEntry
from gtgbm.data import FrameSchema
from gtgbm.files import write_aside
from gtgbm.model_file.layout import (
    FORMAT_VERSION,
    ClassesLayout,
    EntryLayout,
    ModelLayout,
    OwnedLayout,
    PartLayout,
    PathLayout,
    SearchLayout,
    TasksLayout,
    TreeLayout,
)
from gtgbm.model_file.plain_values import as_plain
from gtgbm.model_file.stored import StoredColumns, StoredModel, StoredPart, StoredTasks
from gtgbm.selection import SelectionPath
from gtgbm.tree import Tree

_TYPES = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str"}


def write_model_file(stored: StoredModel, path: str | PathLike[str]) -> None:
    """Write a model to a temporary file and rename it, so that the file is never incomplete."""
    write_aside(path, b"".join(_lines(_layout(stored))))


def _layout(stored: StoredModel) -> ModelLayout:
    columns = stored.columns
    return ModelLayout(
        format="gtgbm",
        version=FORMAT_VERSION,
        written_by=f"gtgbm {_library_version()}",
        about=dict(stored.about),
        model=stored.estimator.name,
        parameters={name: as_plain(name, value) for name, value in stored.estimator.parameters.items()},
        n_features=columns.count,
        feature_names=columns.names,
        kinds=_kinds(columns.schema),
        classes=_classes(stored.estimator.classes),
        tasks=None if stored.tasks is None else _tasks(stored.tasks, columns),
        timings=dict(stored.timings),
        parts=[_part(part, columns) for part in stored.parts],
        selection_path=msgspec.UNSET if stored.path is None else _path(stored.path),
    )


def _path(path: SelectionPath) -> PathLayout:
    return PathLayout(
        sizes=path.sizes.tolist(),
        fold_scores=path.fold_scores.tolist(),
        fold_features=[[columns.tolist() for columns in of_fold] for of_fold in path.fold_features],
        scoring=path.scoring,
    )


def _kinds(schema: FrameSchema | None) -> Any:
    if schema is None:
        return None
    return {str(k): column.kind for k, column in enumerate(schema.columns) if column.kind != "number"}


def _tasks(tasks: StoredTasks, columns: StoredColumns) -> TasksLayout:
    owned = [OwnedLayout(column, _category(columns, column, category)) for column, category in tasks.owned]
    classes = msgspec.UNSET if tasks.classes is None else tasks.classes
    return TasksLayout(tasks.names, tasks.by_column, owned, classes)


def _part(part: StoredPart, columns: StoredColumns) -> PartLayout:
    model = part.model
    return PartLayout(
        task=part.task,
        start=model.start.tolist(),
        history=[_entry(entry, columns) for entry in model.history],
        training_loss=_floats(model.training_losses),
        evaluations=[
            {name: _floats(values) for name, values in by_name.items()} for by_name in model.evaluations
        ],
        best_round=model.best_round,
        search=SearchLayout(str(part.search), part.search.reason),
        trees=[_tree(*pair, columns) for pair in zip(model.trees, model.outputs, strict=True)],
    )


def _tree(tree: Tree, output: int, columns: StoredColumns) -> TreeLayout:
    threshold: list[float | str | None] = []
    for feature, value, is_category in zip(
        tree.feature.tolist(), tree.threshold.tolist(), tree.is_category.tolist(), strict=True
    ):
        if is_category:
            threshold.append(_label(columns.label(feature, value)))
        else:
            threshold.append(value if np.isfinite(value) else str(value))
    return TreeLayout(
        output=int(output),
        feature=tree.feature.tolist(),
        threshold=threshold,
        left=tree.left.tolist(),
        value=tree.value.tolist(),
        rows=tree.n_rows.tolist(),
        gain=tree.gain.tolist(),
        category=np.flatnonzero(tree.is_category).tolist(),
        missing_left=np.flatnonzero(tree.missing_left).tolist(),
    )


def _entry(entry: HistoryEntry, columns: StoredColumns) -> EntryLayout:
    return EntryLayout(
        tree=entry.tree,
        feature=entry.feature,
        gain=entry.gain,
        price=entry.price,
        training_loss=entry.training_loss,
        category=_category(columns, entry.feature, entry.category),
        cost=msgspec.UNSET if entry.cost == 1.0 else entry.cost,
    )


def _category(columns: StoredColumns, column: int, category: float | None) -> Any:
    return msgspec.UNSET if category is None else _label(columns.label(column, category))


def _label(category: Any) -> Any:
    """Return a category as a JSON value: null for missing values, text for infinite numbers."""
    if isinstance(category, str) or np.isfinite(category):
        return category
    return None if np.isnan(category) else str(category)


def _classes(classes: Any) -> ClassesLayout | None:
    if classes is None:
        return None
    labels = classes.tolist()
    kind = _TYPES.get(classes.dtype.kind)
    if kind is None and all(isinstance(label, str) for label in labels):
        kind = "str"
    if kind is None:
        raise ValueError(
            f"classes of type {classes.dtype} cannot be written to a model file: give y as numbers, text or "
            "booleans, or pickle the model"
        )
    return ClassesLayout(kind, labels)  # type: ignore[arg-type]


def _floats(values: Iterable[float]) -> list[float | None]:
    return [float(value) if np.isfinite(value) else None for value in values]


def _lines(layout: ModelLayout) -> Iterator[bytes]:
    """Yield readable JSON: one line for each entry and for each tree."""
    parts = layout.parts
    yield from _entries(layout, "parts")
    for k, part in enumerate(parts):
        yield from _entries(part, "trees")
        yield b",\n".join(msgspec.json.encode(tree) for tree in part.trees)
        yield b"\n]}" + (b",\n" if k + 1 < len(parts) else b"\n]}\n")


def _entries(layout: msgspec.Struct, last: str) -> Iterator[bytes]:
    yield b"{\n"
    for name in layout.__struct_fields__:
        value = getattr(layout, name)
        if name != last and value is not msgspec.UNSET:
            yield b'"%s": %s,\n' % (name.encode(), msgspec.json.encode(value))
    yield b'"%s": [\n' % last.encode()


def _library_version() -> str:
    from importlib.metadata import version

    return version("gtgbm")
