"""gtgbm predict and report: a model and another table."""

from __future__ import annotations

import json
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


def test_contributions_of_columns_add_up_to_the_score(tmp_path: Path) -> None:
    table, model_file, out = frame(), tmp_path / "model.json", tmp_path / "predicted.csv"
    path = write(tmp_path, ".csv", table)
    fit = ["fit", path, "--exclude", "amount", "--max-features", 2, "--trees", 8, "--out", model_file]
    assert run(*fit, "--target", "clicked").exit_code == 0
    assert run("predict", model_file, path, "--contributions", "--out", out).exit_code == 0
    found, model = pd.read_csv(out), load_model(model_file)
    headings = [f"contribution_{name}" for name in [*model.selected_feature_names_, "expected"]]
    assert found.columns.tolist() == ["prediction", "p_no", "p_yes", *headings]
    p = 1.0 / (1.0 + np.exp(-found[headings].sum(axis=1)))
    np.testing.assert_allclose(p, found["p_yes"], rtol=1e-12)


def test_contributions_by_task_and_by_class(tmp_path: Path) -> None:
    table, rows = frame()[["c0", "c2"]], tmp_path / "rows.csv"
    table.to_csv(rows, index=False)
    tasks = MultitaskGTGBMRegressor(n_estimators=4, random_state=0)
    tasks.fit(table, np.column_stack([table["c2"], -table["c2"]]))
    classes = GTGBMClassifier(n_estimators=4, random_state=0).fit(table, np.digitize(table["c2"], [-1, 1]))
    for model in (tasks, classes):
        model.save_model(tmp_path / "model.json")
        out = tmp_path / "predicted.parquet"
        assert run("predict", tmp_path / "model.json", rows, "--contributions", "--out", out).exit_code == 0
        headings = [name for name in pd.read_parquet(out).columns if name.startswith("contribution_")]
        names = [*model.selected_feature_names_, "expected"]
        groups = model.tasks_ if model is tasks else model.classes_
        assert headings == [f"contribution_{group}_{name}" for group in groups for name in names]


def test_all_trees_as_text_and_json(tmp_path: Path) -> None:
    table = frame()[["c0", "c2", "town"]]
    model = GTGBMClassifier(n_estimators=2, penalty=0.0, random_state=0)
    model.fit(table, np.digitize(table["c2"], [-1, 1])).save_model(tmp_path / "model.json")
    text = run("inspect", tmp_path / "model.json", "--trees").output
    assert [line for line in text.splitlines() if line.startswith("tree ")] == [
        f"tree {3 * k + label} (round {k}, class {label})" for k in range(2) for label in range(3)
    ]
    assert text.count("rows)") == sum(tree.n_nodes for tree in model.trees_)
    described = json.loads(run("inspect", tmp_path / "model.json", "--trees", "--json").stdout)["trees"]
    assert [tree["value"] for tree in described] == [tree.value.tolist() for tree in model.trees_]
    done = run("inspect", tmp_path / "model.json", "--trees", "--tree", 0)
    assert done.exit_code == 2
    assert "give one of the two" in said(done)
