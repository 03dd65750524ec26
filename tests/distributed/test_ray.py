"""Fits on a Ray cluster: the same bytes, and named errors."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import gtgbm
from gtgbm.distributed import WorkerError
from tests.distributed.page_example import run_example
from tests.distributed.test_shards import WEIGHT, N, X, Y, classes, frame
from tests.estimators.golden_models import written
from tests.strategies import selects_few

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'gtgbm[ray]'")
pytest.importorskip("ray.data")

SHAPE: dict[str, Any] = {"n_estimators": 2, "min_node_fraction": 0.1, "random_state": 0, "n_jobs": 1}
PLACES = [slice(0, 100), slice(100, 100), slice(100, 130), slice(130, 250), slice(250, N)]
# Ray's own threads and subprocesses outlive what Python's garbage collector sees of them.
pytestmark = [
    selects_few,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    os.environ |= {"RAY_worker_niceness": "0"}  # else workers starve while other tests run
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, object_store_memory=200_000_000)
    yield
    ray.shutdown()


def fit(model: Any, X: Any, y: Any, n_workers: int = 2, **more: Any) -> Any:
    from gtgbm.distributed import ray as gtgbm_ray

    return gtgbm_ray.fit(model, X, y, n_workers=n_workers, **more)


def refs(values: Any) -> list[Any]:
    return [ray.put(values[at]) for at in PLACES]


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_references_with_weights_and_early_stopping(n_workers: int) -> None:
    model = gtgbm.GTGBMClassifier(eval_metric="auc", early_stopping_rounds=1, subsample=0.8, **SHAPE)
    other = X[:90], classes()[:90]
    seen: list[Any] = []
    alone = clone(model).fit(X, classes(), sample_weight=WEIGHT, eval_set=[other])
    fitted = fit(
        model,
        refs(X),
        refs(classes()),
        n_workers,
        sample_weight=refs(WEIGHT),
        eval_set=[([ray.put(other[0])], [ray.put(other[1])])],
        progress=seen.append,
    )
    assert written(fitted) == written(alone)
    assert not hasattr(model, "trees_")
    assert seen[-1].round == len(alone.evals_result_["validation_0"]["auc"])


def test_a_dataset_with_categories() -> None:
    model, table = gtgbm.GTGBMRegressor(**SHAPE), frame().assign(y=Y, w=WEIGHT)
    dataset = ray.data.from_pandas([table[at] for at in PLACES if at.start < at.stop])
    alone = clone(model).fit(frame(), Y, sample_weight=WEIGHT)
    assert written(fit(model, dataset, "y", sample_weight="w")) == written(alone)
    with pytest.raises(ValueError, match="the dataset has no columns 'z': it has 'x0'"):
        fit(model, dataset, "z")
    with pytest.raises(TypeError, match="y is a list: give the name of a column"):
        fit(model, dataset, refs(Y))


def test_rankings() -> None:
    model, qid = gtgbm.GTGBMRanker(**SHAPE), np.repeat(np.arange(N // 10), 10)
    alone = clone(model).fit(X, classes(4), qid=qid)
    assert written(fit(model, refs(X), refs(classes(4)), qid=refs(qid))) == written(alone)
    with pytest.raises(ValueError, match="query 0 are on several workers"):
        fit(model, refs(X), refs(classes(4)), qid=refs(qid % 7))


def test_input_that_does_not_fit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from gtgbm.distributed import ray as gtgbm_ray

    model = gtgbm.GTGBMRegressor(**SHAPE)
    halves = [ray.put(X[:150]), ray.put(X[151:])]
    with pytest.raises(ValueError, match="partition 1: X has 149 rows, y 150"):
        fit(model, halves, [ray.put(Y[:150]), ray.put(Y[150:])])
    with pytest.raises(ValueError, match="X has 5 partitions, y 2: repartition"):
        fit(model, refs(X), halves)
    with pytest.raises(TypeError, match=r"X is a ndarray: give a ray.data.Dataset"):
        fit(model, X, Y)
    with pytest.raises(ValueError, match="y contains NaN"):
        fit(model, refs(X), refs(np.where(np.arange(N) == 200, np.nan, Y)))
    with pytest.raises(ValueError, match="n_workers=0: give at least 1"):
        fit(model, refs(X), refs(Y), 0)
    monkeypatch.setattr(gtgbm_ray, "_START", 1.0)
    with pytest.raises(WorkerError, match="2 workers of 9 CPUs did not begin within 1 s: the cluster has 4"):
        fit(model, refs(X), refs(Y), cpus_per_worker=9, timeout=1.0)


@pytest.mark.parametrize("what", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_is_killed_or_frozen_is_named(
    what: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a checkpoint, the next fit goes on."""
    from gtgbm.distributed import ray as gtgbm_ray

    model = gtgbm.GTGBMClassifier(**{**SHAPE, "n_estimators": 200}, subsample=0.8)
    given, path, original = (refs(X), refs(classes())), tmp_path / "kept", gtgbm_ray._started
    pids: list[int] = []
    struck: list[tuple[int, float]] = []
    seen: list[Any] = []

    def started(*args: Any) -> Any:
        workers = original(*args)
        pids.extend(int(worker.name.split()[-1].rstrip(")")) for worker in workers)
        return workers

    def strike(progress: Any) -> None:
        if progress.round >= 5 and not struck:
            struck.append((progress.round, time.monotonic()))
            os.kill(pids[1], what)

    monkeypatch.setattr(gtgbm_ray, "_started", started)
    monkeypatch.setattr(gtgbm_ray, "_POLL", 0.001)
    expected = "worker 1 .* was lost" if what == signal.SIGKILL else r"worker 1 .* did not answer within 2 s"
    with pytest.raises(WorkerError, match=expected):
        fit(model, *given, progress=strike, checkpoint=path, timeout=2.0)
    assert time.monotonic() - struck[0][1] < 5.0
    with pytest.raises(ValueError, match=r"checkpoint=.*kept' is of a fit with n_estimators=200, now 12"):
        fit(clone(model).set_params(n_estimators=12), *given, checkpoint=path)
    fitted = fit(model, *given, 3, checkpoint=path, progress=seen.append)
    assert seen[0].round >= struck[0][0]  # at most one round was repeated
    assert not path.exists()
    assert written(fitted) == written(clone(model).fit(X, classes()))


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    fitted, alone = run_example("gtgbm_ray", tmp_path, {})
    assert written(fitted) == written(alone)
