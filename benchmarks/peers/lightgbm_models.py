"""LightGBM, on all columns it is given or with its own penalty for a feature's first use."""

from __future__ import annotations

import math
from typing import Any

import lightgbm
import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.data import Data
from benchmarks.jobs import Job, Record
from benchmarks.measuring import measure


def run(job: Job, data: Data) -> Record:
    """Fit a booster; its Dataset is part of the fit, since it is built from the same table as our models."""
    parameters = _parameters(job, data)

    def fit() -> lightgbm.Booster:
        table = lightgbm.Dataset(data.X_train, data.y_train, params=parameters)
        return lightgbm.train(parameters, table, num_boost_round=job.n_trees)

    booster, cost = measure(fit)
    gain = booster.feature_importance("gain")
    used = np.flatnonzero(booster.feature_importance("split"))
    scores = booster.predict(data.X_test, num_threads=job.n_threads)
    leaves = [tree["num_leaves"] for tree in booster.dump_model()["tree_info"]]
    return Record(
        seconds=cost.seconds,
        n_features=used.shape[0],
        auc=float(roc_auc_score(data.y_test, scores)),
        mean_leaves=float(np.mean(leaves)),
        peak_mb=cost.peak_mb,
        features_by_gain=used[np.argsort(-gain[used], kind="stable")].tolist(),
    )


def _parameters(job: Job, data: Data) -> dict[str, Any]:
    n, d = data.X_train.shape
    parameters: dict[str, Any] = {
        "objective": "binary",
        "learning_rate": job.learning_rate,
        "num_leaves": job.n_leaves,
        # The fewest rows our models leave in a leaf by default.
        "min_data_in_leaf": math.ceil(job.min_node_fraction * n / 4),
        "num_threads": job.n_threads,
        "seed": job.seed,
        "verbosity": -1,
    }
    if job.layout is not None:
        parameters[f"force_{job.layout}"] = True
    if job.penalty is not None:
        share = float(data.y_train.mean())
        # Squared error of the first root: the unit of our penalty.
        price = job.penalty * n * share * (1.0 - share)
        parameters["cegb_penalty_feature_coupled"] = [price] * d
    return parameters
