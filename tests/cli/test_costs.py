"""gtgbm fit: files of costs and groups, fixed features, budgets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gtgbm import load_model
from tests.cli.tables import run, said


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    frame["y"] = frame["a"] + frame["b"] + 0.2 * rng.normal(size=300)
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_files_and_flags(table: Path, tmp_path: Path) -> None:
    costs = written(tmp_path, "costs.csv", "feature,cost\na,5\nsource, 2\ne,inf\ny,3\nf,9\n")
    groups = written(tmp_path, "groups.csv", "feature,group\nb,source\nc,source\nf,other\n")
    out = tmp_path / "model.json"
    files = ["--costs", costs, "--groups", groups, "--exclude", "f"]
    done = run(
        "fit", table, "--target", "y", *files, "--fixed", "d", "--budget", 8, "--trees", 10, "--out", out
    )
    assert done.exit_code == 0, done.output
    model = load_model(out)
    assert model.feature_costs == {"a": 5.0, "source": 2.0, "e": np.inf}
    assert model.feature_groups == {"source": ["b", "c"]}
    assert (model.fixed_features, model.cost_budget) == (["d"], 8.0)
    assert model.total_cost_ == 8.0
    assert {"a", "b", "d"} <= set(model.selected_feature_names_.tolist()) <= {"a", "b", "c", "d"}
    assert "Total cost: 8" in done.output
    shown = json.loads(run("inspect", out, "--json").output)
    assert shown["total_cost"] == 8.0
    assert [entry["cost"] for entry in shown["selected"]][:1] == [1.0]


def test_flags_alone(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "model.json"
    flags = [
        "--feature-costs",
        "a=3,b=0.5",
        "--feature-groups",
        '[["c", "d"]]',
        "--fixed",
        "e",
        "--fixed",
        "f",
    ]
    done = run("fit", table, "--target", "y", *flags, "--trees", 5, "--out", out)
    assert done.exit_code == 0, done.output
    model = load_model(out)
    assert (model.feature_costs, model.feature_groups) == ({"a": 3.0, "b": 0.5}, [["c", "d"]])
    assert model.fixed_features == ["e", "f"]


@pytest.mark.parametrize(
    ("costs", "groups", "flags", "message"),
    [
        ("name,cost\na,1\n", None, [], "has the columns 'name', 'cost': give a CSV whose first line is"),
        ("feature,cost\na,1\na,2\n", None, [], "'a' is there twice"),
        ("feature,cost\na,\n", None, [], "'a' has no cost"),
        ("feature,cost\na,dear\n", None, [], "'a' costs 'dear', which is not a number"),
        ("feature,cost\na,-2\n", None, [], "feature_costs has -2.0 for column 'a'"),
        ("feature,cost\nB,2\n", None, [], "has no column 'B' of --costs"),
        (None, "feature,group\nx,s\n", [], "has no column 'x' of --groups"),
        ("feature,cost\na,2\n", None, ["--feature-costs", "a=1"], "--costs and --feature-costs say the same"),
        (None, None, ["--fixed", "a,b", "--budget", "1"], "cost_budget=1 is less than the cost 2 of"),
        (
            None,
            None,
            ["--budget", "2", "--time-limit", "9", "--selection", "forward-backward"],
            "exclude each other",
        ),
    ],
)
def test_wrong_files_are_refused(
    table: Path, tmp_path: Path, costs: str | None, groups: str | None, flags: list[str], message: str
) -> None:
    files: list[object] = []
    for option, text in (("--costs", costs), ("--groups", groups)):
        if text is not None:
            files += [option, written(tmp_path, f"{option[2:]}.csv", text)]
    done = run("fit", table, "--target", "y", *files, *flags, "--out", tmp_path / "model.json")
    assert done.exit_code == 2
    assert message in said(done)
