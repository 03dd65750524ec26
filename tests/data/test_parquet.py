"""Parquet tables: the same models as from memory, whatever the layout of the files; errors name the file."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from pyarrow import parquet

from gtgbm import (
    AGBMRegressor,
    GTGBMClassifier,
    GTGBMRanker,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
    ParquetTable,
    selection_path,
)
from gtgbm.data import parquet_numbers
from tests.estimators.golden_models import written
from tests.strategies import selects_few

N = 1200


def frame(n: int = N, d: int = 140) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    X[rng.random((n, d)) < 0.02] = np.nan
    found = pd.DataFrame(X, columns=[f"x{k}" for k in range(d)])
    found["town"] = rng.choice(["Ulm", "Bonn", "Köln", "Aachen"], n)
    found.loc[::9, "town"] = None
    found["kind"] = pd.Categorical(rng.choice(["b", "a"], n))
    found["count"] = rng.integers(0, 9, n)
    found["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    found["flag"] = rng.random(n) < 0.5
    signal = np.nan_to_num(X[:, 0] - X[:, d // 2]) + (found["town"] == "Bonn") + found["count"] / 4
    found["y"] = (signal + rng.normal(size=n) / 2 > 1.5).astype(int)
    return found


def write(place: Path, table: pd.DataFrame, n_files: int = 1, row_group: int = 500) -> str:
    for number, rows in enumerate(np.array_split(np.arange(len(table)), n_files)):
        part = pa.Table.from_pandas(table.iloc[rows], preserve_index=False)
        parquet.write_table(part, place / f"part-{number}.parquet", row_group_size=row_group)
    return str(place / "*.parquet")


@pytest.mark.parametrize(("n_files", "row_group"), [(1, 5000), (1, 100), (3, 170), (2, 40)])
def test_the_layout_does_not_matter(n_files: int, row_group: int, tmp_path: Path) -> None:
    table = frame()
    files = ParquetTable(write(tmp_path, table, n_files, row_group))
    model = GTGBMClassifier(n_estimators=4, random_state=0)
    expected = written(model.fit(table.drop(columns="y"), table["y"]))
    assert model.search_ == "group-testing"
    assert written(model.fit(files.drop("y"), files["y"])) == expected
    assert_array_equal(model.predict_proba(files), model.predict_proba(table))
    assert 0 < len(files.read.whole_columns) < 30


@selects_few
@pytest.mark.parametrize(
    "parameters",
    [
        {"n_features_to_select": 3, "search": "group-testing"},
        {"early_stopping_rounds": 2, "subsample": 0.5, "colsample": 0.5},
        {"categorical": "column", "penalty": 0.0001},
        {"search": "exhaustive"},
        {"feature_groups": [["x0", "x4"], ["x70", "x71"]], "fixed_features": ["x9"]},
        {"memory_limit": "10GB", "max_leaf_nodes": 6},
    ],
)
def test_models_are_those_from_memory(parameters: dict[str, Any], tmp_path: Path) -> None:
    table = frame() if "n_features_to_select" not in parameters else frame(300, 20)
    files = ParquetTable(write(tmp_path, table, 2))
    model = GTGBMClassifier(n_estimators=4, random_state=0, **parameters)
    expected = written(model.fit(table.drop(columns="y"), table["y"]))
    assert written(model.fit(files.drop("y"), files["y"])) == expected


def test_other_estimators_weights_and_eval_sets(tmp_path: Path) -> None:
    table = frame(600, 20)
    path = write(tmp_path, table, 2)
    weight, X, y = np.arange(600) % 3, table.drop(columns="y"), table["y"]
    files = ParquetTable(path)
    features, taken = files.drop("y"), np.arange(0, 600, 4)
    cases: list[tuple[Any, dict[str, Any]]] = [
        (GTGBMRegressor(n_estimators=4, random_state=0), {"sample_weight": weight}),
        (AGBMRegressor(n_estimators=4, random_state=0), {}),
        (GTGBMRanker(n_estimators=4, random_state=0), {"qid": np.arange(600) // 10}),
    ]
    for model, extra in cases:
        sets = [(X.iloc[taken], y.iloc[taken]), (features.take(taken), files.take(taken)["y"])]
        given: list[dict[str, Any]] = [{"eval_set": one} for one in sets]
        if isinstance(model, GTGBMRanker):
            given = [{**one, "eval_qid": taken // 10} for one in given]
        expected = written(model.fit(X, y, **extra, **given[0]))
        assert written(model.fit(features, files["y"], **extra, **given[1])) == expected
        assert_array_equal(model.predict(features), model.predict(X))


def test_many_row_groups_are_sampled_from_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = frame(d=140)
    path = write(tmp_path, table, 2, row_group=50)
    monkeypatch.setattr(parquet_numbers, "_MOST_GROUPS", 8)
    model = GTGBMClassifier(n_estimators=3, random_state=0)
    expected = written(model.fit(table.drop(columns="y"), table["y"]))
    drawn, true = ParquetTable(path), ParquetTable(path, true_sample=True)
    assert written(model.fit(true.drop("y"), true["y"])) == expected
    model.fit(drawn.drop("y"), drawn["y"])
    assert "rows are sampled from some row groups, 400 of 1,200 rows" in model.search_.reason
    assert drawn.read.sampling_bytes < 0.8 * true.read.sampling_bytes
    assert model.score(table.drop(columns="y"), table["y"]) > 0.8


def test_an_interrupted_fit_goes_on(tmp_path: Path) -> None:
    files = ParquetTable(write(tmp_path, frame()))
    model, kept = GTGBMClassifier(n_estimators=5, random_state=0), tmp_path / "kept"
    expected = written(model.fit(files.drop("y"), files["y"]))

    def interrupt(progress: Any) -> None:
        if progress.round == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(files.drop("y"), files["y"], callbacks=[interrupt], checkpoint=kept)
    with pytest.raises(ValueError, match="another X"):
        model.fit(files.drop(["y", "x1"]), files["y"], checkpoint=kept)
    assert written(model.fit(files.drop("y"), files["y"], checkpoint=kept)) == expected


def test_columns_and_rows(tmp_path: Path) -> None:
    table = frame(100, 3)
    files = ParquetTable(write(tmp_path, table, 3))
    assert files.shape == (100, 9)
    assert files.drop(["y", "x1"]).columns == [name for name in table if name not in ("y", "x1")]
    assert_array_equal(files["y"], table["y"])
    assert_array_equal(files.take(np.array([3, 50, 99]))["x1"], table["x1"].iloc[[3, 50, 99]])
    assert files["kind"].tolist() == table["kind"].tolist()
    assert_array_equal(
        files.drop("y").take(np.arange(7)).select(["x2", "flag"]).encode()[0].in_memory()[:, 1],
        table["flag"][:7],
    )
    for wrong in ("z", "kin"):
        with pytest.raises(KeyError, match=f"no columns '{wrong}'"):
            files.drop(wrong)
    with pytest.raises(TypeError, match="give the name of a column"):
        files[["x1"]]  # type: ignore[index]
    with pytest.raises(ValueError, match="missing values"):
        files["town"]
    with pytest.raises(ValueError, match="rows must ascend"):
        files.take(np.array([3, 2]))
    assert ParquetTable(tmp_path).shape == ParquetTable(sorted(tmp_path.glob("*"))).shape == (100, 9)


def test_errors_name_the_file(tmp_path: Path) -> None:
    table = frame(100, 3)
    path = write(tmp_path, table, 2)
    with pytest.raises(FileNotFoundError, match="names no Parquet file"):
        ParquetTable(tmp_path / "none-*.parquet")
    last = tmp_path / "part-2.parquet"
    for other, message in (
        (table.astype({"x1": np.float64}), r"part-2.*column 'x1' is double in one and float in the other"),
        (table.drop(columns="x2"), r"part-2.* has no columns 'x2'"),
        (table.assign(z=1.0), r"part-2.* has columns 'z'"),
    ):
        other.to_parquet(last, index=False)
        with pytest.raises(ValueError, match=message):
            ParquetTable(path)
    last.write_bytes(b"PAR1 nothing PAR1")
    with pytest.raises(OSError, match=r"part-2.parquet is not a Parquet file that can be read"):
        ParquetTable(path)
    last.unlink()
    table.assign(places=[[1.0]] * 100).to_parquet(tmp_path / "lists.parquet", index=False)
    lists = ParquetTable(tmp_path / "lists.parquet")
    with pytest.raises(
        TypeError, match=r"lists.parquet: column 'places' has type list.*table.drop\('places'\)"
    ):
        GTGBMClassifier().fit(lists.drop("y"), lists["y"])
    GTGBMClassifier(n_estimators=2).fit(lists.drop(["y", "places"]), lists["y"])


def test_an_unreadable_row_group(tmp_path: Path) -> None:
    path = tmp_path / "one.parquet"
    part = pa.Table.from_pandas(frame(600, 3), preserve_index=False)
    parquet.write_table(part, path, row_group_size=200, compression="zstd", use_dictionary=False)
    files = ParquetTable(path)
    begin = parquet.read_metadata(path).row_group(1).column(1).data_page_offset
    content = bytearray(path.read_bytes())
    content[begin : begin + 60] = b"\xff" * 60
    path.write_bytes(bytes(content))
    with pytest.raises(OSError, match=r"one.parquet: row group 1 cannot be read"):
        GTGBMClassifier(n_estimators=2).fit(files.drop("y"), files["y"])


def test_a_full_disk_while_spilling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ParquetTable(write(tmp_path, frame()))

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    spilled = tmp_path / "spilled"
    spilled.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spilled))
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match=r"bytes for binned columns cannot be written to .*spilled.*TMPDIR"):
        GTGBMClassifier(n_estimators=2).fit(files.drop("y"), files["y"])
    assert list(spilled.iterdir()) == []


def test_a_memory_limit_is_checked_before_reading(tmp_path: Path) -> None:
    table = frame()
    files = ParquetTable(write(tmp_path, table))
    y = files["y"]
    before = files.read.sampling_bytes
    message = r"memory_limit=50,000,000 bytes, but the fit needs about [\d,]+: .*n_features_to_select"
    with pytest.raises(ValueError, match=message):
        GTGBMClassifier(memory_limit="50MB").fit(files.drop("y"), y)
    assert files.read.sampling_bytes == before
    with pytest.raises(ValueError, match="use selection='forward'"):
        GTGBMClassifier(memory_limit=1000, n_features_to_select=3).fit(table.drop(columns="y"), table["y"])
    for wrong in ("2 parsecs", -1, "", True, 0):
        with pytest.raises((ValueError, TypeError), match=r"memory_limit=.* is not an amount of memory"):
            GTGBMClassifier(memory_limit=wrong).fit(files.drop("y"), y)


def test_what_parquet_tables_are_not_for(tmp_path: Path) -> None:
    table = frame(300, 3)
    files = ParquetTable(write(tmp_path, table))
    with pytest.raises(TypeError, match="ParquetTable, which multitask models do not take"):
        MultitaskGTGBMClassifier().fit(files.drop("y"), files["y"], task=np.arange(300) % 2)
    model = GTGBMClassifier(search="group-testing", test_rows=None)
    with pytest.raises(ValueError, match="test_rows=None tests groups on all rows"):
        model.fit(files.select(["x0", "x1", "x2"]), files["y"])
    with pytest.raises(TypeError, match=r"n_features_to_select='auto'.* X is a ParquetTable"):
        GTGBMClassifier(n_features_to_select="auto").fit(files.drop("y"), files["y"])
    with pytest.raises(TypeError, match="X is a ParquetTable"):
        selection_path(GTGBMClassifier(), files.drop("y"), files["y"])
    plain = GTGBMClassifier(n_estimators=2).fit(np.nan_to_num(table[["x0", "x1"]].to_numpy()), table["y"])
    with pytest.raises(ValueError, match="trained without names: give an array"):
        plain.predict(files)
    named = GTGBMClassifier(n_estimators=2, random_state=0).fit(files.drop("y"), files["y"])
    with pytest.raises(ValueError, match="has no columns"):
        named.predict(files.drop(named.selected_feature_names_.tolist()))
    assert named.transform(files).columns == named.selected_feature_names_.tolist()


def test_progress_says_what_was_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ParquetTable(write(tmp_path, frame()))
    GTGBMClassifier(n_estimators=2, verbose=1).fit(files.drop("y"), files["y"])
    said = " ".join(capsys.readouterr().err.split())
    assert "of 145 columns read" in said
    assert "GB beside a sample of" in said
