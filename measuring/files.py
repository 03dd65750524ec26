"""Folders, and files that never hold only a part of what was written."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
"""The checkout."""
SCRATCH = Path(tempfile.gettempdir()) / "gtgbm-benchmarks"
"""For what need not be kept: generated tables, and results of quick runs."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to, which takes the place of `path` if the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield aside
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text; an interruption leaves the old file."""
    with replacing(path) as aside:
        aside.write_text(text, encoding="utf-8")


def write_json(path: Path, content: Any) -> None:
    """Write JSON; an interruption leaves the old file."""
    write_text(path, json.dumps(content, indent=1) + "\n")
