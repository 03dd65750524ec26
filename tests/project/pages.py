"""The pages of the documentation: their code blocks, and how a reader would run them."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A block of code and the language after its fence."""

    language: str
    code: str


def blocks_of(page: Path | str) -> list[Block]:
    """Return the code blocks of a page, or of a part of its text, in order."""
    text = page if isinstance(page, str) else page.read_text(encoding="utf-8")
    return [Block(*found) for found in _BLOCK.findall(text)]


def run_shell(commands: str, folder: Path, variables: Mapping[str, str] | None = None) -> str:
    """Run commands in a folder, with the console scripts of this Python first; returns what they print."""
    scripts = sysconfig.get_path("scripts")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env=os.environ
        | {"PATH": scripts + os.pathsep + os.environ["PATH"], "COLUMNS": "100"}
        | dict(variables or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{commands}\nended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout
