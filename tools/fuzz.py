"""Mutated files: every one must give a result or a clear error, within seconds and within memory.

``python tools/fuzz.py models 100000`` and ``python tools/fuzz.py tables 10000``; ``--seed`` for other
mutations. A crash of the process is a failure too: the number printed last is the mutation's, to be had
again by ``--only``.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from gtgbm import ModelFileError, load_model
from gtgbm.cli import app

MEMORY = 4 << 30
"""Bytes of address space: beyond it is a blow-up."""
SECONDS = 20
"""For one file: longer is a hang."""
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**63,
    1e308,
    -0.0,
    "",
    "inf",
    "nan",
    "é\u0000",
    [],
    {},
    [[]],
    [None],
]


def main() -> None:
    """Mutate and try."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("models", "tables"))
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, _hung)
    warnings.simplefilter("ignore")
    trial: Callable[[random.Random, Path], bool] = _try_model if arguments.what == "models" else _try_table
    accepted = 0
    with tempfile.TemporaryDirectory() as place:
        for number in range(arguments.count) if arguments.only is None else [arguments.only]:
            print(f"\r{number}", end="", file=sys.stderr)
            signal.alarm(SECONDS)
            accepted += trial(random.Random(f"{arguments.seed} {number}"), Path(place))
            signal.alarm(0)
    print(f"\n{arguments.count} mutated {arguments.what}: {accepted} gave a result, the rest a clear error")


def _hung(*_: int | FrameType | None) -> None:
    raise AssertionError(f"no answer within {SECONDS} s")


MODELS = [
    path.read_bytes() for path in sorted((Path(__file__).parents[1] / "tests/model_file").glob("*/*.json"))
]


def _try_model(rng: random.Random, place: Path) -> bool:
    content = rng.choice(MODELS)
    content = _mutated_bytes(rng, content) if rng.random() < 0.4 else _mutated_json(rng, content)
    path = place / "model.json"
    path.write_bytes(content)
    try:
        model = load_model(path)
    except ModelFileError:
        return False
    n = min(int(model.n_features_in_), 50)
    X: Any = np.random.default_rng(0).normal(size=(5, n))
    if hasattr(model, "feature_names_in_"):
        X = pd.DataFrame({name: X[:, k % n] for k, name in enumerate(model.feature_names_in_)})
        for k, name in enumerate(model.feature_names_in_):
            if model._schema.columns[k].kind == "category":
                X[name] = "Bonn"
    try:
        model.predict(X)
    except (ValueError, TypeError):
        return False
    return True


def _try_table(rng: random.Random, place: Path) -> bool:
    table = io.StringIO()
    n = rng.choice([0, 1, 3, 40, 120])
    values = np.random.default_rng(rng.randrange(100)).normal(size=(n, 3)).round(3)
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    frame["text"] = [rng.choice(["x", "y", 'quo"ted', "new\nline", ""]) for _ in range(n)]
    frame["y"] = [rng.choice([0, 1]) for _ in range(n)]
    frame.to_csv(table, index=False)
    path = place / "table.csv"
    path.write_bytes(_mutated_bytes(rng, table.getvalue().encode()))
    out = place / "model.json"
    out.unlink(missing_ok=True)
    done = CliRunner().invoke(
        app, ["fit", str(path), "--target", "y", "--trees", "2", "--quiet", "--jobs", "1", "--out", str(out)]
    )
    if done.exit_code not in (0, 2) or (done.exit_code == 2) == out.exists():
        raise AssertionError(f"exit code {done.exit_code}: {done.output}") from done.exception
    if "Traceback" in done.output:
        raise AssertionError(done.output)
    return done.exit_code == 0


def _mutated_bytes(rng: random.Random, content: bytes) -> bytes:
    found = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        place = rng.randrange(len(found) + 1)
        match rng.randrange(5):
            case 0:
                found[place : place + 1] = rng.randbytes(1)
            case 1:
                del found[place : place + rng.choice([1, 2, 10, 1000])]
            case 2:
                found[place:place] = rng.randbytes(rng.choice([1, 4]))
            case 3:
                other = rng.randrange(len(found) + 1)
                found[place:place] = found[other : other + rng.choice([1, 10, 100])]
            case _:
                found[place:place] = rng.choice(
                    [b",", b'"', b"\n", b"\r", b"\x00", b"1e999", b"-", b";", b"\xff"]
                )
    return bytes(found)


def _mutated_json(rng: random.Random, content: bytes) -> bytes:
    """Change values within a structure that stays whole."""
    found = json.loads(content)
    for _ in range(rng.choice([1, 1, 2, 5])):
        place, key = _some_place(rng, found)
        match rng.randrange(4):
            case 0:
                del place[key]
            case 1 if isinstance(place[key], int | float):
                place[key] = rng.choice([place[key] + 1, -place[key], place[key] * 10, rng.randrange(-3, 9)])
            case 2:
                other, other_key = _some_place(rng, found)
                place[key] = other[other_key]
            case _:
                place[key] = rng.choice(ODD)
        try:
            json.dumps(found)
        except (ValueError, RecursionError):  # a part was put into itself
            return content[:-1]
    return json.dumps(found).encode()


def _some_place(rng: random.Random, found: Any) -> tuple[Any, Any]:
    place = found
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = rng.choice(keys)
        if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.1:
            return place, key
        place = place[key]


if __name__ == "__main__":
    main()
