"""Where tables come from and files go to: standard input, parts in several files, what is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from gtgbm import load_model
from gtgbm.cli import app
from tests.cli.tables import N, bits, frame, run, said, write

FIT = ("--target", "clicked", "--exclude", "amount", "--trees", 4)


def test_standard_input_is_a_table(tmp_path: Path) -> None:
    out = tmp_path / "model.json"
    for suffix in (".csv", ".csv.gz", ".parquet", ".feather"):
        path = write(tmp_path, suffix, frame())
        assert run("fit", path, *FIT, "--out", out).exit_code == 0
        expected, predicted = bits(load_model(out)), run("predict", out, path).stdout
        arguments = [str(one) for one in ("fit", "-", *FIT, "--out", out)]
        done = CliRunner().invoke(app, arguments, input=path.read_bytes())
        assert done.exit_code == 0, done.output
        assert bits(load_model(out)) == expected
        assert "table" not in load_model(out)._about
        piped = CliRunner().invoke(app, ["predict", str(out), "-"], input=path.read_bytes())
        assert piped.stdout == predicted
    nothing = CliRunner().invoke(app, ["predict", str(out), "-"], input=b"")
    assert nothing.exit_code == 2
    assert "standard input is empty" in said(nothing)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet", ".feather"])
def test_parts_of_a_table(suffix: str, tmp_path: Path) -> None:
    whole, out = write(tmp_path, suffix, frame()), tmp_path / "model.json"
    assert run("fit", whole, *FIT, "--out", out).exit_code == 0
    expected = bits(load_model(out))
    folder = tmp_path / "parts"
    folder.mkdir()
    for k, rows in enumerate(np.array_split(np.arange(N), 3)):
        part = frame().iloc[rows]
        write(tmp_path, suffix, part if k != 1 else part[part.columns[::-1]]).rename(
            folder / f"part-{k}{suffix}"
        )
    (folder / "_SUCCESS").touch()
    for place in (folder, folder / f"part-*{suffix}"):
        done = run("fit", place, *FIT, "--out", out)
        assert done.exit_code == 0, done.output
        assert bits(load_model(out)) == expected
        assert len(run("predict", out, place).stdout.splitlines()) == N + 1
    write(tmp_path, suffix, frame().drop(columns="c3")).rename(folder / f"part-4{suffix}")
    refused = run("fit", folder, *FIT, "--out", out)
    assert refused.exit_code == 2
    assert "are parts of one table, but have other columns: it lacks 'c3'" in said(refused)


def test_parts_that_do_not_go_together(tmp_path: Path) -> None:
    folder, out = tmp_path / "parts", tmp_path / "model.json"
    folder.mkdir()
    assert "is a folder without tables" in said(run("fit", folder, *FIT, "--out", out))
    write(folder, ".parquet", frame()).rename(folder / "a.parquet")
    write(folder, ".parquet", frame().assign(c3="word")).rename(folder / "b.parquet")
    assert "column 'c3' is" in said(run("fit", folder, *FIT, "--out", out))
    write(folder, ".csv", frame())
    assert "files of several kinds, '.csv', '.parquet'" in said(run("fit", folder, *FIT, "--out", out))
    assert "is not a file" in said(run("fit", folder / "*.tsv", *FIT, "--out", out))


def test_a_place_that_cannot_be_written_is_refused_before_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(**_: Any) -> Any:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("gtgbm.cli.prediction_file.tempfile.TemporaryFile", fails)
    monkeypatch.setattr("gtgbm.cli.fit.load", lambda *_, **__: pytest.fail("too late"))
    refused = run("fit", write(tmp_path, ".csv", frame(50)), *FIT, "--out", tmp_path / "model.json")
    assert refused.exit_code == 2
    assert "model.json cannot be written: Read-only file system" in said(refused)


@pytest.mark.parametrize(
    ("package", "extra", "arguments"),
    [
        ("jinja2", "report", ("report", "model.json")),
        ("matplotlib", "report", ("report", "model.json")),
        ("pyarrow", "table", ("predict", "model.json", "table.csv")),
        ("pyarrow", "table", ("fit", "table.csv", "--target", "clicked", "--out", "other.json")),
    ],
)
def test_what_is_not_installed_is_named(
    package: str, extra: str, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    path, out = write(tmp_path, ".csv", frame(100)), tmp_path / "model.json"
    assert run("fit", path, *FIT, "--out", out).exit_code == 0
    code = f"import sys; sys.modules[{package!r}] = None; from gtgbm.cli import app; app({[*arguments]!r})"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert f'{package} is not installed: pip install "gtgbm[{extra}]"' in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
