"""Fits on the workers of a Dask cluster: the same bytes, and named errors."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import gtgbm
from gtgbm.distributed import WorkerError
from tests.distributed.test_shards import WEIGHT, N, X, Y, classes, frame
from tests.estimators.golden_models import written
from tests.strategies import selects_few

distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
delayed = pytest.importorskip("dask").delayed
pytest.importorskip("pyarrow")

CHUNKS = (100, 0, 30, 120, 50)
SHAPE: dict[str, Any] = {"n_estimators": 2, "min_node_fraction": 0.1, "random_state": 0, "n_jobs": 1}
pytestmark = [selects_few, pytest.mark.filterwarnings("ignore::DeprecationWarning")]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as connected,
    ):
        yield connected


def gd() -> Any:
    from gtgbm.distributed import dask

    return dask


def arrays(values: Any) -> Any:
    width = (values.shape[1],) if values.ndim == 2 else ()
    return da.from_array(values, chunks=(CHUNKS, *width))


@pytest.mark.parametrize("n_workers", [1, 2, 3, 4])
def test_any_number_of_workers_with_scattered_parts(client: Any, n_workers: int) -> None:
    model = gtgbm.GTGBMClassifier(search="group-testing", subsample=0.8, **SHAPE)
    workers = sorted(client.nthreads())[:n_workers]
    rng = np.random.default_rng(n_workers)
    bounds = [0, *sorted(rng.integers(0, N, 9).tolist()), 200, 200, N]
    places = [slice(*pair) for pair in pairwise(sorted(bounds))]
    owner = [workers[k % n_workers] for k in range(len(places))]

    def on_worker(values: Any) -> list[Any]:
        parts = zip(places, owner, strict=True)
        return [client.scatter(values[at], workers=[one], hash=False) for at, one in parts]

    given = on_worker(X), on_worker(classes())
    fitted = gd().fit(model, *given, sample_weight=on_worker(WEIGHT), client=client, workers=workers)
    assert written(fitted) == written(clone(model).fit(X, classes(), sample_weight=WEIGHT))


def test_arrays_with_weights_and_early_stopping(client: Any) -> None:
    model = gtgbm.GTGBMClassifier(eval_metric="auc", early_stopping_rounds=1, **SHAPE)
    other = X[:90], classes()[:90]
    alone = clone(model).fit(X, classes(), sample_weight=WEIGHT, eval_set=[other])
    seen: list[Any] = []
    fitted = gd().fit(
        model,
        arrays(X),
        da.from_array(classes(), chunks=150),  # other chunks than X
        client=client,
        sample_weight=arrays(WEIGHT),
        eval_set=[(da.from_array(other[0], chunks=(40, 8)), da.from_array(other[1], chunks=40))],
        progress=seen.append,
    )
    assert written(fitted) == written(alone)
    assert not hasattr(model, "trees_")
    assert seen[-1].round == len(alone.evals_result_["validation_0"]["auc"])
    probability = gd().predict(fitted, arrays(X), method="predict_proba")
    np.testing.assert_array_equal(probability.compute(), alone.predict_proba(X))
    np.testing.assert_array_equal(gd().predict(fitted, arrays(X)).compute(), alone.predict(X))


def test_dataframes_with_categories(client: Any) -> None:
    model = gtgbm.GTGBMClassifier(**SHAPE)
    alone = clone(model).fit(frame(), classes())
    table = dd.from_pandas(frame(), npartitions=4)
    fitted = gd().fit(model, table, dd.from_pandas(pd.Series(classes()), npartitions=4), client=client)
    assert written(fitted) == written(alone)
    np.testing.assert_array_equal(gd().predict(fitted, table).compute(), alone.predict(frame()))


def test_delayed_parts_and_a_limit(client: Any) -> None:
    model = gtgbm.GTGBMRegressor(n_features_to_select=2, penalty=0.0, **SHAPE)
    places = [slice(0, 0), slice(0, 140), slice(140, N)]
    parts = [(delayed(X[at]), delayed(Y[at])) for at in places]
    fitted = gd().fit(model, [part for part, _ in parts], [y for _, y in parts], client=client)
    assert written(fitted) == written(clone(model).fit(X, Y))


def test_rankings(client: Any) -> None:
    model, qid = gtgbm.GTGBMRanker(**SHAPE), np.repeat(np.arange(N // 10), 10)
    alone = clone(model).fit(X, classes(4), qid=qid)
    fitted = gd().fit(model, arrays(X), arrays(classes(4)), qid=arrays(qid), client=client)
    assert written(fitted) == written(alone)


def test_parquet(client: Any, tmp_path: Path) -> None:
    table = frame().assign(y=Y)
    for k, at in enumerate((slice(0, 130), slice(130, N))):
        table[at].to_parquet(tmp_path / f"part-{k}.parquet", row_group_size=70, index=False)
    model = gtgbm.GTGBMRegressor(**SHAPE)
    fitted = gd().fit_parquet(model, str(tmp_path), "y", client=client)
    assert written(fitted) == written(clone(model).fit(frame(), Y))
    with pytest.raises(ValueError, match=r"part-0.parquet has no columns 'z'"):
        gd().fit_parquet(model, tmp_path, "z", client=client)
    content = bytearray((tmp_path / "part-1.parquet").read_bytes())
    content[40:400] = b"x" * 360
    (tmp_path / "part-1.parquet").write_bytes(content)
    with pytest.raises(OSError, match=r"part-1.parquet: row group 0 cannot be read"):
        gd().fit_parquet(model, tmp_path, "y", client=client)
    table.drop(columns="x3").to_parquet(tmp_path / "part-2.parquet", index=False)
    with pytest.raises(ValueError, match=r"part-2.parquet has no columns 'x3', which .*part-0"):
        gd().fit_parquet(model, str(tmp_path / "*.parquet"), "y", client=client)


def test_partitions_that_do_not_fit_are_named(client: Any) -> None:
    model, table = gtgbm.GTGBMRegressor(**SHAPE), frame()
    halves = [slice(0, 150), slice(150, N)]
    y = [delayed(Y[at]) for at in halves]

    def fit(parts: list[Any], targets: Any = None) -> Any:
        return gd().fit(
            model, [delayed(part) for part in parts], y if targets is None else targets, client=client
        )

    with pytest.raises(ValueError, match="partition 1: X has 149 rows, y 150"):
        fit([X[:150], X[151:]])
    with pytest.raises(ValueError, match="X has 2 partitions, y 1: repartition"):
        fit([X[:150], X[150:]], y[:1])
    with pytest.raises(ValueError, match="partition 1 of X lacks columns 'x2'"):
        fit([table[:150], table[150:].drop(columns="x2")])
    with pytest.raises(ValueError, match="partition 1 of X: column 'x1' is of type category"):
        fit([table[:150], table[150:].assign(x1="text")])
    with pytest.raises(ValueError, match="partition 1 of X has 7 columns, partition 0 has 8"):
        fit([X[:150], X[150:, :7]])
    with pytest.raises(TypeError, match="X is a ndarray: give a dask array"):
        gd().fit(model, X, Y, client=client)
    qid = arrays(np.repeat(np.arange(N // 10), 10) % 7)
    with pytest.raises(ValueError, match="query 0 are on several workers"):
        gd().fit(gtgbm.GTGBMRanker(**SHAPE), arrays(X), arrays(classes(4)), qid=qid, client=client)
    bad = np.where(np.arange(N) == 200, np.nan, Y)
    with pytest.raises(ValueError, match="y contains NaN"):
        gd().fit(model, arrays(X), arrays(bad), client=client)


@pytest.mark.parametrize("what", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_is_killed_or_frozen_is_named(client: Any, what: int) -> None:
    pids = client.run(os.getpid)
    victim = sorted(pids)[1]
    struck: list[float] = []

    def strike(_: Any) -> None:
        if not struck:
            os.kill(pids[victim], what)
            struck.append(time.monotonic())

    endless = gtgbm.AGBMClassifier(**{**SHAPE, "n_estimators": 100_000}, subsample=0.9)
    given = arrays(X), arrays(classes())
    expected = "was lost" if what == signal.SIGKILL else r"worker 1 .* did not answer within 2 s"
    try:
        with pytest.raises(WorkerError, match=expected):
            gd().fit(endless, *given, client=client, progress=strike, timeout=2.0)
        assert time.monotonic() - struck[0] < 5.0
    finally:
        if what == signal.SIGSTOP:
            os.kill(pids[victim], signal.SIGCONT)
    client.wait_for_workers(4, timeout=30)
    alive = client.run(os.getpid)
    assert all(alive[worker] == pid for worker, pid in pids.items() if worker != victim)
    model = gtgbm.GTGBMClassifier(**SHAPE)
    assert written(gd().fit(model, *given, client=client)) == written(clone(model).fit(X, classes()))


def _fails(y: Any, _: Any) -> float:
    raise ArithmeticError(f"no metric of {len(y)} rows at {time.time()}")


def test_a_worker_that_raises_ends_the_fit(client: Any) -> None:
    pids, given = client.run(os.getpid), (arrays(X), arrays(Y))
    refused = gtgbm.GTGBMRegressor(eval_metric=_fails, **SHAPE)
    with pytest.raises(ArithmeticError, match=f"no metric of {N} rows") as caught:
        gd().fit(refused, *given, client=client, eval_set=given)
    assert time.time() - float(str(caught.value).split()[-1]) < 5.0
    assert client.run(os.getpid) == pids
    model = gtgbm.GTGBMRegressor(**SHAPE)
    assert written(gd().fit(model, *given, client=client)) == written(clone(model).fit(X, Y))


def test_an_error_of_progress_ends_the_fit(client: Any) -> None:
    endless = gtgbm.AGBMClassifier(**{**SHAPE, "n_estimators": 100_000}, subsample=0.9)

    def refuse(_: Any) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        gd().fit(endless, arrays(X), arrays(classes()), client=client, progress=refuse)
    model = gtgbm.GTGBMRegressor(**SHAPE)
    # The workers have ended the other fit.
    fitted = gd().fit(model, arrays(X), arrays(Y), client=client, timeout=5.0)
    assert written(fitted) == written(clone(model).fit(X, Y))


def test_a_retry_goes_on_from_the_checkpoint(client: Any, tmp_path: Path) -> None:
    model = gtgbm.GTGBMClassifier(
        **{**SHAPE, "n_estimators": 12, "random_state": None}, subsample=0.8, eval_metric="auc"
    )
    path, given = tmp_path / "kept", (arrays(X), arrays(classes()))
    sets = {"eval_set": (arrays(X), arrays(classes())), "sample_weight": arrays(WEIGHT)}
    pids = client.run(os.getpid)
    rounds: list[int] = []
    seen: list[Any] = []

    def strike(progress: Any) -> None:
        rounds.append(progress.round)
        if progress.round == 6:
            os.kill(pids[sorted(pids)[0]], signal.SIGKILL)  # the one whose model is returned

    with pytest.raises(WorkerError, match="was lost"):
        gd().fit(model, *given, **sets, client=client, progress=strike, checkpoint=path)
    client.wait_for_workers(4, timeout=30)
    workers = sorted(client.nthreads())[:3]  # rows are divided in another way
    again = {"client": client, "workers": workers, "checkpoint": path, "progress": seen.append}
    with pytest.raises(ValueError, match=r"checkpoint=.*kept' is of a fit with penalty=.*, now 0.5"):
        gd().fit(clone(model).set_params(penalty=0.5), *given, **sets, **again)
    with pytest.raises(ValueError, match=r"checkpoint=.*kept' is of a fit with another y: repeat"):
        gd().fit(model, given[0], arrays(1 - classes()), **sets, **again)
    fitted = gd().fit(model, *given, **sets, **again)
    assert seen[0].round >= rounds[-1]  # at most the last round was repeated
    assert not path.exists()
    alone = clone(model)
    alone._new_seed = lambda: fitted._seed  # it was drawn by the fit that failed
    alone.fit(X, classes(), sample_weight=WEIGHT, eval_set=(X, classes()))
    assert written(fitted) == written(alone)
    with pytest.raises(FileNotFoundError, match=r"checkpoint=.* cannot be written: .*there is no directory"):
        gd().fit(model, *given, client=client, checkpoint=tmp_path / "no" / "kept")
