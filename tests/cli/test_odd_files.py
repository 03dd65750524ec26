"""Files that are not as one would wish."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.datasets import dump_svmlight_file

from gtgbm import load_model
from tests.cli.tables import N, bits, frame, run, write


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
    monkeypatch.setattr("gtgbm.cli.csv_file._BLOCK", 4096)
    lines = (
        ["a,b,c,y"]
        + [f"{k},{k % 7},,{k % 2}" for k in range(2000)]
        + [f"1.5,word{k},{k},1\n2,other,text,0" for k in range(60)]
    )
    path, out = tmp_path / "table.csv", tmp_path / "model.json"
    path.write_text("\n".join(lines))
    done = run("fit", path, "--target", "y", "--trees", 2, "--out", out)
    assert done.exit_code == 0, done.output
    schema = load_model(out)._schema
    assert [column.kind for column in schema.columns] == ["number", "category", "category"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.csv",), "is not a file"),
        (("table.csv", "--target", "clickd"), "has no column 'clickd' of --target; did you mean 'clicked'?"),
        (("table.csv",), "--target is missing"),
        (("table.csv", "--target", "clicked", "--exclude", "x"), "has no column 'x'"),
        (("table.csv", "--target", "town"), "'town' has missing values"),
        (("table.csv", "--target", "clicked", "--valid", "1.5"), "--valid 1.5 is neither a fraction"),
        (("table.csv", "--target", "clicked", "--early-stopping", "3"), "needs --valid"),
        (("table.csv", "--target", "clicked", "--loss", "huber"), "loss='huber'"),
        (("table.csv", "--target", "clicked", "--kind", "regression"), "y"),
        (("table.csv", "--target", "clicked", "--kind", "ranking"), "--qid is missing"),
        (("table.csv", "--target", "clicked", "--weight", "c0"), "sample_weight"),
        (("table.xyz",), "suffix that is not known"),
        (("empty.csv", "--target", "a"), "no line of column names"),
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


# Once: arrays as long as the largest index were allocated, for 2,000,000,000 columns more than 100 GB.
@pytest.mark.parametrize("suffix", [".libsvm", ".svm.gz"])
def test_an_index_beyond_all_columns_is_refused(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"table{suffix}"
    lines = b"# header\n1 1:2.5 3:1\n0 2:1\n\n1 5:1 2000000000:1 # odd\n0 1:1\n"
    path.write_bytes(gzip.compress(lines) if suffix == ".svm.gz" else lines)
    tracemalloc.start()
    done = run("fit", path, "--out", tmp_path / "model.json")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert done.exit_code == 2
    found = " ".join(done.output.split())
    assert "line 5 has column 2000000000; at most 134217728 columns fit" in found
    assert "number the columns anew" in found
    assert peak < 100e6


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


def test_warnings_are_one_line(tmp_path: Path) -> None:
    path, out = write(tmp_path, ".csv", frame()), tmp_path / "model.json"
    done = run(
        "fit",
        path,
        "--target",
        "clicked",
        "--exclude",
        "amount",
        "--penalty",
        0.99,
        "--trees",
        1,
        "--out",
        out,
    )
    assert done.exit_code == 0, done.output
    lines = [line for line in done.output.splitlines() if line.startswith("Warning: ")]
    assert len(lines) == 1
    assert "penalty" in lines[0]
