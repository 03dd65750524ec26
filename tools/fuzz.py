"""Mutated files: every one must give a result or a clear error, within seconds and within memory.

``python tools/fuzz.py models 100000``, and in the same way what else is read: `TRIALS` below. ``--seconds``
ends it earlier, ``--seed`` is for other mutations. A crash of the process is a failure too: the number
printed last is the mutation's, to be had again by ``--only``.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from gtgbm import AGBMRegressor, ModelFileError, load_model, serving
from gtgbm.boosting import checkpoint_store
from gtgbm.cli import app

MEMORY = 4 << 30
"""Bytes of address space: beyond it is a blow-up."""
SECONDS = 20
"""Of computing for one file: longer is a hang, and so is waiting for 30 times as long."""
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
    parser.add_argument("what", choices=sorted(TRIALS))
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, _hung)
    signal.signal(signal.SIGPROF, _hung)
    warnings.simplefilter("ignore")
    trial, end = TRIALS[arguments.what], time.monotonic() + arguments.seconds
    n_tried = accepted = 0
    with tempfile.TemporaryDirectory() as place:
        for number in range(arguments.count) if arguments.only is None else [arguments.only]:
            if time.monotonic() > end:
                break
            print(f"\r{number}", end="", file=sys.stderr)
            _limit(SECONDS)
            accepted += trial(random.Random(f"{arguments.seed} {number}"), Path(place))
            _limit(0)
            n_tried += 1
    print(f"\n{n_tried} mutated {arguments.what}: {accepted} gave a result, the rest a clear error")


def _limit(seconds: int) -> None:
    """Set the time of one file; 0: no limit. The time that other processes take does not count."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(30 * seconds)


def _hung(*_: int | FrameType | None) -> None:
    raise AssertionError(f"no answer within {SECONDS} s")


MODELS = [
    path.read_bytes() for path in sorted((Path(__file__).parents[1] / "tests/model_file").glob("*/*.json"))
]


def _mutated_model(rng: random.Random, place: Path) -> Path:
    content = rng.choice(MODELS)
    content = _mutated_bytes(rng, content) if rng.random() < 0.4 else _mutated_json(rng, content)
    path = place / "model.json"
    path.write_bytes(content)
    return path


def _try_model(rng: random.Random, place: Path) -> bool:
    path = _mutated_model(rng, place)
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


def _try_serving(rng: random.Random, place: Path) -> bool:
    path = _mutated_model(rng, place)
    try:
        model = serving.load(path)
        row: Any = np.zeros(len(model.features))
        if model.feature_names is not None:
            row = dict.fromkeys(model.feature_names, "Bonn")
        model.predict(row)
    except (ValueError, TypeError):
        return False
    return True


def _fit_with(checkpoint: Path, *callbacks: Callable[[Any], None]) -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    model = AGBMRegressor(n_estimators=4, random_state=0, n_jobs=1)
    model.fit(X, X[:, 1] + X[:, 2], checkpoint=checkpoint, callbacks=list(callbacks))


@cache
def _checkpoint() -> bytes:
    """Return the checkpoint of an interrupted fit."""
    checkpoint_store._SECONDS, checkpoint_store._SHARE = 0.0, 1e9  # after every round

    def interrupt(progress: Any) -> None:
        if progress.round == 3:
            raise KeyboardInterrupt

    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "checkpoint"
        with contextlib.suppress(KeyboardInterrupt):
            _fit_with(path, interrupt)
        return path.read_bytes()


def _try_checkpoint(rng: random.Random, place: Path) -> bool:
    path = place / "checkpoint"
    path.write_bytes(_mutated_bytes(rng, _checkpoint()))
    try:
        _fit_with(path)
    except ValueError:
        return False
    return True


def _some_frame(rng: random.Random) -> pd.DataFrame:
    n = rng.choice([0, 1, 3, 40, 120])
    values = np.random.default_rng(rng.randrange(100)).normal(size=(n, 3)).round(3)
    frame = pd.DataFrame(values, columns=["a", "b", "c"])
    frame["text"] = [rng.choice(["x", "y", 'quo"ted', "new\nline", ""]) for _ in range(n)]
    frame["y"] = [rng.choice([0, 1]) for _ in range(n)]
    return frame


def _try_table(rng: random.Random, place: Path) -> bool:
    table = io.StringIO()
    _some_frame(rng).to_csv(table, index=False)
    path = place / "table.csv"
    path.write_bytes(_mutated_bytes(rng, table.getvalue().encode()))
    return _fit(path, place, "--target", "y")


def _try_parquet(rng: random.Random, place: Path) -> bool:
    """Half of the mutations change the footer, which says where everything is."""
    table = io.BytesIO()
    compression = rng.choice([None, "snappy", "zstd"])
    _some_frame(rng).to_parquet(
        table, index=False, compression=compression, row_group_size=rng.choice([7, 999])
    )
    content = table.getvalue()
    footer = int.from_bytes(content[-8:-4], "little") + 8
    cut = len(content) - footer if rng.random() < 0.5 else 0
    path = place / "table.parquet"
    path.write_bytes(content[:cut] + _mutated_bytes(rng, content[cut:]))
    return _fit(path, place, "--target", "y")


def _try_libsvm(rng: random.Random, place: Path) -> bool:
    lines = []
    for _ in range(rng.choice([0, 1, 3, 40])):
        entries = sorted(rng.sample(range(12), rng.randrange(8)))
        query = f" qid:{rng.randrange(4)}" if rng.random() < 0.1 else ""
        lines.append(f"{rng.randrange(2)}{query} " + " ".join(f"{k}:{rng.random():.3f}" for k in entries))
    path = place / "table.libsvm"
    path.write_bytes(_mutated_bytes(rng, "\n".join(lines).encode()))
    return _fit(path, place)


def _fit(path: Path, place: Path, *options: str) -> bool:
    out = place / "model.json"
    out.unlink(missing_ok=True)
    done = CliRunner().invoke(
        app, ["fit", str(path), *options, "--trees", "2", "--quiet", "--jobs", "1", "--out", str(out)]
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


TRIALS: dict[str, Callable[[random.Random, Path], bool]] = {
    "models": _try_model,
    "serving": _try_serving,
    "checkpoints": _try_checkpoint,
    "tables": _try_table,
    "parquet": _try_parquet,
    "libsvm": _try_libsvm,
}
"""Mutate a file and read it; whether that gave a result. An error that is not clear is raised."""


if __name__ == "__main__":
    main()
