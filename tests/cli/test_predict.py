"""gtgbm predict and report: a model and another table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.datasets import dump_svmlight_file

from gtgbm import GTGBMClassifier, MultitaskGTGBMRegressor, load_model
from tests.cli.tables import N, frame, read_exactly, run, said, write


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
    assert f"has no column '{needed[0]}'" in " ".join(done.output.split())
    broken = tmp_path / "broken.json"
    broken.write_bytes(out.read_bytes()[:-100])
    assert run("predict", broken, only).exit_code == 2
    assert run("inspect", broken).exit_code == 2


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
    assert "has no column 'c3'" in " ".join(done.output.split())


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


def test_numbers_where_there_were_words_are_refused(tmp_path: Path) -> None:
    table, out = frame(), tmp_path / "model.json"
    table["clicked"] = np.where(table["town"] == "Bonn", "yes", "no")
    run("fit", write(tmp_path, ".csv", table), "--target", "clicked", "--exclude", "amount", "--out", out)
    assert "town" in load_model(out).get_feature_names_out()
    for suffix in (".csv", ".parquet", ".feather"):
        refused = run("predict", out, write(tmp_path, suffix, table.assign(town=np.arange(N))))
        assert refused.exit_code == 2
        why = "column 'town' holds categories in the training table, but numbers here; convert it"
        assert why in said(refused)
    empty = write(tmp_path, ".csv", table.assign(town=None))
    assert run("predict", out, empty).exit_code == 0


def test_words_where_there_were_numbers_are_named(tmp_path: Path) -> None:
    table, out = frame(), tmp_path / "model.json"
    run("fit", write(tmp_path, ".csv", table), "--target", "clicked", "--exclude", "amount", "--out", out)
    wrong = table.astype({"c2": object})
    wrong.loc[::2, "c2"] = "low"
    refused = run("predict", out, write(tmp_path, ".csv", wrong))
    assert refused.exit_code == 2
    assert "column 'c2' holds numbers in the training table, but 'low' (row 1) here" in said(refused)


def test_predictions_by_suffix(tmp_path: Path) -> None:
    table, model = frame(), tmp_path / "model.json"
    path = write(tmp_path, ".csv", table)
    run("fit", path, "--target", "clicked", "--exclude", "amount", "--trees", 5, "--out", model)
    assert run("predict", model, path, "--out", tmp_path / "p.csv").exit_code == 0
    expected = read_exactly(tmp_path / "p.csv")
    for suffix, read in ((".parquet", pd.read_parquet), (".feather", pd.read_feather)):
        out = tmp_path / f"p{suffix}"
        done = run("predict", model, path, "--out", out)
        assert done.exit_code == 0, done.output
        found = read(out)
        assert found["prediction"].tolist() == expected["prediction"].tolist()
        assert found["p_yes"].tolist() == expected["p_yes"].tolist()
    assert run("predict", model, path, "--out", tmp_path / "p.tsv").exit_code == 0
    assert (tmp_path / "p.tsv").read_text().startswith("prediction\tp_no\tp_yes\n")
    for name in ("p.xlsx", "p"):
        refused = run("predict", model, path, "--out", tmp_path / name)
        assert refused.exit_code == 2
        assert "has a suffix that is not known; known are .csv" in said(refused)
        assert not (tmp_path / name).exists()


def test_labels_are_written_as_they_are_in_quotes(tmp_path: Path) -> None:
    table, model = frame(), tmp_path / "model.json"
    table["clicked"] = np.where(table["clicked"] == "yes", "=1+1", 'so, "no"')
    path = write(tmp_path, ".parquet", table)
    run("fit", path, "--target", "clicked", "--exclude", "amount", "--trees", 3, "--out", model)
    assert run("predict", model, path, "--out", tmp_path / "p.csv").exit_code == 0
    assert '\n"=1+1",0.' in (tmp_path / "p.csv").read_text()
    assert set(read_exactly(tmp_path / "p.csv")["prediction"]) == {"=1+1", 'so, "no"'}


def test_columns_that_name_rows_are_passed_on(tmp_path: Path) -> None:
    table, model = frame(), tmp_path / "model.json"
    table["customer"] = [f"{k:05d}" for k in range(N)]
    path = write(tmp_path, ".csv", table)
    fit = ("fit", path, "--target", "clicked", "--exclude", "amount", "--trees", 3, "--out", model)
    assert run(*fit, "--id-columns", "customer").exit_code == 0
    assert "customer" not in load_model(model).feature_names_in_
    out = tmp_path / "p.parquet"
    for table_file in (path, write(tmp_path, ".parquet", table)):
        assert run("predict", model, table_file, "--out", out).exit_code == 0
        assert pd.read_parquet(out)["customer"].tolist() == table["customer"].tolist()
    assert run("predict", model, path, "--id-columns", "count,customer", "--out", out).exit_code == 0
    assert list(pd.read_parquet(out))[:3] == ["count", "customer", "prediction"]
    refused = run("predict", model, path, "--id-columns", "custommer")
    assert refused.exit_code == 2
    assert "'custommer' of --id-columns; did you mean 'customer'?" in said(refused)
    # A table without the column that training was told of is fine; one that was asked for is not.
    assert run("predict", model, write(tmp_path, ".csv", frame())).stdout.startswith("prediction,p_no")
