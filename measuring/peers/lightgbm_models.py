"""LightGBM: all columns, its best K retrained, its own price for a feature, eliminations, predictions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import RFE

from measuring.clusters import LEARNING_RATE, MAX_DEPTH, ClusterModel, ClusterTable
from measuring.cost import measure
from measuring.data import Data
from measuring.data.folds import Fold
from measuring.jobs import Job, Record
from measuring.peers.common import by_gain, make_record, n_to_choose, price, smallest_leaf, unknown_model
from measuring.predictions import BATCH, COMPACT_BATCH, COMPACT_ROW, ROW, SINGLE_ROW_CALL, Calls, Tables

_RFE_STEP = 0.3
"""Share of all columns that recursive elimination drops per round: three or four fits instead of many."""
_FLOAT64, _NORMAL = 1, 0
"""Numbers of LightGBM's C interface: a dtype and a kind of prediction."""


@dataclass(frozen=True)
class Trained:
    """A booster and the columns it was given, None for all."""

    booster: lightgbm.Booster
    columns: NDArray[np.int64] | None = None

    def predict(self, X: Any, **options: Any) -> NDArray[np.float64]:
        """Predict rows of all columns."""
        return np.asarray(self.booster.predict(X if self.columns is None else X[:, self.columns], **options))

    def features(self) -> NDArray[np.int64]:
        """Return the columns that trees use, largest gain first."""
        used = np.flatnonzero(self.booster.feature_importance("split"))
        best = by_gain(self.booster.feature_importance("gain"), used)
        return best if self.columns is None else self.columns[best]


def run(job: Job, data: Data) -> Record:
    """Fit a booster; its Dataset is part of the fit, since it is built from the same table as our models.

    Models are ``all``; ``cegb``: ``cegb_penalty_feature_coupled``; ``topk``: a fit on all columns, then one
    on the K with the largest gain, both counted; ``rfe``: scikit-learn's ``RFE`` around LightGBM by gain;
    ``backward``: the column with the least gain dropped, and so on until K are left.
    """
    models = {"all": train, "cegb": train_cegb, "topk": _fit_topk, "rfe": _fit_rfe, "backward": _fit_backward}
    if job.model not in models:
        raise unknown_model(job, list(models))
    trained, cost = measure(lambda: models[job.model](job, data))
    return make_record(
        data,
        cost,
        lambda X: trained.predict(X, num_threads=job.n_threads),
        features_by_gain=trained.features().tolist(),
        leaves=[tree["num_leaves"] for tree in trained.booster.dump_model()["tree_info"]],
    )


def train(
    job: Job,
    data: Data,
    columns: NDArray[np.int64] | None = None,
    callbacks: Sequence[Callable[..., Any]] = (),
    **parameters: Any,
) -> Trained:
    """Train on all or some columns; `parameters` are added to those of the job."""
    few = data.only(None if columns is None else columns.tolist())
    given = _parameters(job, few.kind, few.n_rows) | parameters
    table = lightgbm.Dataset(
        few.X_train, few.y_train, params=given, categorical_feature=list(few.categorical)
    )
    return Trained(lightgbm.train(given, table, job.n_trees, callbacks=list(callbacks)), columns)


def train_fold(job: Job, fold: Fold, objective: str, columns: NDArray[np.int64] | None = None) -> Trained:
    """Train on all or some columns of a fold, whose target may be of any kind."""
    given = _parameters(job, objective, fold.y.shape[0])
    y: NDArray[Any] = fold.y
    if objective == "multiclass":
        classes, y = np.unique(y, return_inverse=True)
        given["num_class"] = classes.shape[0]
    X = fold.X if columns is None else np.ascontiguousarray(fold.X[:, columns])
    group = None
    if objective == "lambdarank" and fold.qid is not None:
        group = np.unique(fold.qid, return_counts=True)[1]
    return Trained(lightgbm.train(given, lightgbm.Dataset(X, y, group=group), job.n_trees), columns)


def train_fold_topk(job: Job, fold: Fold, objective: str, k: int) -> Trained:
    """Train on a fold, and again on the k columns with the largest gain."""
    return train_fold(job, fold, objective, train_fold(job, fold, objective).features()[:k])


def train_cegb(job: Job, data: Data) -> Trained:
    """Train with a price for every feature's first use."""
    return train(job, data, cegb_penalty_feature_coupled=[price(job, data)] * data.n_columns)


def train_costs(job: Job, data: Data, costs: NDArray[np.float64]) -> Trained:
    """Train with a price for every feature's first use: the job's price times the cost of the feature."""
    return train(job, data, cegb_penalty_feature_coupled=(price(job, data) * costs).tolist())


