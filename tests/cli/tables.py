"""A table, its files in every format, and the commands run on them."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import feather, parquet
from typer.testing import CliRunner

from gtgbm.cli import app

N = 800


def frame(n: int = N, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(rng.normal(size=(n, 6)), columns=[f"c{k}" for k in range(6)])
    found["town"] = rng.choice(["Ulm", "Bonn", "Köln"], n)
    found.loc[::7, "town"] = None
    found.loc[::5, "c1"] = np.nan
    found["count"] = rng.integers(0, 9, n)
    found["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    score = found["c2"] + (found["town"] == "Bonn") + found["count"] / 9 + rng.normal(size=n) / 4
    found["clicked"] = np.where(score > 1, "yes", "no")
    found["amount"] = score
    return found


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write(place: Path, suffix: str, table: pd.DataFrame) -> Path:
    path = place / f"table{suffix}"
    match suffix:
        case ".csv":
            table.to_csv(path, index=False)
        case ".csv.gz":
            path.write_bytes(gzip.compress(table.to_csv(index=False, sep=";").encode()))
        case ".parquet":
            parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), path, row_group_size=300)
        case ".feather":
            feather.write_feather(pa.Table.from_pandas(table, preserve_index=False), str(path), chunksize=300)
    return path


def bits(model: Any) -> list[list[bytes]]:
    arrays = ("feature", "threshold", "left", "value", "gain")
    return [[getattr(tree, name).tobytes() for name in arrays] for tree in model.trees_]


def read_exactly(path: Path) -> pd.DataFrame:
    """Read predictions, floats to their last bit."""
    text = pd.read_csv(path, dtype=str)
    floats = {name: [float(value) for value in text[name]] for name in text if name.startswith("p_")}
    return text.assign(**floats)


def said(done: Any) -> str:
    """Return what a command printed, without its line breaks."""
    return " ".join(done.output.split())
