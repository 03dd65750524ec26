"""The output of commands: tables, or JSON."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gtgbm.boosting import HistoryEntry, are_chosen_first
from gtgbm.model_file import StoredColumns, StoredModel
from gtgbm.multitask import used_features
from gtgbm.selection import SelectionPath


def print_json(values: dict[str, Any]) -> None:
    """Print one JSON object."""
    typer.echo(msgspec.json.format(msgspec.json.encode(values), indent=2).decode())


def name_of(columns: StoredColumns, feature: int) -> str:
    """Return the name of a column, or its index."""
    if feature == columns.count:
        return "task"  # the additional last column of method="single-task"
    return str(feature) if columns.names is None else columns.names[feature]


def selection(model: StoredModel) -> dict[str, Any]:
    """Return the selected features of a model and the validation result, as JSON values."""
    path = {} if model.path is None else {"selection_path": path_figures(model.path)}
    if model.tasks is not None:
        return _selection_of_tasks(model, model.tasks.owned) | path
    part = model.parts[0]
    fitted = part.model
    validation = fitted.evaluations[0] if fitted.evaluations else {}
    last = max(fitted.n_rounds - 1, 0)
    return {
        "features": len(fitted.history),
        "total_cost": sum(entry.cost for entry in fitted.history),
        "selected": [_selected(model, k, entry, validation) for k, entry in enumerate(fitted.history)],
        "chosen_first": are_chosen_first(fitted.history),
        "search": {"name": str(part.search), "reason": part.search.reason},
        "rounds": fitted.n_rounds,
        "best_round": fitted.best_round,
        "validation": {name: values[last] for name, values in validation.items() if values},
    } | path


def path_figures(path: SelectionPath) -> dict[str, Any]:
    """Return a path over numbers of features as JSON values."""
    return {
        "scoring": path.scoring,
        "folds": int(path.fold_scores.shape[0]),
        "best_size": path.best_size,
        "one_se_size": path.one_se_size,
        "sizes": [
            {
                "size": one.size,
                "mean_score": one.mean_score,
                "std_error": one.std_error,
                "stability": None if one.stability != one.stability else one.stability,
            }
            for one in path.rows()
        ],
    }


def _selection_of_tasks(model: StoredModel, owned: list[tuple[int, float | None]]) -> dict[str, Any]:
    histories = [(task, part.model.history) for task, part in model.parts_by_task()]
    used = used_features([history for _, history in histories], owned)
    shared = dict.fromkeys(feature.column for feature in used if feature.n_tasks > 1)
    return {
        "features": len(used),
        "tasks": [
            {
                "task": task,
                "selected": [_selected(model, k, entry, {}) for k, entry in enumerate(history)],
                "chosen_first": are_chosen_first(history),
            }
            for task, history in histories
        ],
        "shared": [name_of(model.columns, feature) for feature in shared],
    }


def _selected(
    model: StoredModel, k: int, entry: HistoryEntry, validation: dict[str, list[float]]
) -> dict[str, Any]:
    feature: dict[str, Any] = {
        "order": k + 1,
        "name": name_of(model.columns, entry.feature),
        "column": int(entry.feature),
        "tree": entry.tree,
        "gain": entry.gain,
        "price": entry.price,
        "cost": entry.cost,
        "training_loss": entry.training_loss,
    }
    if entry.category is not None:
        category = model.columns.label(entry.feature, entry.category)
        is_missing = isinstance(category, float) and math.isnan(category)
        feature["category"] = None if is_missing else category
    for name, values in validation.items():
        feature[f"validation_{name}"] = values[entry.tree]
    return feature


def _table(part: dict[str, Any]) -> Table:
    """Return the selected features of a model or a task as a table."""
    selected, table = part["selected"], Table()
    metrics = [key for key in (selected or [{}])[0] if key.startswith("validation_")]
    shown = metrics[-1:] or ["training_loss"]
    cost = ["cost"] if any(feature["cost"] != 1.0 for feature in selected) else []
    headings = ["", "feature", "round", "gain", "price", *cost, f"{shown[0].replace('_', ' ')} after"]
    if part["chosen_first"]:
        # Rounds, prices and what was reached after a round are the same for all of them.
        headings = ["", "feature", "importance", *cost]
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "feature" else "right")
    # The value is of the model after the whole tree: it is shown at the last feature of the tree.
    last = {feature["tree"]: feature["order"] for feature in selected}
    for feature in selected:
        name = feature["name"]
        if "category" in feature:
            name += f" = {'missing' if feature['category'] is None else feature['category']}"
        is_last = last[feature["tree"]] == feature["order"]
        texts: dict[str, str | Text] = {
            "": str(feature["order"]),
            "feature": Text(name),
            "round": str(feature["tree"] + 1),
            "gain": f"{feature['gain']:.4f}",
            "importance": f"{feature['gain']:.4f}",
            "price": f"{feature['price']:.4f}",
            "cost": f"{feature['cost']:g}",
        }
        after = f"{feature[shown[0]]:.4f}" if is_last else ""
        table.add_row(*(texts.get(heading, after) for heading in headings))
    return table


def print_selection(model: StoredModel, console: Console) -> None:
    """Print the selected features of a model in the order of selection, or of importance."""
    content = selection(model)
    for part in content.get("tasks", [content]):
        title = "Selected features, in the order of selection"
        if part["selected"] and part["chosen_first"]:
            title = "Selected features, the most important first"
        table = _table(part)
        table.title = Text(f"Task {part['task']}") if "task" in part else title
        table.min_width = len(title)  # so that the title is not broken
        has_costs = any(feature["cost"] != 1.0 for feature in part["selected"])
        console.print(table)
        if has_costs:
            total = sum(feature["cost"] for feature in part["selected"])
            console.print(f"Total cost: {total:g}", highlight=False)
    if model.path is not None:
        said = f"Number of features, by cross-validation: {model.path.verdict()}"
        console.print(said, markup=False, highlight=False, soft_wrap=True)
    if not content.get("selected", True):
        console.print("No feature was selected: every feature gains less than it costs. Lower --penalty.")
    if content.get("validation"):
        values = ", ".join(f"{name} {value:.4f}" for name, value in content["validation"].items())
        line = f"Held out: {values}; {content['features']} features, {content['rounds']} rounds"
        best = "" if content["best_round"] is None else f", the best was round {content['best_round']}"
        console.print(line + best, highlight=False, soft_wrap=True)
