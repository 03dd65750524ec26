"""Layers: a module imports only from its own layer or a lower one, and never in a circle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import gtgbm

ROOT = Path(gtgbm.__file__).parent

LAYERS: list[tuple[str, ...]] = [
    ("_core", "arrays"),
    (
        "data",
        "data.categories",
        "data.columns",
        "data.frame_values",
        "data.frames",
        "files",
        "data.input",
        "data.sparse",
        "data.tiles",
        "weights",
        "queries",
        "losses",
        "losses.averages",
        "losses.base",
        "losses.checking",
        "losses.classic",
        "losses.exponential",
        "losses.pointwise",
        "losses.ranking",
        "metrics",
        "correlations",
        "callbacks",
        "sampling",
        "reducer",
        "fixed_point",
        "timings",
    ),
    (
        "tree",
        "forest",
        "group_tests",
        "feature_costs",
        "histograms",
        "siblings",
        "level",
        "choosing",
        "residents",
        "drafting",
        "subtrees",
        "searches",
        "sparse_search",
        "candidates",
        "shared_columns",
        "offered_columns",
        "trend_tests",
        "group_search",
    ),
    ("growing", "leaf_values", "monotone", "newton", "evaluation"),
    (
        "boosting",
        "shortlist",
        "search_choice",
        "training",
        "task",
        "common_start",
        "multitask",
        "task_turns",
        "progress",
    ),
    ("model_file", "model_file.layout", "model_file.parameters", "model_file.writing"),
    (
        "estimators",
        "estimators.base",
        "estimators.classifiers",
        "estimators.compact",
        "estimators.documentation",
        "estimators.rows",
        "estimators.settings",
        "estimators.ranker",
        "estimators.multitask",
        "estimators.multitask_base",
        "estimators.task_rows",
        "estimators.comparison",
        "estimators.outcomes",
        "estimators.parameters",
        "estimators.regressors",
        "estimators.tables",
        "estimators.threads",
        "estimators.parts",
        "estimators.staged",
        "estimators.held_out",
        "estimators.selection_path",
    ),
    (
        "plots",
        "plots.correlation",
        "plots.importance",
        "plots.names",
        "plots.selection_path",
        "plots.style",
        "plots.table",
        "plots.tasks",
        "plots.trees",
    ),
    ("model_file.reading",),
    ("",),  # the package itself, which only passes on what users need
    (
        "report",
        "report.features",
        "report.likeness",
        "report.overview",
        "report.quality",
        "report.sample",
        "report.smaller",
        "report.svg",
        "report.tasks",
        "report.writing",
    ),
    (
        "__main__",
        "cli",
        "cli.compare",
        "cli.demo",
        "cli.errors",
        "cli.files",
        "cli.fit",
        "cli.inspect",
        "cli.loading",
        "cli.output",
        "cli.predict",
        "cli.report",
        "demo_data",
    ),
]
"""Modules of the package, lowest layer first."""

LAYER_OF = {module: number for number, layer in enumerate(LAYERS) for module in layer}

ONLY_IN: dict[str, tuple[str, ...]] = {
    "sklearn": ("estimators", "model_file", "plots", "report", "cli", "demo", "demo_data"),
    "joblib": ("estimators",),
    "rich": ("progress", "cli"),
    "typer": ("cli",),
    "pandas": ("data",),
    "narwhals": ("data",),
    "msgspec": ("model_file", "cli"),
    "pyarrow": ("cli",),
    "matplotlib": ("plots", "report"),
    "jinja2": ("report",),
}
"""Libraries that only some modules (or packages) may know."""


def modules() -> dict[str, Path]:
    """Return the path of every module, by its name inside the package."""
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imported_names(path: Path) -> Iterator[str]:
    """Full dotted names of what a file imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_modules(name: str) -> set[str]:
    """Modules of the package that a module imports."""
    found = set()
    for full in imported_names(MODULES[name]):
        package, _, rest = full.partition(".")
        if package != "gtgbm":
            continue
        # A name that is no module is a name inside one: a class, a function.
        while rest and rest != "_core" and rest not in MODULES:
            rest = rest.rpartition(".")[0]
        found.add(rest)
    return found


def test_every_module_has_a_layer() -> None:
    unassigned = sorted(set(MODULES) - set(LAYER_OF))
    assert not unassigned, f"new modules {unassigned}: give each a layer in LAYERS of {Path(__file__).name}"
    gone = sorted(set(LAYER_OF) - set(MODULES) - {"_core"})
    assert not gone, f"LAYERS names modules that are gone: {gone}"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_point_downwards(name: str) -> None:
    layer = LAYER_OF.get(name, len(LAYERS))
    upwards = {other for other in imported_modules(name) if LAYER_OF.get(other, len(LAYERS)) > layer}
    assert not upwards, f"gtgbm.{name} (layer {layer}) imports from above: {sorted(upwards)}"


def test_no_circles() -> None:
    graph = {name: imported_modules(name) - {name} for name in MODULES}
    assert sum(map(len, graph.values())) > len(MODULES), "imports were not found"
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"modules import each other in a circle: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("library", sorted(ONLY_IN))
def test_libraries_are_known_only_where_needed(library: str) -> None:
    def allowed(name: str) -> bool:
        return any(name == place or name.startswith(f"{place}.") for place in ONLY_IN[library])

    users = {
        name
        for name, path in MODULES.items()
        if any(full.split(".")[0] == library for full in imported_names(path))
    }
    outside = sorted(name for name in users if not allowed(name))
    assert not outside, f"{library} is imported by {outside}; only {ONLY_IN[library]} may"


def test_importing_the_package_is_light() -> None:
    """Only what stands at the top of files is imported, so optional libraries must not stand there."""
    optional = {"pandas", "polars", "matplotlib", "lightgbm", "jinja2", "pyarrow"}
    for name, path in MODULES.items():
        top = ast.parse(path.read_text(encoding="utf-8")).body
        for node in top:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names.append(node.module or "")
            found = {full.split(".")[0] for full in names} & optional
            assert not found, f"gtgbm.{name} imports {found} at its top, which users may not have"
