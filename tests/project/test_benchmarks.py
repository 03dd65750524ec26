"""The benchmark suite on tiny made-up data: loaders, JSON, bars, exponents, searches, the page."""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from benchmarks.comparison.bars import (
    AutoAtMost,
    FrontierAtLeast,
    MemoryAtMost,
    ScoreAtLeast,
    ScoreAtSize,
    TimeAtMost,
)
from benchmarks.comparison.frontier import PenaltySearch, next_penalty
from benchmarks.comparison.plan import FrontierPlan
from benchmarks.comparison.plans import PLANS, quick
from benchmarks.comparison.results import Results, partial_path_of, path_of
from benchmarks.comparison.rounds import Measurement
from benchmarks.comparison.summary import Found, Point, sum_up, worth_repeating
from benchmarks.page import PREDICTION, write_page
from benchmarks.speed.growth import Step, Sweeper
from benchmarks.speed.growth_page import GROWTH, GrowthPoint, GrowthResults
from measuring.cost import exponent
from measuring.data import Data, DataMissingError, Source, load
from measuring.fits import load_for, run_here, run_in_process
from measuring.jobs import Job, Record
from measuring.methods import A_GBM, AUTO, GT, LGB_ALL, LGB_CEGB, LGB_ORACLE
from measuring.processes import ProcessFailedError


def a_record(seconds: float = 1.0, n_features: int = 10, score: float = 0.9, peak: float = 5.0) -> Record:
    return Record(
        seconds=seconds,
        n_features=n_features,
        score=score,
        mean_leaves=8.0,
        peak_mb=peak,
        predict_batch=0.01,
        predict_row=1e-4,
        features_by_gain=list(range(n_features)),
        shape=[100, 20],
    )


def a_job(method: str = GT, penalty: float | None = 0.003, setting: str = "") -> Job:
    return Job(method, "peer", "model", Source("demo"), penalty=penalty, setting=setting)


def found(*runs: tuple[Job, Record], points: tuple[Point, ...] = ()) -> Found:
    return Found(sum_up(runs), points)


# Data


def test_absent_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataMissingError, match=r"madelon/data\.npz"):
        load(Source("madelon", str(tmp_path)))
    with pytest.raises(DataMissingError, match="--data-dir"):
        load(Source("madelon"))
    with pytest.raises(ValueError, match="give one of"):
        load(Source("no such data"))


def test_stored_tables(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.3, (20, 6)).astype(np.uint8), rng.integers(1, 3, 20).astype(np.int8)
    (tmp_path / "pcmac").mkdir()
    np.savez(tmp_path / "pcmac" / "data.npz", X=X, y=y)
    data = load(Source("pcmac", str(tmp_path)))
    assert sparse.issparse(data.X_train)
    assert data.X_train.dtype == np.float32
    assert data.X_train.shape == (16, 6)
    assert data.X_test.shape == (4, 6)
    assert set(np.concatenate([data.y_train, data.y_test])) == {0, 1}
    other = load(Source("pcmac", str(tmp_path), seed=1))
    assert (data.X_train != other.X_train).nnz > 0
    assert load(Source("pcmac", str(tmp_path), max_rows=3)).X_train.shape == (3, 6)


def test_flight_codes_and_one_hot(tmp_path: Path) -> None:
    head = "Month,DayofMonth,DayOfWeek,DepTime,UniqueCarrier,Origin,Dest,Distance,dep_delayed_15min"
    lines = [f"c-{k % 3},c-1,c-2,{k},AA,O{k % 2},D,{10 * k},{'YN'[k % 2]}" for k in range(10)]
    (tmp_path / "flight_delay").mkdir()
    with gzip.open(tmp_path / "flight_delay" / "train-0.1m.csv.gz", "wt") as file:
        file.write("\n".join([head, *lines]))
    data = load(Source("flight", str(tmp_path)))
    assert data.categorical == (0, 1, 2, 4, 5, 6)
    assert data.X_train.shape == (8, 8)
    assert set(data.X_train[:, 0]) <= {0, 1, 2}
    narrow = data.one_hot()
    assert narrow.X_train.shape == (8, 2 + 3 + 1 + 1 + 1 + 2 + 1)
    assert narrow.categorical == ()
    np.testing.assert_array_equal(narrow.X_train[:, :2].toarray(), data.X_train[:, [3, 7]])
    np.testing.assert_array_equal(narrow.X_train[:, 2:].sum(axis=1), np.full((8, 1), 6))


def test_one_hot_leaves_missing_and_new_categories_out() -> None:
    train = np.array([[0.0, np.nan], [1.0, 5.0]], dtype=np.float32)
    test = np.array([[2.0, 1.0], [np.nan, 2.0]], dtype=np.float32)
    labels = np.array([0, 1])
    data = Data(train, labels, test, labels, categorical=(0,)).one_hot()
    np.testing.assert_array_equal(data.X_train.toarray(), [[np.nan, 1, 0], [5, 0, 1]])
    np.testing.assert_array_equal(data.X_test.toarray(), [[1, 0, 0], [2, 0, 0]])


