"""gtgbm fit: models, their kinds, what is said of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gtgbm import GTGBMClassifier, load_model
from gtgbm.losses import Huber, Quantile
from tests.cli.tables import N, bits, frame, read_exactly, run, said, write


def test_every_format_gives_the_same_model(tmp_path: Path) -> None:
    table, out = frame(), tmp_path / "model.json"
    expected = GTGBMClassifier(n_estimators=10, categorical="column", random_state=0)
    expected.fit(table.drop(columns=["clicked", "amount"]), table["clicked"])
    expected.save_model(out)
    trees = bits(load_model(out))
    for suffix in (".csv", ".csv.gz", ".parquet", ".feather"):
        path = write(tmp_path, suffix, table)
        done = run("fit", path, "--target", "clicked", "--exclude", "amount", "--trees", 10, "--out", out)
        assert done.exit_code == 0, done.output
        assert bits(load_model(out)) == trees, suffix
        again = tmp_path / "predicted.csv"
        assert run("predict", out, path, "--out", again).exit_code == 0
        predicted = read_exactly(again)
        assert predicted["prediction"].tolist() == expected.predict(table).tolist()
        p = expected.predict_proba(table)
        np.testing.assert_array_equal(predicted[["p_no", "p_yes"]].to_numpy(), p)


def test_fit_says_what_was_selected(tmp_path: Path) -> None:
    path, out = write(tmp_path, ".csv", frame()), tmp_path / "model.json"
    arguments = ("fit", path, "--target", "clicked", "--exclude", "amount", "--max-features", 3, "--out", out)
    done = run(*arguments, "--valid", "0.25", "--early-stopping", "10")
    assert done.exit_code == 0, done.output
    assert "importance" in done.output
    assert "c2" in done.output
    _, _, table = done.output.partition("Selected features, the most important first")
    for absent in ("round", "price", "after"):  # the same for all features that are selected beforehand
        assert absent not in table.partition("Held out")[0], absent
    assert table
    forward = run(*arguments, "--valid", "0.25", "--selection", "forward")
    assert "validation auc after" in forward.output
    found = json.loads(run(*arguments, "--json", "--valid", "0.25").stdout)
    assert found["features"] == 3
    assert [one["order"] for one in found["selected"]] == [1, 2, 3]
    assert {"town", "c2"} <= {one["name"] for one in found["selected"]}
    assert found["rows"] == 600
    assert 0.8 < found["validation"]["auc"] <= 1.0
    inspected = json.loads(run("inspect", out, "--json").stdout)
    assert inspected["selected"] == found["selected"]
    assert inspected["target"] == "clicked"
    assert "(600 rows)" in run("inspect", out, "--tree", 0).output
    shown = run("inspect", out)
    assert "GTGBMClassifier" in shown.output


def test_forward_backward_selection_is_the_default_with_a_limit(tmp_path: Path) -> None:
    path, out = write(tmp_path, ".csv", frame()), tmp_path / "model.json"
    common = ("fit", path, "--target", "clicked", "--exclude", "amount", "--trees", 5, "--out", out)
    found = []
    for more in (("--max-features", 2), ("--max-features", 2, "--selection", "forward-backward")):
        done = run(*common, *more, "--json")
        assert done.exit_code == 0, done.output
        found.append(json.loads(done.stdout)["selected"])
        assert {entry.tree for entry in load_model(out).selection_history_} == {0}
    assert found[0] == found[1]
    assert {one["name"] for one in found[0]} == {"town", "c2"}
    refused = run(*common, "--selection", "forward-backward")
    assert refused.exit_code == 2
    assert "selection='forward-backward' drops features until n_features_to_select" in said(refused)


@pytest.mark.parametrize("limit", ["--max-features", "--n-features-per-task"])
def test_with_a_time_limit_features_are_selected_forward(limit: str, tmp_path: Path) -> None:
    table, out = frame(), tmp_path / "model.json"
    table["country"] = np.where(np.arange(N) % 3, "de", "fr")
    path = write(tmp_path, ".csv", table)
    common: tuple[Any, ...] = ("fit", path, "--target", "clicked", "--exclude", "amount", "--out", out)
    common += (limit, 2, "--trees", 5, "--time-limit", 100)
    common += ("--task", "country") if limit == "--n-features-per-task" else ()
    done = run(*common)
    assert done.exit_code == 0, done.output
    assert "--time-limit: --selection forward, a single fit" in done.stderr
    assert load_model(out).selection == "forward"
    told = run(*common, "--selection", "forward")
    assert told.exit_code == 0
    assert "--time-limit" not in told.output
    refused = run(*common, "--selection", "forward-backward")
    assert refused.exit_code == 2
    assert "--selection forward-backward and --time-limit exclude each other" in said(refused)


def test_other_kinds_of_models(tmp_path: Path) -> None:
    table, out = frame(), tmp_path / "model.json"
    table["query"] = np.arange(N) // 8
    table["weight"] = 1.0 + table["count"]
    path = write(tmp_path, ".parquet", table)
    for more, kind in (
        (("--target", "amount", "--exclude", "clicked,query"), "GTGBMRegressor"),
        (
            ("--target", "amount", "--exclude", "clicked", "--exclude", "query", "--loss", "huber"),
            "GTGBMRegressor",
        ),
        (("--target", "count", "--qid", "query", "--exclude", "clicked,amount"), "GTGBMRanker"),
        (("--target", "count", "--kind", "classification", "--weight", "weight"), "GTGBMClassifier"),
    ):
        done = run("fit", path, *more, "--trees", 3, "--out", out, "--valid", "0.2")
        assert done.exit_code == 0, done.output
        assert type(load_model(out)).__name__ == kind
        assert run("predict", out, path).exit_code == 0


def test_tasks(tmp_path: Path) -> None:
    table, out = frame(), tmp_path / "model.json"
    table["country"] = np.where(np.arange(N) % 3, "de", "fr")
    path = write(tmp_path, ".parquet", table)
    arguments = ("fit", path, "--target", "clicked", "--task", "country", "--exclude", "amount", "--trees", 5)
    done = run(*arguments, "--max-features", 4, "--out", out)
    assert done.exit_code == 0, done.output
    assert "Task de" in done.output
    model = load_model(out)
    expected = model.predict_proba(table, task=table["country"])
    predicted = tmp_path / "predicted.csv"
    assert run("predict", out, path, "--out", predicted).exit_code == 0
    np.testing.assert_array_equal(read_exactly(predicted)[["p_no", "p_yes"]].to_numpy(), expected)
    found = json.loads(run("inspect", out, "--json").stdout)
    assert [one["task"] for one in found["tasks"]] == ["fr", "de"]
    assert run("report", out, "--out", tmp_path / "report.html").exit_code == 0


def test_compare(tmp_path: Path) -> None:
    path = write(tmp_path, ".csv", frame())
    done = run(
        "compare",
        path,
        "--target",
        "clicked",
        "--exclude",
        "amount",
        "--max-features",
        3,
        "--json",
        "--trees",
        20,
    )
    assert done.exit_code == 0, done.output
    found = {one["method"]: one for one in json.loads(done.stdout)["methods"]}
    assert len(found) == 3
    assert all(one["features"] == 3 and one["value"] > 0.75 for one in found.values())


def test_compare_rankings(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = frame().assign(query=rng.permutation(np.arange(N) // 8))
    table["count"] = np.clip(np.round(table["c2"] + 2), 0, 4)
    path = write(tmp_path, ".csv", table)
    compare = ("compare", path, "--target", "count", "--exclude", "clicked,amount", "--max-features", 3)
    done = run(*compare, "--qid", "query", "--trees", 10, "--json")
    assert done.exit_code == 0, done.output
    methods = json.loads(done.stdout)["methods"]
    assert [one["metric"] for one in methods] == ["ndcg"] * 3
    assert all(one["value"] > 0.95 for one in methods)
    refused = run(*compare, "--kind", "ranking")
    assert refused.exit_code == 2
    assert "--qid is missing" in said(refused)


def test_a_time_limit_ends_training(tmp_path: Path) -> None:
    path, out = write(tmp_path, ".csv", frame()), tmp_path / "model.json"
    done = run("fit", path, "--target", "clicked", "--trees", 100_000, "--time-limit", 0.5, "--out", out)
    assert done.exit_code == 0, done.output
    assert 1 <= load_model(out).n_iter_ < 100_000


def test_ctrl_c_leaves_no_file(tmp_path: Path) -> None:
    path = write(tmp_path, ".csv", frame())
    before = set(os.listdir(tmp_path))
    command = [sys.executable, "-m", "gtgbm", "fit", str(path), "--target", "clicked"]
    command += ["--exclude", "amount", "--trees", "1000000"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "model.json")],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"},  # a progress bar that moves
        # Started by a shell in the background, this process would pass on that Ctrl-C is to be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr is not None
    seen = ""
    while "loss" not in seen and process.poll() is None:
        seen += process.stderr.read(1)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 130, rest
    assert "nothing was written" in rest
    assert set(os.listdir(tmp_path)) == before


def test_weights_count_on_validation_rows(tmp_path: Path) -> None:
    table = frame()
    table["weight"] = 1.0
    out, found = tmp_path / "model.json", []
    path = write(tmp_path, ".csv", table)
    for weight in (1.0, np.where(np.arange(N) % 2, 1000.0, 1.0)):
        valid = write(tmp_path, ".parquet", frame(seed=1).assign(weight=weight))
        arguments = (
            "--target",
            "clicked",
            "--weight",
            "weight",
            "--exclude",
            "amount",
            "--trees",
            3,
            "--json",
        )
        found.append(
            json.loads(run("fit", path, *arguments, "--valid", valid, "--out", out).stdout)["validation"]
        )
    assert found[0] != found[1]


def test_rankings_of_tasks(tmp_path: Path) -> None:
    table = frame().assign(query=np.arange(N) // 12, country=np.where(np.arange(N) % 3, "de", "fr"))
    table["relevance"] = np.digitize(table["amount"], table["amount"].quantile([0.5, 0.8]))
    path, out = write(tmp_path, ".csv", table), tmp_path / "model.json"
    roles = ("--target", "relevance", "--qid", "query", "--task", "country")
    more = ("--exclude", "amount,clicked", "--trees", 4, "--valid", 0.3, "--metric", "ndcg@5")
    done = run("fit", path, *roles, *more, "--out", out, "--json")
    assert done.exit_code == 0, done.output
    model = load_model(out)
    assert type(model).__name__ == "MultitaskGTGBMRanker"
    assert set(model.evals_result_["fr"]["validation_0"]) == {"lambdarank", "ndcg@5"}
    done = run("predict", out, path, "--out", tmp_path / "scores.csv")
    assert done.exit_code == 0, done.output
    found = read_exactly(tmp_path / "scores.csv")["prediction"].astype(float)
    np.testing.assert_array_equal(found, model.predict(table, table["country"]))
    assert run("inspect", out).exit_code == 0
    done = run("export", out, "--format", "c", "--out", tmp_path / "{task}.c")
    assert done.exit_code == 0, done.output
    assert sorted(one.name for one in tmp_path.glob("*.c")) == ["de.c", "fr.c"]


def test_classes_of_tasks(tmp_path: Path) -> None:
    table = frame().assign(country=np.where(np.arange(N) % 3, "de", "fr"))
    level = np.digitize(table["amount"], table["amount"].quantile([0.3, 0.7]))
    level = np.where(table["country"] == "fr", 2 * (level > 0), level)
    table["level"] = np.array(["low", "middle", "high"])[level]
    path, out = write(tmp_path, ".csv", table), tmp_path / "model.json"
    roles = ("--target", "level", "--task", "country", "--exclude", "amount,clicked")
    done = run("fit", path, *roles, "--trees", 3, "--out", out)
    assert done.exit_code == 0, done.output
    model = load_model(out)
    assert model.task_classes_["fr"].tolist() == ["high", "low"]
    done = run("predict", out, path, "--contributions", "--out", tmp_path / "found.csv")
    assert done.exit_code == 0, done.output
    found = read_exactly(tmp_path / "found.csv")
    expected = model.predict_proba(table, table["country"])
    np.testing.assert_array_equal(found[["p_high", "p_low", "p_middle"]].to_numpy(dtype=float), expected)
    trees = json.loads(run("inspect", out, "--trees", "--json").output)["trees"]
    assert {one.get("class") for one in trees if one["task"] == "de"} == {"high", "low", "middle"}
    assert {one.get("class") for one in trees if one["task"] == "fr"} == {None}


# Once: the weights of validation rows were dropped where there are tasks.
def test_weights_of_validation_rows_count_for_tasks(tmp_path: Path) -> None:
    table, out = frame().assign(weight=np.linspace(0.1, 4.0, N), region=np.arange(N) % 2), tmp_path / "m.json"
    train, valid = tmp_path / "train.csv", tmp_path / "valid.csv"
    table[:600].to_csv(train, index=False)
    table[600:].to_csv(valid, index=False)
    done = run(
        *("fit", train, "--target", "amount", "--weight", "weight", "--task", "region", "--out", out),
        *("--valid", valid, "--trees", 5, "--exclude", "clicked"),
    )
    assert done.exit_code == 0, done.output
    model, held_out = load_model(out), table[600:]
    error = (model.predict(held_out, task=held_out["region"]) - held_out["amount"]) ** 2
    at = (held_out["region"] == 1).to_numpy()
    last = model.evals_result_[1]["validation_0"]["squared_error"][-1]
    assert last == pytest.approx(np.average(error[at], weights=held_out["weight"][at]), rel=1e-6)


# Once: the limit was lowered without a word.
def test_a_limit_above_the_number_of_columns_is_said(tmp_path: Path) -> None:
    path, out = write(tmp_path, ".csv", frame()), tmp_path / "model.json"
    arguments = ("fit", path, "--target", "clicked", "--exclude", "amount", "--out", out, "--trees", 3)
    done = run(*arguments, "--max-features", 50)
    assert done.exit_code == 0, done.output
    assert "Warning: --n-features-to-select 50 is more than the 9 columns of the table" in said(done)
    assert "n-features-to-select 9 is" not in said(run(*arguments, "--max-features", 9))
    # A category is a feature then: there may be more features than columns.
    assert "is more than" not in said(run(*arguments, "--max-features", 50, "--categorical-as", "category"))


def test_losses_with_a_number(tmp_path: Path) -> None:
    path, out = write(tmp_path, ".csv", frame()), tmp_path / "model.json"
    arguments = ("fit", path, "--target", "amount", "--exclude", "clicked", "--out", out, "--trees", 40)
    assert run(*arguments, "--loss", "quantile(0.9)").exit_code == 0
    model = load_model(out)
    assert model.loss == Quantile(0.9)
    assert 0.85 < np.mean(frame()["amount"] <= model.predict(frame())) < 0.95
    assert run(*arguments, "--loss", "huber( delta = 1.5 )").exit_code == 0
    assert load_model(out).loss == Huber(1.5)
    assert run(*arguments, "--loss", "huber").exit_code == 0
    assert load_model(out).loss == "huber"
    done = run(*arguments, "--loss", "quantile(2)")
    assert done.exit_code == 2
    assert "Quantile(share=2.0): give a share in (0, 1)" in said(done)
    for text in (
        "quantile(",
        "quantile()",
        "quantile(a)",
        "poisson(2)",
        "nope(2)",
        "huber(1,2)",
        "huber(power=1)",
    ):
        done = run(*arguments, "--loss", text)
        assert done.exit_code == 2, text
        hint = "give a name, or one with a number: huber(DELTA), quantile(SHARE), tweedie(POWER)"
        assert f"loss={text!r} is not a loss: {hint}" in said(done)


def test_a_checkpoint_of_another_command_is_refused(tmp_path: Path) -> None:
    table = write(tmp_path, ".csv", frame())
    kept = tmp_path / "kept"
    command = ["fit", str(table), "--target", "clicked", "--checkpoint", str(kept), "--trees", "3"]
    out = ["--out", str(tmp_path / "model.json")]
    assert run(*command, *out).exit_code == 0
    assert not kept.exists()
    kept.write_bytes(b"something else")
    result = run(*command, *out)
    assert result.exit_code != 0
    assert "is not a checkpoint" in said(result)
    assert kept.read_bytes() == b"something else"


def test_parquet_is_read_from_disk_if_a_limit_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is the same, also where the table is large for the machine; other formats stay in memory."""
    table = write(tmp_path, ".parquet", frame())
    valid = ["--valid", "0.2", "--exclude", "amount"]

    def fitted(name: str, *flags: str) -> Any:
        out = tmp_path / f"{name}.json"
        result = run("fit", table, "--target", "clicked", "--trees", "5", *valid, *flags, "--out", out)
        assert result.exit_code == 0, said(result)
        return said(result), load_model(out)

    text, model = fitted("memory")
    assert "read from disk" not in text
    text, limited = fitted("limited", "--memory-limit", "50GB")
    assert "columns are read from disk when they are needed" in text
    assert bits(limited) == bits(model)
    monkeypatch.setattr("gtgbm.cli.large_files._memory", lambda: 1000.0)
    text, large = fitted("large")
    assert "read from disk" in text
    assert bits(large) == bits(model)
    result = run(
        "fit", table, "--target", "clicked", "--memory-limit", "1MB", "--out", tmp_path / "none.json"
    )
    assert result.exit_code != 0
    assert "memory_limit=1,000,000 bytes, but the fit needs about" in said(result)
    assert not (tmp_path / "none.json").exists()
