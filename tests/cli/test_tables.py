"""The commands that read tables: fit, predict, inspect, compare."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from sklearn.datasets import dump_svmlight_file
from typer.testing import CliRunner

from gtgbm import GTGBMClassifier, MultitaskGTGBMRegressor, load_model
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
        predicted = pd.read_csv(again, float_precision="round_trip")
        assert predicted["prediction"].tolist() == expected.predict(table).tolist()
        p = expected.predict_proba(table)
        np.testing.assert_array_equal(predicted[["p_no", "p_yes"]].to_numpy(), p)


def test_fit_says_what_was_selected(tmp_path: Path) -> None:
    path, out = write(tmp_path, ".csv", frame()), tmp_path / "model.json"
    arguments = ("fit", path, "--target", "clicked", "--exclude", "amount", "--max-features", 3, "--out", out)
    done = run(*arguments, "--valid", "0.25", "--early-stopping", "10")
    assert done.exit_code == 0, done.output
    assert "validation auc after" in done.output
    assert "c2" in done.output
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


def test_a_shortlist(tmp_path: Path) -> None:
    path, out = write(tmp_path, ".csv", frame()), tmp_path / "model.json"
    listed = ("fit", path, "--target", "clicked", "--exclude", "amount", "--shortlist", 3, "--out", out)
    done = run(*listed, "--max-features", 2, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["features"] == 2
    assert {entry.tree for entry in load_model(out).selection_history_} == {0}
    for more, why in (
        ((), "--shortlist is a multiple of --max-features"),
        (("--max-features", 2, "--task", "town"), "multitask models have no shortlist"),
        (("--max-features", 2, "--time-limit", 5), "--shortlist and --time-limit exclude each other"),
    ):
        refused = run(*listed, *more)
        assert refused.exit_code == 2
        assert why in " ".join(refused.output.split())


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
    np.testing.assert_array_equal(
        pd.read_csv(predicted, float_precision="round_trip")[["p_no", "p_yes"]].to_numpy(), expected
    )
    found = json.loads(run("inspect", out, "--json").stdout)
    assert [one["task"] for one in found["tasks"]] == ["fr", "de"]
    assert run("report", out, "--out", tmp_path / "report.html").exit_code == 0


def test_numbers_that_are_categories(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"zip": rng.choice(["01234", "45678", "99999"], N), "noise": rng.normal(size=N)})
    table["y"] = (table["zip"] == "45678") * 1.0 + rng.normal(size=N) / 10
    path, out = write(tmp_path, ".csv", table), tmp_path / "model.json"
    done = run(
        "fit", path, "--target", "y", "--categorical", "zip", "--categorical-as", "category", "--out", out
    )
    assert done.exit_code == 0, done.output
    # Text as it stood in the file, its leading zero included.
    assert set(load_model(out).selected_categories_[0]) <= {"01234", "45678", "99999"}
    assert "zip = 45678" in done.output


def test_libsvm(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(N, 5)), 3)
    path, out = tmp_path / "table.libsvm", tmp_path / "model.json"
    dump_svmlight_file(X, X[:, 3] > 0, str(path))
    done = run("fit", path, "--trees", 5, "--out", out)
    assert done.exit_code == 0, done.output
    predicted = run("predict", out, path)
    assert predicted.exit_code == 0, predicted.output
    assert len(predicted.stdout.splitlines()) == N + 1
    assert run("fit", path, "--exclude", "x", "--out", out).exit_code == 2


def test_a_column_may_turn_out_to_be_text_late_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gtgbm.cli.files._BLOCK", 4096)
    lines = ["a,b,c,y"] + [f"{k},{k % 7},,{k % 2}" for k in range(2000)] + ["1.5,word,2,1", "2,other,text,0"]
    path, out = tmp_path / "table.csv", tmp_path / "model.json"
    path.write_text("\n".join(lines))
    done = run("fit", path, "--target", "y", "--trees", 2, "--out", out)
    assert done.exit_code == 0, done.output
    schema = load_model(out)._schema
    assert [column.kind for column in schema.columns] == ["number", "category", "category"]


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


def test_a_time_limit_ends_training(tmp_path: Path) -> None:
    path, out = write(tmp_path, ".csv", frame()), tmp_path / "model.json"
    done = run("fit", path, "--target", "clicked", "--trees", 100_000, "--time-limit", 0.5, "--out", out)
    assert done.exit_code == 0, done.output
    assert 1 <= load_model(out).n_iter_ < 100_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.csv",), "is not a file"),
        (("table.csv", "--target", "clickd"), "has no columns 'clickd'; it has 'c0'"),
        (("table.csv",), "--target is missing"),
        (("table.csv", "--target", "clicked", "--exclude", "x"), "has no columns 'x'"),
        (("table.csv", "--target", "town"), "'town' has missing values"),
        (("table.csv", "--target", "clicked", "--valid", "1.5"), "--valid 1.5 is neither a fraction"),
        (("table.csv", "--target", "clicked", "--early-stopping", "3"), "needs --valid"),
        (("table.csv", "--target", "clicked", "--loss", "huber"), "loss='huber'"),
        (("table.csv", "--target", "clicked", "--kind", "regression"), "y"),
        (("table.csv", "--target", "clicked", "--kind", "ranking"), "--qid is missing"),
        (("table.csv", "--target", "clicked", "--weight", "c0"), "sample_weight"),
        (("table.xyz",), "has an unknown suffix"),
        (("empty.csv", "--target", "a"), "no header line with column names"),
        (("header.csv", "--target", "a"), "has no rows"),
        (("ragged.csv", "--target", "a"), "Expected 2 columns, got 3"),
        (("latin.csv", "--target", "a"), "UTF"),
        (("twice.csv", "--target", "a"), "several columns of the same name: 'a'"),
        (("zero.csv", "--target", "a"), "zero byte"),
        (("broken.parquet", "--target", "a"), "cannot be read"),
        (("broken.csv.gz", "--target", "a"), "cannot be read"),
        (("broken.libsvm",), "not a valid libsvm file"),
        (("table.csv", "--target", "clicked", "--out", "no/where.json"), "there is no directory"),
    ],
)
def test_user_errors_are_one_line(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, ".csv", frame(50))
    for name, content in {
        "table.xyz": b"a",
        "empty.csv": b"",
        "header.csv": b"a,b\n",
        "ragged.csv": b"a,b\n1,2\n1,2,3\n",
        "latin.csv": "a,b\n1,Köln\n".encode("latin-1"),
        "twice.csv": b"a,a\n1,2\n",
        "zero.csv": b"a,\0b\n1,2\n",
        "broken.parquet": b"PAR1 and so on",
        "broken.csv.gz": b"no gzip",
        "broken.libsvm": b"1 a:b\n",
    }.items():
        (tmp_path / name).write_bytes(content)
    out = () if "--out" in arguments else ("--out", "model.json")
    done = run("fit", *arguments, *out)
    assert done.exit_code == 2
    assert message in " ".join(done.output.split())
    assert "Traceback" not in done.output
    assert not (tmp_path / "model.json").exists()


def test_predict_refuses_what_does_not_fit(tmp_path: Path) -> None:
    table, out = frame(), tmp_path / "model.json"
    path = write(tmp_path, ".csv", table)
    run("fit", path, "--target", "clicked", "--exclude", "amount", "--max-features", 2, "--out", out)
    needed = load_model(out).get_feature_names_out().tolist()
    only = write(tmp_path, ".csv", table[needed])
    assert run("predict", out, only).exit_code == 0
    lacking = write(tmp_path, ".csv", table.drop(columns=needed[0]))
    done = run("predict", out, lacking)
    assert done.exit_code == 2
    assert f"has no columns '{needed[0]}'" in " ".join(done.output.split())
    broken = tmp_path / "broken.json"
    broken.write_bytes(out.read_bytes()[:-100])
    assert run("predict", broken, only).exit_code == 2
    assert run("inspect", broken).exit_code == 2


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


def test_report(tmp_path: Path) -> None:
    table, out = frame(), tmp_path / "model.json"
    path = write(tmp_path, ".csv", table)
    run(
        "fit",
        path,
        "--target",
        "clicked",
        "--exclude",
        "amount",
        "--max-features",
        3,
        "--trees",
        10,
        "--out",
        out,
    )
    page = tmp_path / "report.html"
    done = run("report", out, "--out", page, "--title", "Clicks & more")
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert "Clicks &amp; more" in text
    assert "c2" in text
    other = write(tmp_path, ".parquet", frame(seed=1))
    assert run("report", out, other, "--out", page).exit_code == 0
    lacking = write(tmp_path, ".feather", table.drop(columns="c3"))
    done = run("report", out, lacking, "--out", page)
    assert done.exit_code == 2
    assert "has no columns 'c3'" in " ".join(done.output.split())


def test_text_in_a_csv_is_text_and_in_numbers_it_is_missing(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"country": rng.choice(["NA", "DE", "null"], N), "x": rng.normal(size=N)})
    table.loc[::9, "country"] = None
    table.loc[::7, "x"] = np.nan
    table["y"] = (table["country"] == "NA") * 1.0 + rng.normal(size=N) / 10
    out, trees = tmp_path / "model.json", []
    for path in (write(tmp_path, ".parquet", table), write(tmp_path, ".csv", table)):
        if path.suffix == ".csv":
            path.write_text(table.assign(x=table["x"].map(repr).replace("nan", "NA")).to_csv(index=False))
        assert run("fit", path, "--target", "y", "--trees", 5, "--out", out).exit_code == 0
        trees.append(bits(load_model(out)))
    assert trees[0] == trees[1]


def test_libsvm_columns_are_counted_as_in_training(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(N, 3)), 3)
    fitted, other, out = tmp_path / "a.libsvm", tmp_path / "b.libsvm", tmp_path / "model.json"
    dump_svmlight_file(X, X[:, 1] > 0, str(fitted), zero_based=True)
    assert run("fit", fitted, "--trees", 5, "--out", out).exit_code == 0
    other.write_text("0 1:0.9\n1 1:-0.9\n")  # column 0 is zero in all rows, and so is the last
    rows = run("predict", out, other).stdout.splitlines()[1:]
    expected = load_model(out).predict(np.array([[0, 0.9, 0], [0, -0.9, 0]]))
    assert [row.split(",")[0] for row in rows] == [str(one) for one in expected.tolist()]
    assert run("fit", fitted, "--trees", 5, "--valid", other, "--out", out).exit_code == 0


def test_odd_names_limits_targets_and_outputs(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x[usd]": rng.normal(size=N), "i[/b]": rng.normal(size=N)})
    table["y"] = table["x[usd]"] + rng.normal(size=N) / 9
    path, out = write(tmp_path, ".csv", table), tmp_path / "t[blue].json"
    done = run("fit", path, "--target", "y", "--max-features", 20, "--trees", 3, "--out", out)
    assert done.exit_code == 0, done.output
    assert "x[usd]" in done.output
    assert "x[usd]" in run("inspect", out).output
    assert json.loads(run("inspect", out, "--tree", 0, "--json").stdout)["feature"][0] == 0
    assert run("compare", path, "--target", "y", "--trees", 3).exit_code == 0
    assert run("fit", path, "--target", "y", "--out", tmp_path).exit_code == 2
    assert (
        "is both target and weight" in run("fit", path, "--target", "y", "--weight", "y", "--out", out).output
    )
    nothing = run("fit", path, "--target", "y", "--penalty", 0.999, "--trees", 1, "--out", out)
    assert nothing.exit_code == 0
    assert len(run("predict", out, path).stdout.splitlines()) == N + 1
    prices = pa.array([Decimal(k) / 4 for k in range(N)], pa.decimal128(12, 2))
    parquet.write_table(pa.table({"x": rng.normal(size=N), "price": prices}), tmp_path / "prices.parquet")
    done = run("fit", tmp_path / "prices.parquet", "--target", "price", "--trees", 2, "--out", out)
    assert "GTGBMRegressor" in done.output
    late = pd.DataFrame({"x": rng.normal(size=120_000), "y": np.arange(120_000) // 110_000})
    done = run("fit", write(tmp_path, ".parquet", late), "--target", "y", "--trees", 1, "--out", out)
    assert "GTGBMClassifier" in done.output


def test_links_and_pipes_are_written_through(tmp_path: Path) -> None:
    path, real, link = write(tmp_path, ".csv", frame(60)), tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("")
    link.symlink_to(real)
    assert run("fit", path, "--target", "clicked", "--trees", 1, "--out", link).exit_code == 0
    assert link.is_symlink()
    assert load_model(real).n_iter_ == 1
    assert run("fit", path, "--target", "clicked", "--trees", 1, "--out", "/dev/stderr").exit_code in (0, 2)


def test_models_that_know_no_names_take_columns_by_place(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, out = rng.normal(size=(N, 3)), tmp_path / "model.json"
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    path = write(tmp_path, ".csv", table)
    wider = write(tmp_path, ".parquet", table.assign(y=1))
    for fitted in (X, pd.DataFrame(X)):
        model = GTGBMClassifier(n_estimators=3).fit(fitted, X[:, 2] > 0)
        model.save_model(out)
        predicted = [line.split(",")[0] for line in run("predict", out, path).stdout.splitlines()[1:]]
        assert predicted == [str(one) for one in model.predict(fitted)]
        assert run("predict", out, wider).exit_code == 2


def test_targets_by_column_have_a_prediction_each(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table, out = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc")), tmp_path / "model.json"
    y = pa.table({"one": table["a"] + 0.0, "two": -table["b"]})
    MultitaskGTGBMRegressor(n_estimators=2).fit(table, y).save_model(out)
    lines = run("predict", out, write(tmp_path, ".csv", table)).stdout.splitlines()
    assert lines[0] == "prediction_one,prediction_two"
    assert len(lines) == N + 1


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


def test_completion_is_offered() -> None:
    assert "--install-completion" in run("--help").output
