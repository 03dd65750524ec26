"""What the README shows must be true."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_parameter_table_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("parameter_table", ROOT / "tools" / "parameter_table.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.rewritten(README) == README, "run python tools/parameter_table.py"


def test_examples_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) == 3
    scope: dict[str, object] = {}
    exec(blocks[0], scope)
    printed = capsys.readouterr().out.splitlines()
    accuracy = float(printed[0])
    assert accuracy > 0.75
    assert "HistoryEntry" in "".join(printed)
    assert "group-testing" in printed[-1]
    exec(blocks[1], scope)  # goes on where the first one ended
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4
    assert printed[-1] in ("0", "1")
    monkeypatch.chdir(tmp_path)
    exec(blocks[2], scope)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "{0: ['EWR']}"
    assert len(printed) == 2


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
