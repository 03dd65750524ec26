"""The house: packages import downwards only, and know each other by their public faces."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import gtgbm
from tests.project.pages import DOCS, ROOT

PACKAGE = Path(gtgbm.__file__).parent

ONLY_IN: dict[str, tuple[str, ...]] = {
    "rich": ("boosting", "cli"),
    "typer": ("cli",),
    "pandas": ("data",),
    "narwhals": ("data",),
    "msgspec": ("boosting", "model_file", "estimators", "cli"),
    "pyarrow": ("data", "cli", "distributed"),
    "distributed": ("distributed",),
    "ray": ("distributed",),
    "pyspark": ("distributed",),
    "matplotlib": ("plots", "report"),
    "jinja2": ("report",),
}
"""Libraries that only some packages may know; those that import-linter's contracts name are not repeated."""
OPTIONAL = {"pandas", "polars", "matplotlib", "lightgbm", "jinja2", "pyarrow", "onnx", "treelite", "shap"}
"""Libraries that users may not have."""
AT_THE_TOP = 5
"""Modules beside the packages, at most: everything else has its place in one of them."""
BY_NAME = {"", "cli.report", "estimators.exporting", "selection.path", "export.optional"}
"""Modules that import by name: the package's lazy names, methods that lead upwards, optional libraries."""
ARGUMENTS = 6
"""Arguments of a constructor, at most; the estimators have as many as scikit-learn's have."""


def modules() -> dict[str, Path]:
    """Return the path of every module, by its name inside the package."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()
PACKAGES = sorted(name for name, path in MODULES.items() if name and path.name == "__init__.py")


def parsed(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Full dotted names of what is imported, wherever the import stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_page_draws_the_packages_as_they_are() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    drawn = re.findall(
        r"^ +(\w+)(?:\[.*?\])? --> (\w+)\[", page.split("## The way through a fit")[0], re.MULTILINE
    )
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    layers = re.findall(r'"(\w+)"', text.split("layers = [")[1].split("]")[0])
    assert [layers[1], *(below for _, below in drawn)] == [*layers[1:], "_core"]
    assert all(layers.index(above) < layers.index(below) for above, below in drawn if below != "_core")


def test_the_page_names_files_that_exist() -> None:
    page = (DOCS / "architecture.md").read_text(encoding="utf-8")
    names = {path.name for folder in ("src", "native", "tests") for path in (ROOT / folder).rglob("*")}
    named = re.findall(r"`([\w/]+\.(?:py|pyi|cpp|hpp|j2))`", page) + re.findall(r": (\w+/\w+\.py)\"\]", page)
    assert len(named) > 100
    for path in named:
        is_there = (PACKAGE / path).exists() or (ROOT / path).exists()
        assert is_there or ("/" not in path and path in names), path


def test_imports_point_downwards(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(MODULES))
def test_packages_are_used_by_their_public_face(name: str) -> None:
    """``from gtgbm.tree import Tree`` from outside; ``from gtgbm.tree.tree import Tree`` only inside."""
    own = name.split(".")[0]
    inner = {
        full
        for full in imported_names(parsed(name))
        if full.startswith("gtgbm.")
        and full.split(".")[1] != own
        and full.split(".")[1] in PACKAGES
        and ".".join(full.split(".")[1:3]) in MODULES
        and full.count(".") > 1
    }
    assert not inner, f"gtgbm.{name} reaches into other packages: {sorted(inner)}"


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_say_what_they_are_for(package: str) -> None:
    tree = parsed(package)
    assert len((ast.get_docstring(tree) or "").splitlines()) == 3, f"{package}: a purpose of three lines"
    names = [getattr(node.targets[0], "id", "") for node in tree.body if isinstance(node, ast.Assign)]
    assert "__all__" in names, f"{package}: __all__ is its public face"


def test_little_lies_beside_the_packages() -> None:
    beside = {name for name in MODULES if name and "." not in name} - set(PACKAGES) - {"__main__"}
    assert len(beside) <= AT_THE_TOP, sorted(beside)


def constructors() -> Iterator[tuple[str, int]]:
    """Names of classes, and how many arguments it takes to make an object."""
    for name in MODULES:
        if name.split(".")[0] == "estimators":
            continue
        for node in ast.walk(parsed(name)):
            if not isinstance(node, ast.ClassDef):
                continue
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    arguments = method.args
                    count = len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs) - 1
                    yield f"{name}.{node.name}", count


def test_constructors_take_few_arguments() -> None:
    found = dict(constructors())
    assert len(found) > 20, "constructors were not found"
    assert {name: n for name, n in found.items() if n > ARGUMENTS} == {}


def test_packages_are_imported_by_name_only_where_it_is_justified() -> None:
    """import-linter does not see such imports; docs/architecture.md says why there are some."""
    users = {
        name
        for name in MODULES
        if any(
            isinstance(node, ast.Name) and node.id in ("import_module", "__import__")
            for node in ast.walk(parsed(name))
        )
    }
    assert users == BY_NAME


@pytest.mark.parametrize("library", sorted(ONLY_IN))
def test_libraries_are_known_only_where_needed(library: str) -> None:
    users = {
        name
        for name in MODULES
        if any(full.split(".")[0] == library for full in imported_names(parsed(name)))
    }
    outside = sorted(name for name in users if name.split(".")[0] not in ONLY_IN[library])
    assert not outside, f"{library} is imported by {outside}; only {ONLY_IN[library]} may"


@pytest.mark.parametrize("name", sorted(MODULES))
def test_importing_is_light(name: str) -> None:
    """What stands at the top of a file is imported at once, so optional libraries must not stand there."""
    top = [node for node in parsed(name).body if isinstance(node, ast.Import | ast.ImportFrom)]
    found = {full.split(".")[0] for node in top for full in imported_names(node)} & OPTIONAL
    assert not found, f"gtgbm.{name} imports {found} at its top, which users may not have"


def test_public_names_are_there() -> None:
    for name in gtgbm.__all__:
        assert getattr(gtgbm, name) is not None
    assert set(gtgbm.__all__) <= set(dir(gtgbm))
    assert inspect.ismodule(gtgbm.losses)
    with pytest.raises(AttributeError, match="no attribute 'GTGBMClasifier'"):
        _ = gtgbm.GTGBMClasifier


def test_importing_the_package_imports_no_scikit_learn() -> None:
    program = "import sys, gtgbm; sys.exit(any(name.startswith('sklearn') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
