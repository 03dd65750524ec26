"""How the columns of CSV files are read, and what is refused rather than misread."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gtgbm import load_model
from tests.cli.tables import N, run, said, write


def numbers(n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"price": np.round(rng.normal(size=n), 3), "noise": np.round(rng.normal(size=n), 3)})
    table["town"] = rng.choice(["Ulm", "Köln"], n)
    table["y"] = (table["price"] > 0) * 1
    return table


def fit(path: Path, *more: Any) -> Any:
    return run("fit", path, "--target", "y", "--trees", 3, "--out", path.parent / "model.json", *more)


def kinds(path: Path) -> dict[str, str]:
    return {column.name: column.kind for column in load_model(path.parent / "model.json")._schema.columns}


def test_a_decimal_comma_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    numbers().to_csv(path, sep=";", decimal=",", index=False)
    refused = fit(path)
    assert refused.exit_code == 2
    assert "column 'price' looks like numbers, written as in '0,126': give --decimal ," in said(refused)
    done = fit(path, "--decimal", ",")
    assert done.exit_code == 0, done.output
    assert "800 rows; columns: 2 of numbers, 1 of categories" in said(done)
    assert kinds(path) == {"price": "number", "noise": "number", "town": "category"}
    predicted = run("predict", tmp_path / "model.json", path)  # as the training table was read
    assert predicted.exit_code == 0, predicted.output
    assert [int(line.split(",")[0]) for line in predicted.stdout.splitlines()[1:]] == numbers()["y"].tolist()
    numbers().to_csv(path, sep=";", index=False)
    assert "written as in '0.126': give --decimal ." in said(fit(path, "--decimal", ","))


def test_one_word_among_numbers_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = numbers().astype({"price": object})
    for row in (40, 790):  # in the first block, and after it
        table["price"] = numbers()["price"].astype(object)
        table.loc[row, "price"] = "oops"
        path = write(tmp_path, ".csv", table)
        refused = fit(path)
        assert refused.exit_code == 2
        assert f"column 'price' holds numbers, but also 'oops' (row {row + 1})" in said(refused)
        assert "--missing-values oops" in said(refused)
        assert fit(path, "--missing-values", "oops").exit_code == 0
        assert kinds(path)["price"] == "number"
        assert run("predict", tmp_path / "model.json", path).exit_code == 0
        assert fit(path, "--categorical-features", "price").exit_code == 0
        assert kinds(path)["price"] == "category"
        monkeypatch.setattr("gtgbm.cli.csv_file._BLOCK", 4096)


def test_a_target_with_a_word_is_no_target_of_classes(tmp_path: Path) -> None:
    table = numbers()
    table["y"] = numbers()["price"].astype(object)
    table.loc[7, "y"] = "?"
    path = write(tmp_path, ".csv", table)
    refused = fit(path)
    assert refused.exit_code == 2
    assert "column 'y' holds numbers, but also '?' (row 8)" in said(refused)
    labels = numbers().assign(y=np.where(np.arange(N) < 3, "other", "1")).to_csv(index=False)
    path.write_text(labels, encoding="utf-8")
    assert fit(path, "--kind", "classification").exit_code == 0


def test_columns_worth_a_word(tmp_path: Path) -> None:
    table = numbers()
    table["size"] = np.where(np.arange(N) % 4, np.arange(N).astype(str), "large")
    table["day"] = [f"{1 + k % 28}.{1 + k % 12}.2024" for k in range(N)]
    done = fit(write(tmp_path, ".csv", table))
    assert done.exit_code == 0, done.output
    assert "column 'size' has 600 numbers among 800 values, but also 'large' (row 1)" in said(done)
    assert "column 'day' looks like dates, such as '1.1.2024' (row 1)" in said(done)


def test_a_date_column_may_begin_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gtgbm.cli.csv_file._BLOCK", 4096)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N), unit="D")
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%SZ"):
        table = numbers().assign(day=days.strftime(form))
        table.loc[: N - 50, "day"] = None
        path = write(tmp_path, ".csv", table)
        done = fit(path)
        assert done.exit_code == 0, done.output
        assert kinds(path)["day"] == "time", form
        assert run("predict", tmp_path / "model.json", path).exit_code == 0


def test_a_word_among_dates_is_refused(tmp_path: Path) -> None:
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N), unit="D")
    table = numbers().assign(day=days.strftime("%Y-%m-%d"))
    table.loc[3, "day"] = "soon"
    refused = fit(write(tmp_path, ".csv", table))
    assert refused.exit_code == 2
    assert "column 'day' holds times, but also 'soon' (row 4)" in said(refused)


def test_columns_that_number_the_rows_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    for index in (None, "Unnamed: 0"):
        numbers().to_csv(path, index_label=index)
        for more in ((), ("--quiet",)):  # quiet only turns off what says that all is well
            done = fit(path, *more)
            assert done.exit_code == 0, done.output
            assert f"Warning: column {index or ''!r} only numbers the rows: it is left out" in said(done)
        assert list(kinds(path)) == ["price", "noise", "town"]
    numbers().sample(frac=1, random_state=0).to_csv(path)
    refused = fit(path)
    assert refused.exit_code == 2
    assert "column 1 has no name: give it one, or leave it out by --exclude ''" in said(refused)
    assert fit(path, "--exclude", "").exit_code == 0


def test_separators_within_quotes_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('"a;b;c","two\nlines",y\n' + "".join(f"{k},{-k},{k % 2}\n" for k in range(50)))
    done = fit(path)
    assert done.exit_code == 0, done.output
    assert list(kinds(path)) == ["a;b;c", "two\nlines"]


def test_separator_and_encoding(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    for encoding, separator, options in (
        ("latin-1", ",", ("--encoding", "latin-1")),
        ("utf-16", "\t", ("--encoding", "utf-16", "--sep", "tab")),
        ("utf-8-sig", "^", ("--sep", "^")),
    ):
        numbers().rename(columns={"noise": "größe"}).to_csv(
            path, sep=separator, encoding=encoding, index=False
        )
        done = run("fit", path, "--target", "town", "--trees", 2, "--out", tmp_path / "model.json", *options)
        assert done.exit_code == 0, done.output
        assert list(kinds(path)) == ["price", "größe", "y"]
        assert load_model(tmp_path / "model.json").classes_.tolist() == ["Köln", "Ulm"]
        assert run("predict", tmp_path / "model.json", path).exit_code == 0
    for options, message in (
        (("--sep", "ab"), "--sep 'ab' is no single character"),
        (("--decimal", "x"), "--decimal 'x' is neither a point nor a comma"),
        (("--sep", ",", "--decimal", ","), "--sep and --decimal are both ','"),
        (("--encoding", "klingon"), "--encoding 'klingon' is not known"),
    ):
        refused = fit(path, *options)
        assert refused.exit_code == 2
        assert message in said(refused)


def test_a_torn_gzip_file_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, ".csv.gz", numbers())
    assert fit(path).exit_code == 0
    torn = tmp_path / "torn.csv.gz"
    torn.write_bytes(gzip.compress(numbers(20_000).to_csv(index=False).encode())[:-5000])
    for refused in (fit(torn), run("predict", tmp_path / "model.json", torn)):
        assert refused.exit_code == 2
        assert f"{torn} cannot be read" in said(refused)


def test_a_single_row_is_refused(tmp_path: Path) -> None:
    refused = fit(write(tmp_path, ".csv", numbers(1)))
    assert refused.exit_code == 2
    assert "has 1 row, a minimum of 2 is required" in said(refused)


def test_names_that_are_nearly_right(tmp_path: Path) -> None:
    table = pd.DataFrame(np.zeros((3, 1500)), columns=[f"c{k}" for k in range(1500)]).assign(target=1)
    path = write(tmp_path, ".parquet", table)
    for option, wrong in (("--target", "tarfet"), ("--target", "Target")):
        refused = run("fit", path, option, wrong, "--out", tmp_path / "model.json")
        assert refused.exit_code == 2
        assert f"has no column '{wrong}' of {option}; did you mean 'target'?" in said(refused)