def test_only_some_columns_keeps_track_of_categories() -> None:
    X = np.arange(12, dtype=np.float32).reshape(3, 4)
    data = Data(X, np.array([0, 1, 0]), X, np.array([0, 1, 0]), categorical=(1, 2))
    few = data.only([3, 1])
    np.testing.assert_array_equal(few.X_train, X[:, [3, 1]])
    assert few.categorical == (1,)
    assert data.only(None) is data


def test_generated_tables_are_the_same_from_the_cache(tmp_path: Path) -> None:
    source = Source("epsilon", shape=(50, 400))
    fresh, cached = load(source), replace(source, cache_dir=str(tmp_path))
    for _ in range(2):
        again = load(cached)
        np.testing.assert_array_equal(fresh.X_train, again.X_train)
        np.testing.assert_array_equal(fresh.y_test, again.y_test)
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".npy", ".npy"]
    assert fresh.X_train.dtype == np.float32
    assert fresh.X_train.flags.c_contiguous
    correlations = np.abs(np.corrcoef(load(Source("growth", shape=(2000, 200))).X_train.T))
    assert (correlations > 0.2).sum() > 400


# Jobs, records, rows


def test_jobs_and_records_travel_as_json() -> None:
    job = replace(a_job(), columns=[3, 1], data=Source("wide", "somewhere", "cache", shape=(5, 6)))
    assert Job.from_dict(json.loads(json.dumps(asdict(job)))) == job
    assert job.without_places().data == Source("wide", shape=(5, 6))
    assert Record(**json.loads(json.dumps(asdict(a_record())))) == a_record()


def test_the_fastest_variant_counts() -> None:
    jobs = [replace(a_job(LGB_ALL), layout=layout) for layout in ("col_wise", "row_wise")]
    runs = [(jobs[0], a_record(3.0)), (jobs[1], a_record(1.0)), (jobs[1], a_record(2.0))]
    (row,) = sum_up(runs)
    assert (row.seconds, row.fastest, row.slowest, row.n_runs) == (1.5, 1.0, 2.0, 2)
    assert row.variant == "row-wise"
    assert worth_repeating(runs[:2]) == [jobs[1]]
    assert worth_repeating(runs[:2], once_above=0.5 * runs[1][1].seconds) == []


# Bars


def test_time_bars() -> None:
    all_features = (a_job(LGB_ALL, None), a_record(20.0, peak=100.0))
    ours = [(a_job(GT, p, f"penalty {p}"), a_record(s)) for p, s in ((0.01, 0.9), (0.001, 1.1))]
    results = found(*ours, all_features)
    assert [bar.reached for bar in TimeAtMost(GT, LGB_ALL, 1 / 20).hold(results)] == [True, False]
    assert [bar.reached for bar in TimeAtMost(GT, LGB_ALL, 1 / 20, penalty=0.001).hold(results)] == [False]
    assert [bar.reached for bar in TimeAtMost(GT, LGB_ORACLE, 1.0).hold(results)] == [None]
    assert MemoryAtMost(GT, LGB_ALL, 0.5).hold(results)[0].reached is True
    assert MemoryAtMost(GT, LGB_CEGB, 0.5).hold(results)[0].reached is None


def test_a_peer_that_was_stopped_gives_a_bound() -> None:
    results = Found(sum_up([(a_job(GT), a_record(10.0))]), unfinished={LGB_ALL: 300.0})
    assert TimeAtMost(GT, LGB_ALL, 1 / 30).hold(results)[0].reached is True
    (bar,) = TimeAtMost(GT, LGB_ALL, 1 / 31).hold(results)
    assert bar.reached is None
    assert "< 0.033" in bar.measured


def test_automatic_choice_is_held_against_the_faster_search_at_its_penalty() -> None:
    runs = [
        (a_job(GT, 0.01, "other penalty"), a_record(0.1)),
        (a_job(GT), a_record(2.0)),
        (a_job(A_GBM), a_record(1.0)),
        (a_job(AUTO), a_record(1.3)),
    ]
    (bar,) = AutoAtMost(1.2).hold(found(*runs))
    assert bar.reached is False
    assert "1.300" in bar.measured
    assert AutoAtMost(1.2).hold(found())[0].reached is None


