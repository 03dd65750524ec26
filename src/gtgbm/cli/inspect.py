"""``gtgbm inspect``: what a model file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from gtgbm.cli.output import name_of, print_json, print_selection, selection
from gtgbm.model_file.reading import load_model
from gtgbm.tree import Tree


def run_inspect(path: Path, tree: int | None, as_json: bool) -> None:
    """Print a model's settings and features, or one of its trees."""
    model, console = load_model(path), Console()
    trees: list[Tree] = (
        [one for of_task in model.trees_.values() for one in of_task]
        if isinstance(model.trees_, dict)
        else model.trees_
    )
    if tree is not None:
        if not 0 <= tree < len(trees):
            raise ValueError(f"--tree {tree}: the model has trees 0 to {len(trees) - 1}")
        for line in _lines(model, trees[tree], 0, ""):
            console.print(line, highlight=False, markup=False)
        return
    facts = {
        "model": type(model).__name__,
        "columns": int(model.n_features_in_),
        "trees": len(trees),
        "leaves": sum(one.n_leaves for one in trees),
        "loss": str(model.loss),
        **model._about,
    }
    if as_json:
        print_json(facts | selection(model))
        return
    table = Table(show_header=False)
    for name, value in facts.items():
        table.add_row(name, f"{value:,}" if isinstance(value, int) else str(value))
    console.print(table)
    print_selection(model, console)


def _lines(model: Any, tree: Tree, node: int, indent: str) -> list[str]:
    rows = f"({int(tree.n_rows[node]):,} rows)"
    if tree.feature[node] < 0:
        return [f"{indent}{tree.value[node]:+.6g} {rows}"]
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    name, left = name_of(model, feature), int(tree.left[node])
    if tree.is_category[node]:
        schema = model._schema
        label = threshold if schema is None else schema.label(feature, threshold)
        rule = f"{name} is missing" if label != label else f"{name} = {label}"
        sides = ((left + 1, "yes"), (left, "no"))
    else:
        rule = f"{name} <= {threshold:.6g}" + (" or missing" if tree.missing_left[node] else "")
        sides = ((left, "yes"), (left + 1, "no"))
    lines = [f"{indent}{rule} {rows}"]
    for child, answer in sides:
        below = _lines(model, tree, child, indent + "    ")
        below[0] = f"{indent}  {answer}: {below[0].strip()}"
        lines += below
    return lines
