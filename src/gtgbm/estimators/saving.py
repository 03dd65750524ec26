"""From a fitted estimator to a model file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import msgspec
import numpy as np

from gtgbm.boosting import HistoryEntry
from gtgbm.data import FrameSchema
from gtgbm.exact import F64
from gtgbm.files import write_aside
from gtgbm.model_file import (
    FORMAT_VERSION,
    BoughtLayout,
    ClassesLayout,
    ModelLayout,
    OwnedLayout,
    PartLayout,
    SearchLayout,
    TasksLayout,
    TreeLayout,
    as_plain,
)
from gtgbm.search import SearchChoice
from gtgbm.tree import Tree

_TYPES = {"b": "bool", "i": "int", "u": "int", "f": "float", "U": "str"}


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
    if not hasattr(model, "trees_"):
        raise ValueError(f"model={model!r} is no fitted model of gtgbm: call fit first")
    write_aside(path, b"".join(_lines(_layout(model, model._about if about is None else about))))


def _layout(model: Any, about: Mapping[str, str]) -> ModelLayout:
    names = getattr(model, "feature_names_in_", None)
    schema: FrameSchema | None = model._schema
    return ModelLayout(
        format="gtgbm",
        version=FORMAT_VERSION,
        written_by=f"gtgbm {_library_version()}",
        about=dict(about),
        model=type(model).__name__,
        parameters={name: as_plain(name, value) for name, value in model.get_params(deep=False).items()},
        n_features=model.n_features_in_,
        feature_names=None if names is None else names.tolist(),
        kinds=None
        if schema is None
        else {str(k): column.kind for k, column in enumerate(schema.columns) if column.kind != "number"},
        classes=_classes(getattr(model, "classes_", None)),
        tasks=_tasks(model),
        timings=dict(model.timings_),
        parts=[_part(one, schema) for one in _fitted_parts(model)],
    )


class _Fitted(NamedTuple):
    """What belongs to one part of a model."""

    task: Any
    trees: Sequence[Tree]
    outputs: Sequence[int]
    start: F64
    history: Sequence[HistoryEntry]
    results: Mapping[str, Mapping[str, Sequence[float]]]
    best_round: int | None
    search: SearchChoice


def _fitted_parts(model: Any) -> list[_Fitted]:
    if not hasattr(model, "tasks_"):
        kept = model.selection_history_, model.evals_result_, model.best_iteration_, model.search_
        return [_Fitted(None, model.trees_, model._outputs, model._start, *kept)]
    found = []
    # A model of all tasks in one is the same for each.
    for task in model.tasks_[:1] if model._is_single else model.tasks_:
        trees, start = model.trees_[task], model._forests[task].start
        of_task = (model.selection_history_, model.evals_result_, model.best_iteration_, model.search_)
        name = None if model._is_single else _task_name(task)
        found.append(_Fitted(name, trees, [0] * len(trees), start, *(one[task] for one in of_task)))
    return found


def _tasks(model: Any) -> TasksLayout | None:
    if not hasattr(model, "tasks_"):
        return None
    owned = [OwnedLayout(int(column), _category(category)) for column, category in model._owned]
    return TasksLayout([_task_name(task) for task in model.tasks_], bool(model._matrix_form), owned)


def _task_name(task: Any) -> bool | int | float | str:
    plain = task.item() if isinstance(task, np.generic) else task
    if not isinstance(plain, bool | int | float | str):
        raise ValueError(
            f"task {task!r} cannot be written to a model file: name tasks by numbers or text, or pickle the "
            "model"
        )
    return plain


def _part(part: _Fitted, schema: FrameSchema | None) -> PartLayout:
    results = dict(part.results)
    training = next(iter(results.pop("training").values()))
    return PartLayout(
        task=part.task,
        start=part.start.tolist(),
        history=[_bought(entry) for entry in part.history],
        training_loss=_floats(training),
        evaluations=[{name: _floats(values) for name, values in one.items()} for one in results.values()],
        best_round=part.best_round,
        search=SearchLayout(str(part.search), part.search.reason),
        trees=[_tree(*pair, schema) for pair in zip(part.trees, part.outputs, strict=True)],
    )


def _tree(tree: Tree, output: int, schema: FrameSchema | None) -> TreeLayout:
    threshold: list[float | str | None] = []
    for feature, value, is_category in zip(
        tree.feature.tolist(), tree.threshold.tolist(), tree.is_category.tolist(), strict=True
    ):
        if is_category:
            threshold.append(_label(value if schema is None else schema.label(feature, value)))
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


def _bought(entry: HistoryEntry) -> BoughtLayout:
    return BoughtLayout(
        tree=entry.tree,
        feature=entry.feature,
        gain=entry.gain,
        price=entry.price,
        training_loss=entry.training_loss,
        category=_category(entry.category),
    )


def _category(category: Any) -> Any:
    return msgspec.UNSET if category is None else _label(category)


def _label(category: Any) -> Any:
    """None stands for missing values; JSON has no infinite numbers."""
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
    """JSON that people can read: a line for each entry, and for each tree."""
    parts = layout.parts
    yield from _entries(layout, "parts")
    for k, part in enumerate(parts):
        yield from _entries(part, "trees")
        yield b",\n".join(msgspec.json.encode(tree) for tree in part.trees)
        yield b"\n]}" + (b",\n" if k + 1 < len(parts) else b"\n]}\n")


def _entries(layout: msgspec.Struct, last: str) -> Iterator[bytes]:
    yield b"{\n"
    for name in layout.__struct_fields__:
        if name != last:
            yield b'"%s": %s,\n' % (name.encode(), msgspec.json.encode(getattr(layout, name)))
    yield b'"%s": [\n' % last.encode()


def _library_version() -> str:
    from importlib.metadata import version

    return version("gtgbm")
