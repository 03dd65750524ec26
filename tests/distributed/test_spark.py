"""Fits in barrier stages of Spark: the same bytes, and named errors."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import gtgbm
from gtgbm.distributed import WorkerError
from tests.distributed.page_example import run_example
from tests.distributed.test_shards import WEIGHT, N, X, Y, classes, frame
from tests.estimators.golden_models import written
from tests.strategies import selects_few

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'gtgbm[spark]'")

SHAPE: dict[str, Any] = {"n_estimators": 2, "min_node_fraction": 0.1, "random_state": 0, "n_jobs": 1}
pytestmark = [
    selects_few,
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java, which is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[3]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    session = builder.config("spark.python.worker.reuse", "true").getOrCreate()
    yield session
    session.stop()


def fit(model: Any, df: Any, target: str, **more: Any) -> Any:
    from gtgbm.distributed import spark

    return spark.fit(model, df, target, **more)


def numbers(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])]).assign(**columns)


@pytest.mark.parametrize(("n_workers", "n_parts"), [(1, 2), (2, 5), (3, 3)])
def test_weights_and_early_stopping(spark: Any, n_workers: int, n_parts: int) -> None:
    model = gtgbm.GTGBMClassifier(eval_metric="auc", early_stopping_rounds=1, subsample=0.8, **SHAPE)
    table = numbers(y=classes(), w=WEIGHT)
    features = table.drop(columns=["y", "w"])
    alone = clone(model).fit(
        features,
        classes(),
        sample_weight=WEIGHT,
        eval_set=[(features[:90], classes()[:90])],
        eval_sample_weight=[WEIGHT[:90]],
    )
    rows = spark.createDataFrame(table).repartitionByRange(n_parts, "x0").cache()
    assert rows.rdd.getNumPartitions() == n_parts
    order = rows.toPandas()
    kept = clone(model).fit(
        order.drop(columns=["y", "w"]),
        order["y"],
        sample_weight=order["w"],
        eval_set=[(features[:90], classes()[:90])],
        eval_sample_weight=[WEIGHT[:90]],
    )
    few = spark.createDataFrame(table[:90])
    fitted = fit(model, rows, "y", sample_weight="w", eval_set=few, n_workers=n_workers)
    assert written(fitted) == written(kept)
    assert not hasattr(model, "trees_")
    given = spark.createDataFrame(table)  # in the order of the table
    assert written(fit(model, given, "y", sample_weight="w", eval_set=few)) == written(alone)


def test_text_and_rankings(spark: Any) -> None:
    model, table = gtgbm.GTGBMRegressor(**SHAPE), frame().assign(y=Y)
    text = [name for name in table if not pd.api.types.is_numeric_dtype(table[name])]
    table = table.astype(dict.fromkeys(text, object))
    # Small tables are one partition: only those that were computed have more.
    rows = spark.createDataFrame(table).repartition(3).cache()
    order = rows.toArrow()
    alone = clone(model).fit(order.drop_columns(["y"]), order["y"].to_numpy())
    assert written(fit(model, rows, "y", n_workers=2)) == written(alone)
    ranker, qid = gtgbm.GTGBMRanker(**SHAPE), np.repeat(np.arange(N // 10), 10)
    queries = spark.createDataFrame(numbers(y=classes(4), q=qid)).repartition(2, "q").cache()
    order = queries.toPandas()
    alone = clone(ranker).fit(order.drop(columns=["y", "q"]), order["y"], qid=order["q"])
    assert written(fit(ranker, queries, "y", qid="q")) == written(alone)
    with pytest.raises(ValueError, match="query 0 are on several workers"):
        fit(ranker, queries.withColumn("q", queries["q"] % 7).repartition(2).cache(), "y", qid="q")


def test_input_that_does_not_fit_is_named(spark: Any) -> None:
    model, table = gtgbm.GTGBMRegressor(**SHAPE), numbers(y=Y)
    rows = spark.createDataFrame(table)
    with pytest.raises(ValueError, match="df has no columns 'z': it has 'x0'"):
        fit(model, rows, "z")
    with pytest.raises(ValueError, match=r"n_workers=4: give 1 to 3"):
        fit(model, rows, "y", n_workers=4)
    with pytest.raises(ValueError, match=r"eval_set\[0\] lacks columns 'x3'"):
        fit(model, rows, "y", eval_set=rows.drop("x3"))
    with pytest.raises(ValueError, match=r"eval_set\[0\]: column 'x3' is of type string, in df of type"):
        fit(model, rows, "y", eval_set=rows.withColumn("x3", rows["x3"].cast("string")))
    with pytest.raises(TypeError, match=r"df is a DataFrame: give a pyspark.sql.DataFrame"):
        fit(model, table, "y")
    table.loc[200, "y"] = np.nan
    with pytest.raises(ValueError, match="y contains NaN"):
        fit(model, spark.createDataFrame(table).repartition(2).cache(), "y")


class _KillsItselfRegressor(gtgbm.GTGBMRegressor):
    """Ends the process of the second worker."""

    def _fit(self, *args: Any, **more: Any) -> None:
        communicator = args[4]
        if communicator.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        super()._fit(*args, **more)


def test_a_worker_that_is_killed(spark: Any) -> None:
    rows = spark.createDataFrame(numbers(y=Y)).repartition(2).cache()
    with pytest.raises(WorkerError, match="task of Spark was lost"):
        fit(_KillsItselfRegressor(**SHAPE), rows, "y")
    assert fit(gtgbm.GTGBMRegressor(**SHAPE), rows, "y").n_iter_ == 2


def test_the_example_of_the_page_runs(spark: Any, tmp_path: Path) -> None:
    fitted, alone = run_example("gtgbm_spark", tmp_path, {"spark": spark})
    assert written(fitted) == written(alone)
