"""``gtgbm path``: table, JSON, page, picture, and options that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from gtgbm.cli import app
from tests.selection.planted import PLANTED, planted

FEW = ["--target", "y", "--folds", "2", "--n-estimators", "5", "--n-jobs", "1", "--sizes", "1,3"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    X, y = planted(n_rows=300)
    file = tmp_path_factory.mktemp("path") / "table.csv"
    names = [f"<b>{k}" for k in range(X.shape[1])]
    header = ",".join([*names, "place", "y"])
    place = np.array(["north", "south", "west"])[np.arange(300) % 3]
    rows = [
        ",".join([*map(repr, row.tolist()), where, repr(target)])
        for row, where, target in zip(X, place, y.tolist(), strict=True)
    ]
    file.write_text("\n".join([header, *rows]), encoding="utf-8")
    return file


def test_a_table_a_verdict_and_a_page(table: Path, tmp_path: Path) -> None:
    page = tmp_path / "path.html"
    done = CliRunner().invoke(app, ["path", str(table), *FEW, "--out", str(page)])
    assert done.exit_code == 0, done.output
    assert "3 features have the best r2" in done.stdout
    text = page.read_text(encoding="utf-8")
    assert "3 features have the best r2" in text
    assert "&lt;b&gt;2" in text.replace("\u200b", "").replace("<wbr>", "")
    assert "<b>2," not in text
    assert "table.csv" in text


def test_json_and_a_picture(table: Path, tmp_path: Path) -> None:
    picture = tmp_path / "path.png"
    done = CliRunner().invoke(app, ["path", str(table), *FEW, "--json", "--out", str(picture)])
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert answer["one_se_size"] == answer["best_size"] == 3
    assert [one["size"] for one in answer["sizes"]] == [1, 3]
    assert answer["sizes"][1]["features"] == [f"<b>{column}" for column in PLANTED]
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--sizes", "1,x"], "--sizes 1,x: give whole numbers"),
        (["--sizes", "1,999"], "sizes has 999, but X has"),
        (["--out", "path.txt"], "--out path.txt: give a file that ends in"),
        (["--out", "no/such/path.html"], "no/such"),
        (["--scoring", "acuracy"], "accuracy"),
        (["--n-features-to-select", "3"], "No such option"),
    ],
    ids=str,
)
def test_bad_options_are_refused(table: Path, given: list[str], message: str) -> None:
    done = CliRunner().invoke(app, ["path", str(table), *FEW, *given])
    assert done.exit_code != 0
    assert message in done.output + done.stderr


def test_fit_chooses_the_number_of_features(table: Path, tmp_path: Path) -> None:
    model = str(tmp_path / "model.json")
    few = ["--target", "y", "--n-estimators", "5", "--n-jobs", "1", "--max-features", "auto", "--out", model]
    done = CliRunner().invoke(app, ["fit", str(table), *few, "--json"])
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert answer["selection_path"]["one_se_size"] == answer["features"] == len(PLANTED)
    shown = CliRunner().invoke(app, ["inspect", model])
    assert "Number of features, by cross-validation: 3 features" in shown.stdout
    page = tmp_path / "report.html"
    done = CliRunner().invoke(app, ["report", model, str(table), "--out", str(page)])
    assert done.exit_code == 0, done.output
    assert "The number of features was chosen by cross-validation: 3 features" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["fit", "--max-features", "auto", "--time-limit", "9"], "and --time-limit exclude each other"),
        (["compare", "--n-features-to-select", "auto"], "compare needs the same number for all methods"),
    ],
)
def test_no_choice_where_it_cannot_be_made(
    table: Path, tmp_path: Path, command: list[str], message: str
) -> None:
    out = ["--out", str(tmp_path / "model.json")] if command[0] == "fit" else []
    done = CliRunner().invoke(app, [command[0], str(table), "--target", "y", *command[1:], *out])
    assert done.exit_code != 0
    assert message in " ".join(done.output.replace("│", " ").split())
