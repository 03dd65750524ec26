"""What commands print: tables for people, JSON for machines."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gtgbm.boosting import HistoryEntry
from gtgbm.model_file import StoredColumns, StoredModel
from gtgbm.multitask import used_features


def print_json(found: dict[str, Any]) -> None:
    """Print one JSON object."""
    typer.echo(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())


def name_of(columns: StoredColumns, feature: int) -> str:
    """Return the name of a column, or its number."""
    if feature == columns.count:
        return "task"  # a model of all tasks in one knows it from a column of its own
    return str(feature) if columns.names is None else columns.names[feature]


def selection(model: StoredModel) -> dict[str, Any]:
    """Return what a model selected, as plain values."""
    if model.tasks is not None:
        return _selection_of_tasks(model, model.tasks.owned)
    part = model.parts[0]
    fitted = part.model
    followed = fitted.evaluations[0] if fitted.evaluations else {}
    kept = max(fitted.n_rounds - 1, 0)
    return {
        "features": len(fitted.history),
        "selected": [_selected(model, k, entry, followed) for k, entry in enumerate(fitted.history)],
        "search": {"name": str(part.search), "reason": part.search.reason},
        "rounds": fitted.n_rounds,
        "best_round": fitted.best_round,
        "validation": {name: values[kept] for name, values in followed.items() if values},
    }


def _selection_of_tasks(model: StoredModel, owned: list[tuple[int, float | None]]) -> dict[str, Any]:
    histories = [(task, part.model.history) for task, part in model.parts_by_task()]
    used = used_features([history for _, history in histories], owned)
    shared = dict.fromkeys(one.column for one in used if one.n_tasks > 1)
    return {
        "features": len(used),
        "tasks": [
            {
                "task": task,
                "selected": [_selected(model, k, entry, {}) for k, entry in enumerate(history)],
            }
            for task, history in histories
        ],
        "shared": [name_of(model.columns, feature) for feature in shared],
    }


def _selected(
    model: StoredModel, k: int, entry: HistoryEntry, followed: dict[str, list[float]]
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "order": k + 1,
        "name": name_of(model.columns, entry.feature),
        "column": int(entry.feature),
        "tree": entry.tree,
        "gain": entry.gain,
        "price": entry.price,
        "training_loss": entry.training_loss,
    }
    if entry.category is not None:
        category = model.columns.label(entry.feature, entry.category)
        is_missing = isinstance(category, float) and math.isnan(category)
        found["category"] = None if is_missing else category
    for name, values in followed.items():
        found[f"validation_{name}"] = values[entry.tree]
    return found


def print_selection(model: StoredModel, console: Console) -> None:
    """Print the features of a model in the order in which they were selected."""
    found = selection(model)
    for part in found.get("tasks", [found]):
        title = "Features, in the order they were selected"
        table = Table(title=Text(f"Task {part['task']}") if "task" in part else title)
        followed = [key for key in (part["selected"] or [{}])[0] if key.startswith("validation_")]
        shown = followed[-1:] or ["training_loss"]
        for heading in ("", "feature", "tree", "gain", "price", f"{shown[0].replace('_', ' ')} after"):
            table.add_column(heading, justify="left" if heading == "feature" else "right")
        for one in part["selected"]:
            category = (
                f" = {'missing' if one['category'] is None else one['category']}" if "category" in one else ""
            )
            numbers = (f"{one[key]:.4f}" for key in ("gain", "price", *shown))
            table.add_row(str(one["order"]), Text(one["name"] + category), str(one["tree"]), *numbers)
        console.print(table)
    if not found.get("selected", True):
        console.print("No feature was selected: every feature gains less than it costs. Lower --penalty.")
    if found.get("validation"):
        values = ", ".join(f"{name} {value:.4f}" for name, value in found["validation"].items())
        line = f"Held out: {values}; {found['features']} features, {found['rounds']} rounds"
        best = "" if found["best_round"] is None else f", the best was round {found['best_round']}"
        console.print(line + best, highlight=False, soft_wrap=True)
