"""Runs an example of docs/distributed.md that needs a cluster, on small files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

import gtgbm
from tests.distributed.test_shards import X, classes
from tests.project.pages import DOCS, blocks_of


def run_example(name: str, folder: Path, scope: dict[str, Any]) -> tuple[Any, Any]:
    """Return the model of the example with a name in it, and that of one machine."""
    table = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    (folder / "clicks").mkdir()
    table.assign(clicked=classes()).to_parquet(folder / "clicks" / "part.parquet", row_group_size=100)
    (block,) = (block for block in blocks_of(DOCS / "distributed.md") if f"as {name}" in block.code)
    # Workers have other working directories.
    exec(block.code.replace("clicks/", str(folder / "clicks")), scope)
    return scope["model"], gtgbm.GTGBMClassifier(random_state=0).fit(table, classes())