def test_score_bars() -> None:
    results = found((a_job(GT), a_record(n_features=30, score=0.95)), (a_job(LGB_CEGB), a_record(score=0.94)))
    assert ScoreAtSize(GT, 0.94, 30).hold(results)[0].reached is True
    assert ScoreAtSize(GT, 0.96, 30).hold(results)[0].reached is False
    assert ScoreAtSize(GT, 0.94, 29).hold(results)[0].reached is False
    assert ScoreAtLeast(GT, LGB_CEGB).hold(results)[0].reached is True
    assert ScoreAtLeast(LGB_CEGB, GT).hold(results)[0].reached is False
    points = [Point(GT, 50, seed, 50, 0.9 + 0.01 * seed) for seed in range(3)]
    points += [Point(LGB_CEGB, 50, seed, 51, 0.905) for seed in range(2)]
    (bar,) = FrontierAtLeast(GT, LGB_CEGB, 50).hold(found(points=tuple(points)))
    assert bar.reached is True  # 0.905 on the two splits both have
    assert "2 splits" in bar.what


# Searching a penalty


@pytest.mark.parametrize("wanted", [3, 20, 50, 400])
def test_penalty_search_reaches_the_wanted_size(wanted: int) -> None:
    fits: list[float] = []

    def fit(penalty: float) -> Record:
        fits.append(penalty)
        return a_record(n_features=round(0.8 * penalty**-0.7))

    search = PenaltySearch(fit, start=0.003, tries=10)
    nearest = search.nearest(wanted)
    assert nearest is not None
    assert nearest[1].n_features == pytest.approx(wanted, rel=0.03)
    n_fits = len(fits)
    search.nearest(wanted)
    assert len(fits) == n_fits


def test_penalty_search_gives_up() -> None:
    assert next_penalty({0.4: 10}, 5, 0.003) is None
    assert next_penalty({2e-7: 10}, 50, 0.003) is None
    assert PenaltySearch(lambda _: None, 0.003, 5).nearest(10) is None


# Measurements


def test_a_measurement_goes_on_where_it_stopped(tmp_path: Path) -> None:
    results = Results("demo", "command", {"CPU": "some"})
    asked: list[Job] = []

    def run(job: Job) -> Record:
        asked.append(job)
        if job.peer == "xgboost_models":
            raise ProcessFailedError("stopped", at_least=7.0)
        return a_record(seconds=1.0 + len(asked))

    plan = replace(
        PLANS["demo"], peers=("xgb-all",), frontier=FrontierPlan((10,), models=("auto",), tries=2, seeds=2)
    )
    base = Job("", "", "", Source("demo", cache_dir="somewhere"))
    Measurement(results, run, tmp_path).all_rounds(plan, base, repeats=2)
    n_asked = len(asked)
    assert results.failures == {"XGBoost, all features": "stopped"}
    assert results.unfinished == {"XGBoost, all features": 7.0}
    assert {point.seed for point in results.points} == {0, 1}

    again = Results.read(partial_path_of(tmp_path, "demo"))
    assert again.points == results.points
    assert [job for job, _ in again.runs] == [job.without_places() for job, _ in results.runs]
    measurement = Measurement(again, run, tmp_path)
    measurement.all_rounds(plan, base, repeats=2)
    measurement.finish()
    # Only what is not kept is asked again: how many leaves our trees had on each split.
    assert all(job.model == "auto" for job in asked[n_asked:])
    assert not partial_path_of(tmp_path, "demo").exists()
    assert Results.read(path_of(tmp_path, "demo")).data == "demo"


def test_quick_plans_are_smaller() -> None:
    for plan in PLANS.values():
        small = quick(plan)
        assert small.penalties == ()
        assert small.frontier is None or len(small.frontier.sizes) == 1


# Growth


def test_exponent() -> None:
    at = [1.0, 2.0, 4.0, 8.0]
    assert exponent(at, [3 * x**1.5 for x in at]) == pytest.approx(1.5)
    assert exponent([1, 1, 2], [1, 2, 3]) is None


def test_a_sweep_stops_a_method_that_takes_too_long(tmp_path: Path) -> None:
    def run(job: Job, limit: float) -> Record:
        assert limit > 10
        assert job.data.shape is not None
        if job.method == A_GBM:
            raise ProcessFailedError("failed")
        return a_record(seconds=job.data.shape[1] / (10 if job.method == LGB_ALL else 1000))

    limits = {GT: 10.0, LGB_ALL: 10.0, A_GBM: 10.0}
    path = tmp_path / GROWTH
    steps = [Step(d, (50, d)) for d in (60, 120, 240)]
    Sweeper(GrowthResults(), run, limits, path).sweep("columns", steps, Job("", "", "", Source("growth")))
    curves = GrowthResults.read(path).curves("columns")
    assert {method: [point.at for point in curve] for method, curve in curves.items()} == {
        GT: [60, 120, 240],
        LGB_ALL: [60, 120],
    }
    assert set(GrowthResults.read(path).skipped) == {f"columns: {A_GBM}", f"columns: {LGB_ALL}"}


