"""LightGBM: all columns, its best K retrained, its own price for a feature, recursive elimination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import RFE

from benchmarks.data import Data
from benchmarks.jobs import Job, Record
from benchmarks.measuring import measure
from benchmarks.peers.common import by_gain, make_record, n_to_choose, price, smallest_leaf, unknown_model

_RFE_STEP = 0.3
"""Share of all columns that recursive elimination drops per round: three or four fits instead of many."""


@dataclass(frozen=True)
class _Fitted:
    """A booster and the columns it was given, None for all."""

    booster: lightgbm.Booster
    columns: NDArray[np.int64] | None = None


def run(job: Job, data: Data) -> Record:
    """Fit a booster; its Dataset is part of the fit, since it is built from the same table as our models.

    Models are ``all``; ``cegb``: ``cegb_penalty_feature_coupled``; ``topk``: a fit on all columns, then one
    on the K with the largest gain, both counted; ``rfe``: scikit-learn's ``RFE`` around LightGBM by gain.
    """
    models = {"all": _fit_all, "cegb": _fit_cegb, "topk": _fit_topk, "rfe": _fit_rfe}
    if job.model not in models:
        raise unknown_model(job, list(models))
    fitted, cost = measure(lambda: models[job.model](job, data))

    def predict(X: Any) -> Any:
        chosen = X if fitted.columns is None else X[:, fitted.columns]
        return fitted.booster.predict(chosen, num_threads=job.n_threads)

    best = _best(fitted.booster)
    return make_record(
        data,
        cost,
        predict,
        features_by_gain=(best if fitted.columns is None else fitted.columns[best]).tolist(),
        leaves=[tree["num_leaves"] for tree in fitted.booster.dump_model()["tree_info"]],
    )


def _fit_all(job: Job, data: Data) -> _Fitted:
    return _Fitted(_train(job, data, parameters_of(job, data)))


def _fit_cegb(job: Job, data: Data) -> _Fitted:
    prices = [price(job, data)] * data.n_columns
    return _Fitted(_train(job, data, parameters_of(job, data) | {"cegb_penalty_feature_coupled": prices}))


def _fit_topk(job: Job, data: Data) -> _Fitted:
    best = _best(_fit_all(job, data).booster)[: n_to_choose(job)]
    return _retrained(job, data, best)


def _fit_rfe(job: Job, data: Data) -> _Fitted:
    family = lightgbm.LGBMClassifier if data.kind == "binary" else lightgbm.LGBMRegressor
    estimator = family(n_estimators=job.n_trees, importance_type="gain", **parameters_of(job, data))
    search = RFE(estimator, n_features_to_select=n_to_choose(job), step=_RFE_STEP)
    search.fit(data.X_train, data.y_train)
    return _retrained(job, data, np.flatnonzero(search.support_))


def _retrained(job: Job, data: Data, columns: NDArray[np.int64]) -> _Fitted:
    few = data.only(columns.tolist())
    return _Fitted(_train(job, few, parameters_of(job, few)), columns)


def _train(job: Job, data: Data, parameters: dict[str, Any]) -> lightgbm.Booster:
    table = lightgbm.Dataset(
        data.X_train, data.y_train, params=parameters, categorical_feature=list(data.categorical)
    )
    return lightgbm.train(parameters, table, num_boost_round=job.n_trees)


def _best(booster: lightgbm.Booster) -> NDArray[np.int64]:
    used = np.flatnonzero(booster.feature_importance("split"))
    return by_gain(booster.feature_importance("gain"), used)


def parameters_of(job: Job, data: Data) -> dict[str, Any]:
    """Return LightGBM's parameters: our leaves, our smallest leaf, otherwise its defaults."""
    parameters: dict[str, Any] = {
        "objective": data.kind,
        "learning_rate": job.learning_rate,
        "num_leaves": job.n_leaves or 31,
        "min_data_in_leaf": smallest_leaf(job, data),
        "num_threads": job.n_threads,
        "seed": job.seed,
        "verbosity": -1,
    }
    if job.layout is not None:
        parameters[f"force_{job.layout}"] = True
    return parameters
