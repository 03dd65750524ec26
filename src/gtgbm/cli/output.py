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


def print_json(found: dict[str, Any]) -> None:
    """Print one JSON object."""
    typer.echo(msgspec.json.format(msgspec.json.encode(found), indent=2).decode())


def name_of(model: Any, feature: int) -> str:
    """Return the name of a column, or its number."""
    if feature == model.n_features_in_:
        return "task"  # a model of all tasks in one knows it from a column of its own
    names = getattr(model, "feature_names_in_", None)
    return str(feature) if names is None else str(names[feature])


def selection(model: Any) -> dict[str, Any]:
    """Return what a model selected, as plain values."""
    histories = model.selection_history_
    found: dict[str, Any] = {"features": int(model.n_selected_features_)}
    if isinstance(histories, dict):
        found["tasks"] = [
            {
                "task": _plain(task),
                "selected": [_bought(model, k, entry, {}) for k, entry in enumerate(history)],
            }
            for task, history in histories.items()
        ]
        found["shared"] = [name_of(model, int(feature)) for feature in model.shared_features_]
        return found
    found["selected"] = [
        _bought(model, k, entry, model.evals_result_.get("validation_0", {}))
        for k, entry in enumerate(histories)
    ]
    found["search"] = {"name": str(model.search_), "reason": model.search_.reason}
    found["rounds"] = int(model.n_iter_)
    kept = max(int(model.n_iter_) - 1, 0)
    found["validation"] = {
        name: values[kept] for name, values in model.evals_result_.get("validation_0", {}).items() if values
    }
    return found


def _bought(model: Any, k: int, entry: HistoryEntry, followed: dict[str, list[float]]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "order": k + 1,
        "name": name_of(model, entry.feature),
        "column": int(entry.feature),
        "tree": entry.tree,
        "gain": entry.gain,
        "price": entry.price,
        "training_loss": entry.training_loss,
    }
    if entry.category is not None:
        is_missing = isinstance(entry.category, float) and math.isnan(entry.category)
        found["category"] = None if is_missing else entry.category
    for name, values in followed.items():
        found[f"validation_{name}"] = values[entry.tree]
    return found


def print_selection(model: Any, console: Console) -> None:
    """Print the features of a model in the order in which they were bought."""
    found = selection(model)
    for part in found.get("tasks", [found]):
        title = "Features, in the order they were bought"
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
        console.print("Nothing was bought: every feature gains less than it costs. Lower --penalty.")
    if found.get("validation"):
        values = ", ".join(f"{name} {value:.4f}" for name, value in found["validation"].items())
        console.print(f"Validation after {found['rounds']} rounds: {values}")


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
