"""``gtgbm inspect``: shows the content of a model file, without loading the estimators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gtgbm.cli.output import name_of, print_json, print_selection, selection
from gtgbm.model_file import StoredColumns, StoredModel, read_model_file
from gtgbm.tree import Tree


def run_inspect(path: Path, tree: int | None, all_trees: bool, as_json: bool) -> None:
    """Print a summary of a model and its selected features, or one or all of its trees."""
    model, console = read_model_file(path), Console()
    trees = [grown for _, part in model.parts_by_task() for grown in part.model.trees]
    if all_trees:
        if tree is not None:
            raise ValueError(f"--trees prints all trees, --tree {tree} one of them: give one of the two")
        _print_trees(model, console, as_json)
        return
    if tree is not None:
        if not 0 <= tree < len(trees):
            raise ValueError(f"--tree {tree}: the model has trees 0 to {len(trees) - 1}")
        if as_json:
            print_json({name: values.tolist() for name, values in vars(trees[tree]).items()})
            return
        for line in _lines(model.columns, trees[tree]):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
        return
    facts = _facts(model, trees)
    if as_json:
        print_json(facts | selection(model))
        return
    table = Table(show_header=False)
    for name, value in facts.items():
        table.add_row(Text(name), Text(f"{value:,}" if isinstance(value, int) else str(value)))
    console.print(table)
    print_selection(model, console)


def _print_trees(model: StoredModel, console: Console, as_json: bool) -> None:
    """Print all trees: as text below a line that says what each adds to, or as one JSON object."""
    described = []
    for task, part in model.parts_by_task():
        for number, (tree, output) in enumerate(zip(part.model.trees, part.model.outputs, strict=True)):
            place = {"round": number // part.model.start.shape[0]} | _target(model, task, output)
            described.append((place, tree))
    if as_json:
        arrays = [{name: values.tolist() for name, values in vars(tree).items()} for _, tree in described]
        print_json({"trees": [place | nodes for (place, _), nodes in zip(described, arrays, strict=True)]})
        return
    for number, (place, tree) in enumerate(described):
        what = ", ".join(f"{name} {value}" for name, value in place.items())
        console.print(f"tree {number} ({what})", highlight=False, markup=False, soft_wrap=True)
        for line in _lines(model.columns, tree):
            console.print(f"    {line}", highlight=False, markup=False, soft_wrap=True)


def _target(model: StoredModel, task: Any, output: int) -> dict[str, Any]:
    """Return the task and the class whose score a tree adds to; nothing if there is one score only."""
    of_task = {} if model.tasks is None else {"task": task}
    classes = model.estimator.classes
    if classes is not None and model.tasks is not None and model.tasks.classes is not None:
        classes = classes[model.tasks.classes[model.tasks.names.index(task)]]
    if classes is None or classes.shape[0] == 2:
        return of_task
    return of_task | {"class": classes[output].item()}


def _facts(model: StoredModel, trees: list[Tree]) -> dict[str, int | str]:
    return {
        "model": model.estimator.name,
        "columns": model.columns.count,
        "trees": len(trees),
        "leaves": sum(tree.n_leaves for tree in trees),
        # Only files that were edited by hand lack it.
        "loss": str(model.estimator.parameters.get("loss", "default")),
        **model.about,
    }


def _lines(columns: StoredColumns, tree: Tree) -> Iterator[str]:
    """Yield a tree as text, one line per node, the branch of "yes" first."""
    waiting = [(0, 0, "")]
    while waiting:
        node, depth, answer = waiting.pop()
        rows = f"({int(tree.n_rows[node]):,} rows)"
        begin = "    " * depth + answer
        if tree.feature[node] < 0:
            yield f"{begin}{tree.value[node]:+.6g} {rows}"
            continue
        rule, yes, no = _rule(columns, tree, node)
        yield f"{begin}{rule} {rows}"
        waiting += [(no, depth + 1, "no: "), (yes, depth + 1, "yes: ")]


def _rule(columns: StoredColumns, tree: Tree, node: int) -> tuple[str, int, int]:
    """Return the condition of a node, and the children for "yes" and "no"."""
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    name, left = name_of(columns, feature), int(tree.left[node])
    if not tree.is_category[node]:
        missing = " or missing" if tree.missing_left[node] else ""
        return f"{name} <= {threshold:.6g}{missing}", left, left + 1
    label = columns.label(feature, threshold)
    return (f"{name} is missing" if label != label else f"{name} = {label}"), left + 1, left