def _fit_topk(job: Job, data: Data) -> Trained:
    return train(job, data, train(job, data).features()[: n_to_choose(job)])


def _fit_rfe(job: Job, data: Data) -> Trained:
    family = lightgbm.LGBMClassifier if data.kind == "binary" else lightgbm.LGBMRegressor
    parameters = _parameters(job, data.kind, data.n_rows)
    estimator = family(n_estimators=job.n_trees, importance_type="gain", **parameters)
    search = RFE(estimator, n_features_to_select=n_to_choose(job), step=_RFE_STEP)
    search.fit(data.X_train, data.y_train)
    return train(job, data, np.flatnonzero(search.support_))


def _fit_backward(job: Job, data: Data) -> Trained:
    columns = np.arange(data.n_columns)
    trained = train(job, data, columns)
    while len(columns) > n_to_choose(job):
        # Columns no tree uses are the least important of all; they go one at a time like the others.
        used = trained.features()
        unused = np.setdiff1d(columns, used)
        columns = columns[columns != (unused[-1] if len(unused) else used[-1])]
        trained = train(job, data, columns)
    return trained


def _parameters(job: Job, objective: str, n_rows: int) -> dict[str, Any]:
    """Return LightGBM's parameters: our leaves, our smallest leaf, otherwise its defaults."""
    parameters: dict[str, Any] = {
        "objective": objective,
        "learning_rate": job.learning_rate,
        "num_leaves": job.n_leaves or 31,
        "min_data_in_leaf": smallest_leaf(job, n_rows),
        "num_threads": job.n_threads,
        "seed": job.seed,
        "verbosity": -1,
    }
    if job.layout is not None:
        parameters[f"force_{job.layout}"] = True
    return parameters


def fit_cluster(table: ClusterTable, n_trees: int, n_features: int | None) -> ClusterModel:
    """Fit all columns on the workers of a Dask cluster, which divide the rows."""
    del n_features
    model = lightgbm.DaskLGBMClassifier(
        n_estimators=n_trees,
        max_depth=MAX_DEPTH,
        num_leaves=2**MAX_DEPTH,
        learning_rate=LEARNING_RATE,
        importance_type="gain",
        tree_learner="data",
        client=table.client,
        verbose=-1,
    )
    gain = model.fit(table.X, table.y).feature_importances_
    return ClusterModel(n_trees, by_gain(gain, np.flatnonzero(gain)).tolist())


def contributions_of(path: Path, threads: int) -> Callable[[Any], Any]:
    """Return the function of a table that divides scores among columns, of a model in a text file."""
    booster = lightgbm.Booster(model_file=path)
    return lambda X: booster.predict(X, pred_contrib=True, num_threads=threads)


def prediction_calls(folder: Path, tables: Tables, threads: int) -> Calls:
    """Return what is timed: ``Booster.predict``, and the C function for single rows."""
    full = lightgbm.Booster(model_file=folder / "full.txt")
    compact = lightgbm.Booster(model_file=folder / "compact.txt")
    # Checking the number of columns is left out, which is LightGBM's fastest.
    options: dict[str, Any] = {"num_threads": threads, "predict_disable_shape_check": True}
    return {
        ROW: lambda: full.predict(tables.row, **options),
        BATCH: lambda: full.predict(tables.batch, **options),
        COMPACT_ROW: lambda: compact.predict(tables.compact_row, **options),
        COMPACT_BATCH: lambda: compact.predict(tables.compact_batch, **options),
        SINGLE_ROW_CALL: _SingleRow(compact, tables.compact_row, threads),
    }


class _SingleRow:
    """``LGBM_BoosterPredictForMatSingleRowFast``, which does most of its work once beforehand."""

    def __init__(self, booster: lightgbm.Booster, row: NDArray[Any], threads: int) -> None:
        self._library: Any = lightgbm.basic.__dict__["_LIB"]
        self._config = ctypes.c_void_p()
        self._keep_alive = booster, row
        self._out, self._length = (ctypes.c_double * 1)(), ctypes.c_int64()
        self._row = row.ctypes.data_as(ctypes.c_void_p)
        parameters = f"num_threads={threads} predict_disable_shape_check=true".encode()
        status = self._library.LGBM_BoosterPredictForMatSingleRowFastInit(
            booster._handle, _NORMAL, 0, -1, _FLOAT64, row.shape[1], parameters, ctypes.byref(self._config)
        )
        if status != 0:
            raise RuntimeError("LightGBM refuses to prepare single rows")

    def __call__(self) -> list[float]:
        self._library.LGBM_BoosterPredictForMatSingleRowFast(
            self._config, self._row, ctypes.byref(self._length), self._out
        )
        return list(self._out)
