"""What the README shows must be true."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


MOST_LINES = 76
"""Two screens."""


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= MOST_LINES


def test_parameter_table_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("parameter_table", ROOT / "tools" / "parameter_table.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    page = (ROOT / "docs" / "parameters.md").read_text(encoding="utf-8")
    assert tool.rewritten(page) == page, "run python tools/parameter_table.py"


def test_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    scope: dict[str, Any] = {}
    exec(block, scope)
    printed = capsys.readouterr().out.splitlines()
    assert float(printed[0]) > 0.75
    assert scope["model"].n_selected_features_ == 15
    assert any(line.startswith("HistoryEntry(tree=0") for line in printed)
    assert re.fullmatch(r"\[[01] [01] [01]\]", printed[-1])


def test_figures_are_those_of_the_benchmarks() -> None:
    """A row of the table: seconds, columns and AUC of a method stand in one row of docs/benchmarks.md."""
    rows = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    measured = re.findall(r"([\d.]+) s: (\d+) columns, AUC ([\d.]+)", README)
    assert len(measured) == 4
    for seconds, columns, auc in measured:
        assert any(f"| {columns} | {auc} | {seconds} " in row for row in rows), (seconds, columns, auc)


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)", README)
    assert len(targets) > 10
    for target in targets:
        assert (ROOT / target).exists(), target
