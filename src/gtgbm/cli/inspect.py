"""``gtgbm inspect``: what a model file holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gtgbm.cli.output import name_of, print_json, print_selection, selection
from gtgbm.estimators import load_model
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
        if as_json:
            one = trees[tree]
            print_json({name: values.tolist() for name, values in vars(one).items()})
            return
        for line in _lines(model, trees[tree]):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
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
        table.add_row(Text(name), Text(f"{value:,}" if isinstance(value, int) else str(value)))
    console.print(table)
    print_selection(model, console)


def _lines(model: Any, tree: Tree) -> Iterator[str]:
    """Write a tree, a node per line, what answers yes first."""
    waiting = [(0, 0, "")]
    while waiting:
        node, depth, answer = waiting.pop()
        rows = f"({int(tree.n_rows[node]):,} rows)"
        begin = "    " * depth + answer
        if tree.feature[node] < 0:
            yield f"{begin}{tree.value[node]:+.6g} {rows}"
            continue
        rule, yes, no = _rule(model, tree, node)
        yield f"{begin}{rule} {rows}"
        waiting += [(no, depth + 1, "no: "), (yes, depth + 1, "yes: ")]


def _rule(model: Any, tree: Tree, node: int) -> tuple[str, int, int]:
    """Return what a node asks, and where yes and no lead."""
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    name, left = name_of(model, feature), int(tree.left[node])
    if not tree.is_category[node]:
        missing = " or missing" if tree.missing_left[node] else ""
        return f"{name} <= {threshold:.6g}{missing}", left, left + 1
    label = threshold if model._schema is None else model._schema.label(feature, threshold)
    return (f"{name} is missing" if label != label else f"{name} = {label}"), left + 1, left