# The page


def results_folder(folder: Path) -> Path:
    results = Results("demo", "python -m benchmarks run", {"CPU": "some"}, failures={"CatBoost": "absent"})
    results.runs = [(a_job(GT), a_record(2.0)), (a_job(A_GBM), a_record(1.0)), (a_job(AUTO), a_record(1.1))]
    results.points = [Point(GT, 10, 0, 10, 0.91), Point(LGB_CEGB, 10, 0, 12, 0.92)]
    results.write(path_of(folder, "demo"))
    row = {"what": "one row", "ours_us": 5.0, "lightgbm_us": 10.0, "ratio": 0.5}
    (folder / PREDICTION).write_text(json.dumps({"rows": [row]}), encoding="utf-8")
    return folder


def test_page(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "benchmarks.md"
    bars = write_page(results_folder(tmp_path), page)
    assert [bar.reached for bar in bars] == [True, True]
    text = page.read_text(encoding="utf-8")
    assert "## demo" in text
    assert "0.9200 with 12" in text
    assert "| one row | 5.0 | 10.0 | 0.500 |" in text
    assert "CatBoost: absent" in text
    assert "Not measured: gisette" in text
    assert "## Growth" not in text


def test_page_with_plots(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    points = [GrowthPoint("columns", GT, d, d / 100, 5, 0.9) for d in (100, 200, 400)]
    GrowthResults(points, {f"columns: {GT}": "too slow"}, {"columns": {"CPU": "some"}}).write(
        tmp_path / GROWTH
    )
    write_page(tmp_path, tmp_path / "docs" / "benchmarks.md")
    text = (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert "1.00 |" in text
    assert "too slow" in text
    for ending in ("png", "svg"):
        assert (tmp_path / "docs" / "images" / f"growth-columns.{ending}").stat().st_size > 1000


# Adapters


@pytest.mark.parametrize("model", ["group-testing", "auto", "exhaustive"])
def test_our_adapter(model: str) -> None:
    job = Job(GT, "gtgbm_models", model, Source("demo", shape=(300, 320)), n_trees=3, penalty=0.01)
    record = run_here(replace(job, n_features=5), load_for(job))
    assert 1 <= record.n_features <= 5
    assert record.n_features == len(record.features_by_gain)
    assert record.shape == [300, 320]
    assert Record(**json.loads(json.dumps(asdict(record)))) == record


@pytest.mark.parametrize("model", ["all", "cegb", "topk", "rfe"])
def test_lightgbm_adapter(model: str) -> None:
    pytest.importorskip("lightgbm")
    source = Source("demo", shape=(300, 320))
    job = Job(LGB_ALL, "lightgbm_models", model, source, n_trees=3, penalty=0.01, n_features=4, n_leaves=4)
    record = run_here(job, load_for(job))
    assert record.mean_leaves <= 4
    assert model == "all" or record.n_features <= (9 if model == "cegb" else 4)


def test_backward_elimination_keeps_the_columns_that_tell_something() -> None:
    pytest.importorskip("lightgbm")
    X = np.random.default_rng(0).standard_normal((400, 12)).astype(np.float32)
    y = (X[:, 3] + X[:, 7] > 0).astype(np.int64)
    job = Job(LGB_ALL, "lightgbm_models", "backward", Source(""), n_trees=5, n_features=2, n_leaves=4)
    record = run_here(job, Data(X, y, X, y))
    assert sorted(record.features_by_gain) == [3, 7]


@pytest.mark.parametrize(
    ("library", "adapter", "model"),
    [("gtgbm", "gtgbm_models", "exhaustive"), ("lightgbm", "lightgbm_models", "all")],
)
def test_regression_is_scored_by_its_error(library: str, adapter: str, model: str) -> None:
    pytest.importorskip(library)
    X = np.random.default_rng(0).standard_normal((200, 5)).astype(np.float32)
    y = 3.0 * X[:, 0].astype(np.float64)
    record = run_here(
        Job("", adapter, model, Source("demo"), n_trees=30, penalty=0.01, n_leaves=8),
        Data(X, y, X, y, kind="regression"),
    )
    assert 0 < record.score < 1.5
    assert record.features_by_gain[0] == 0


def test_a_worker_says_why_it_failed() -> None:
    job = Job(GT, "gtgbm_models", "no such model", Source("demo", shape=(50, 320)))
    with pytest.raises(ProcessFailedError, match="no such model"):
        run_in_process(job)
    with pytest.raises(ProcessFailedError, match="not loaded") as stopped:
        run_in_process(job, limit=0.01)
    assert stopped.value.at_least is None
    record = run_in_process(replace(job, model="auto", n_trees=2))
    assert asdict(record)["n_features"] >= 1
