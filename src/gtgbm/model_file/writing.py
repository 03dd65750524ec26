"""From a fitted estimator to a model file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from os import PathLike
from typing import Any

import msgspec
import numpy as np

from gtgbm.boosting import HistoryEntry
from gtgbm.data.frames import FrameSchema
from gtgbm.files import write_aside
from gtgbm.model_file.layout import (
    FORMAT_VERSION,
    BoughtLayout,
    ClassesLayout,
    ModelLayout,
    PartLayout,
    SearchLayout,
    TreeLayout,
)
from gtgbm.model_file.parameters import as_plain
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
        parts=[_part(model, schema)],
    )


def _part(model: Any, schema: FrameSchema | None) -> PartLayout:
    results = dict(model.evals_result_)
    training = next(iter(results.pop("training").values()))
    return PartLayout(
        task=None,
        start=model._start.tolist(),
        history=[_bought(entry) for entry in model.selection_history_],
        training_loss=_floats(training),
        evaluations=[{name: _floats(values) for name, values in one.items()} for one in results.values()],
        best_round=model.best_iteration_,
        search=SearchLayout(str(model.search_), model.search_.reason),
        timings=dict(model.timings_),
        trees=[_tree(*pair, schema) for pair in zip(model.trees_, model._outputs, strict=True)],
    )


def _tree(tree: Tree, output: int, schema: FrameSchema | None) -> TreeLayout:
    threshold: list[float | str | None] = []
    for feature, value, is_category in zip(
        tree.feature.tolist(), tree.threshold.tolist(), tree.is_category.tolist(), strict=True
    ):
        if is_category:
            label = value if schema is None else schema.label(feature, value)
            threshold.append(None if label != label else label)
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
    category = entry.category
    return BoughtLayout(
        tree=entry.tree,
        feature=entry.feature,
        gain=entry.gain,
        price=entry.price,
        training_loss=entry.training_loss,
        category=msgspec.UNSET if category is None else None if category != category else category,
    )


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
