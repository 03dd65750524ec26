"""Every parameter has a flag, and every flag reaches its parameter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

from gtgbm import load_model
from gtgbm.cli import app
from gtgbm.parameters import PARAMETERS
from tests.project.pages import ROOT

FILES = Path(__file__).parents[1] / "model_file" / "v1"
CLASSES = ("--target", "bought", "--exclude", "region,query")
TASKS = (*CLASSES[:3], "query", "--task", "region")
RANKING = ("--target", "stars", "--qid", "query", "--exclude", "region,bought")

FLAGS: dict[str, tuple[tuple[str, ...], str, Any]] = {
    "n_estimators": (CLASSES, "3", 3),
    "learning_rate": (CLASSES, "0.2", 0.2),
    "penalty": (CLASSES, "0.02", 0.02),
    "penalty_scale": (CLASSES, "absolute", "absolute"),
    "n_features_to_select": (CLASSES, "2", 2),
    "selection": ((*CLASSES, "--max-features", "1"), "forward-backward", "forward-backward"),
    "feature_costs": (CLASSES, "price=2,age=inf", {"price": 2.0, "age": np.inf}),
    "feature_groups": (CLASSES, '{"body": ["age", "width"]}', {"body": ["age", "width"]}),
    "fixed_features": (CLASSES, "width,age", ["width", "age"]),
    "cost_budget": (CLASSES, "1.5", 1.5),
    "min_node_fraction": (CLASSES, "0.1", 0.1),
    "min_samples_leaf": (CLASSES, "5", 5),
    "max_depth": (CLASSES, "2", 2),
    "max_leaf_nodes": (CLASSES, "3", 3),
    "l2_regularization": (CLASSES, "0.5", 0.5),
    "search": (CLASSES, "exhaustive", "exhaustive"),
    "n_relevant": (CLASSES, "2", 2),
    "failure_probability": (CLASSES, "0.3", 0.3),
    "test_rows": (CLASSES, "none", None),
    "loss": (CLASSES, "squared_error", "squared_error"),
    "init": (CLASSES, "zero", "zero"),
    "max_bins": (CLASSES, "20", 20),
    "categorical_features": (CLASSES, "stars", ["stars"]),
    "categorical": (CLASSES, "category", "category"),
    "random_state": (CLASSES, "5", 5),
    "n_jobs": (CLASSES, "1", 1),
    "memory_limit": (CLASSES, "50GB", "50GB"),
    "verbose": (CLASSES, "0", 0),
    "early_stopping_rounds": ((*CLASSES, "--valid", "0.2"), "2", 2),
    "validation_fraction": ((*CLASSES, "--early-stopping", "2"), "0.3", 0.3),
    "eval_metric": (CLASSES, "log_loss,auc", ["log_loss", "auc"]),
    "criterion": (CLASSES, "newton", "newton"),
    "subsample": (CLASSES, "0.5", 0.5),
    "colsample": (CLASSES, "0.5", 0.5),
    "monotone_constraints": (CLASSES, "price=-1,age=1", {"price": -1, "age": 1}),
    "warm_start": (CLASSES, "", True),
    "class_weight": (CLASSES, "yes=2,no=1", {"yes": 2.0, "no": 1.0}),
    "group_penalty": (TASKS, "0.02", 0.02),
    "task_penalty": (TASKS, "north=0.1,south=auto", {"north": 0.1, "south": "auto"}),
    "method": (TASKS, "group-sparse", "group-sparse"),
    "task_order": (TASKS, "parallel", "parallel"),
    "n_common_rounds": (TASKS, "1", 1),
    "n_features_per_task": (TASKS, "1", 1),
    "truncation_level": (RANKING, "5", 5),
}
"""What to fit, what to write after the flag, and the value of the parameter then."""


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    found = pd.DataFrame(rng.normal(size=(200, 3)), columns=["price", "age", "width"])
    found["stars"] = rng.integers(0, 4, 200)
    found["bought"] = np.where(found["age"] - found["price"] + found["stars"] > 1, "yes", "no")
    found["region"] = np.where(np.arange(200) % 2, "north", "south")
    found["query"] = np.arange(200) // 10
    path = tmp_path_factory.mktemp("flags") / "table.csv"
    found.to_csv(path, index=False)
    return path


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def fitted(table: Path, out: Path, *arguments: Any) -> dict[str, Any]:
    few = () if {"--n-estimators", "--trees"} & set(arguments) else ("--n-estimators", 2)
    done = run("fit", table, *arguments, *few, "--out", out)
    assert done.exit_code == 0, done.output
    parameters: dict[str, Any] = load_model(out).get_params()
    return parameters


def refused(table: Path, *arguments: Any) -> str:
    done = run("fit", table, *arguments, "--out", table.with_name("refused.json"))
    assert done.exit_code == 2, done.output
    assert not table.with_name("refused.json").exists()
    return " ".join(done.output.split())


def test_no_parameter_is_forgotten() -> None:
    assert set(FLAGS) == set(PARAMETERS)


@pytest.mark.parametrize("name", FLAGS)
def test_flags_reach_their_parameters(name: str, table: Path, tmp_path: Path) -> None:
    more, text, value = FLAGS[name]
    written = [PARAMETERS[name].flag, *([text] if text else [])]
    assert fitted(table, tmp_path / "model.json", *more, *written)[name] == value


@pytest.mark.parametrize(
    ("alias", "name"), [(alias, one.name) for one in PARAMETERS.values() for alias in one.aliases]
)
def test_short_names(alias: str, name: str, table: Path, tmp_path: Path) -> None:
    more, text, value = FLAGS[name]
    assert fitted(table, tmp_path / "model.json", *more, alias, text)[name] == value


def test_other_parameters_keep_their_defaults(table: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    found = fitted(table, model, *CLASSES)
    own = {"categorical": "column", "random_state": 0, "verbose": 1, "eval_metric": "auc", "n_estimators": 2}
    assert found == type(load_model(model))().get_params() | own


def test_help_shows_every_flag_and_its_default() -> None:
    shown = CliRunner().invoke(app, ["fit", "--help"], env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"}).output
    for one in PARAMETERS.values():
        for flag in (one.flag, *one.aliases):
            assert flag in shown
    for panel in ("Features", "Trees", "Search", "Data", "Validation", "Several tasks", "Running"):
        assert f"─ {panel} ─" in shown
    assert "log_loss or squared_error or lambdarank" in shown
    assert "(0.02)" in shown


def test_short_names_are_documented() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for one in PARAMETERS.values():
        for alias in one.aliases:
            assert f"| `{one.flag}` | `{alias}` |" in page


def test_columns_of_categories(table: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    old = fitted(table, model, *CLASSES, "--categorical", "stars,width", "--categorical-as", "category")
    new = fitted(
        table,
        model,
        *CLASSES,
        "--categorical-features",
        "stars",
        "--categorical-features",
        '["width"]',
        "--categorical",
        "category",
    )
    assert old == new
    assert new["categorical_features"] == ["stars", "width"]
    assert new["categorical"] == "category"


def test_a_column_named_like_an_option(table: Path, tmp_path: Path) -> None:
    renamed = tmp_path / "renamed.csv"
    pd.read_csv(table).rename(columns={"stars": "category"}).to_csv(renamed, index=False)
    assert "ambiguous, since there is a column" in refused(renamed, *CLASSES, "--categorical", "category")
    found = fitted(renamed, tmp_path / "m.json", *CLASSES, "--categorical-as", "category")
    assert found["categorical_features"] is None
    both = ("--categorical", "category", "--categorical-as", "category")
    assert fitted(renamed, tmp_path / "m.json", *CLASSES, *both)["categorical_features"] == ["category"]


def test_labels_are_those_of_the_table(table: Path, tmp_path: Path) -> None:
    values = pd.read_csv(table)
    values["flag"], values["number"] = values["bought"] == "yes", (values["bought"] == "yes") * 1.0
    values["zone"] = np.arange(200) % 2
    path, out = tmp_path / "labels.csv", tmp_path / "model.json"
    values.to_csv(path, index=False)
    others = "region,query,bought,flag,number,zone"
    for target, text, expected in (
        ("flag", "true=2,False=1", {True: 2.0, False: 1.0}),
        ("number", "1=2,0=1", {1.0: 2.0, 0.0: 1.0}),
        ("bought", '{"yes": 2, "no": 1}', {"yes": 2.0, "no": 1.0}),
    ):
        exclude = ",".join(name for name in others.split(",") if name != target)
        found = fitted(path, out, "--target", target, "--exclude", exclude, "--class-weight", text)
        assert found["class_weight"] == expected
    of_tasks = ("--target", "bought", "--task", "zone", "--exclude", "region,query,flag,number")
    rates = fitted(path, out, *of_tasks, "--learning-rate", "0=0.1,1=0.2")["learning_rate"]
    assert rates == {0: 0.1, 1: 0.2}


def test_columns_without_names_are_numbers(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([np.round(rng.normal(size=(100, 2)), 2), rng.integers(0, 3, 100)])
    path, out = tmp_path / "table.libsvm", tmp_path / "model.json"
    dump_svmlight_file(X, X[:, 0] > 0, str(path))
    found = fitted(path, out, "--monotone-constraints", "0=1", "--categorical-features", "2")
    assert found["monotone_constraints"] == {0: 1}
    assert found["categorical_features"] == [2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            (*CLASSES, "--task-penalty", "0.1"),
            "--task-penalty does not apply to classification: GTGBM",
        ),
        ((*CLASSES, "--truncation-level", "3"), "--truncation-level does not apply to classification"),
        (("--target", "age", "--class-weight", "balanced"), "--class-weight does not apply to regression"),
        ((*TASKS, "--warm-start"), "--warm-start does not apply to multitask classification"),
        ((*RANKING, "--class-weight", "balanced"), "--class-weight does not apply to ranking"),
        ((*TASKS, "--penalty", "0.1", "--group-penalty", "0.1"), "--penalty means --group-penalty for multi"),
        ((*CLASSES, "--trees", "0"), "--n-estimators=0 is out of range: give a whole number of at least 1"),
        ((*CLASSES, "--max-depth", "deep"), "--max-depth='deep' is not a whole number"),
        ((*CLASSES, "--search", "both"), "--search='both' is unknown: give one of 'auto'"),
        ((*CLASSES, "--penalty", "1.5"), "penalty=1.5 is out of range: give a number in [0, 1)"),
        ((*CLASSES, "--monotone-constraints", "depth=1"), "monotone_constraints has ['depth']"),
        ((*CLASSES, "--class-weight", "maybe=1"), "class_weight={'maybe': 1.0}"),
        ((*CLASSES, "--class-weight", "{yes"), "--class-weight='{yes' is not JSON"),
        ((*CLASSES, "--learning-rate", "north=1"), "learning_rate={'north': 1.0} is not a number"),
        ((*CLASSES, "--categorical-features", "depth"), "has no column 'depth'"),
        ((*CLASSES, "--early-stopping-rounds", "3"), "needs --valid"),
    ],
)
def test_wrong_flags_are_user_errors(arguments: tuple[str, ...], message: str, table: Path) -> None:
    assert message in refused(table, *arguments)


def test_penalty_of_several_tasks(table: Path, tmp_path: Path) -> None:
    assert fitted(table, tmp_path / "model.json", *TASKS, "--penalty", "0.02")["group_penalty"] == 0.02


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("inspect", str(FILES / "dataframe.json")),
        ("inspect", str(FILES / "tasks.json"), "--json"),
        ("inspect", str(FILES / "three-classes.json"), "--tree", "0"),
    ],
)
def test_help_and_inspect_import_no_scikit_learn(arguments: tuple[str, ...]) -> None:
    program = (
        "import json, sys\n"
        "from gtgbm.cli import app\n"
        "try:\n"
        "    app(sys.argv[1:])\n"
        "except SystemExit as end:\n"
        "    assert not end.code, end.code\n"
        "heavy = ('sklearn', 'joblib', 'pandas', 'matplotlib')\n"
        "print(json.dumps(sorted(set(heavy) & set(sys.modules))), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout
    assert json.loads(done.stderr.splitlines()[-1]) == []
