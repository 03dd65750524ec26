"""Our own models."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Data
from benchmarks.jobs import Job, Record
from benchmarks.measuring import measure
from benchmarks.peers.common import by_gain, make_record, unknown_model
from gtgbm import AGBMClassifier, AGBMRegressor, GTGBMClassifier, GTGBMRegressor

_MODELS = ("group-testing", "auto", "exhaustive", "shortlist")


def run(job: Job, data: Data) -> Record:
    """Fit GT-GBM (``search="group-testing"`` or ``"auto"``, or with a shortlist) or A-GBM."""
    model = _model(job, data)
    _, cost = measure(lambda: model.fit(data.X_train, data.y_train))

    def predict(X: Any) -> Any:
        return model.predict_proba(X)[:, 1] if data.kind == "binary" else model.predict(X)

    return make_record(
        data,
        cost,
        predict,
        features_by_gain=by_gain(model.feature_importances_, np.flatnonzero(model.get_support())).tolist(),
        leaves=model.n_leaves_,
        n_features=int(model.n_selected_features_),
        stages={stage: float(seconds) for stage, seconds in model.timings_.items()},
        note=f"{model.search_}: {model.search_.reason}",
    )


def _model(job: Job, data: Data) -> Any:
    if job.model not in _MODELS:
        raise unknown_model(job, _MODELS)
    parameters: dict[str, Any] = {
        "n_estimators": job.n_trees,
        "learning_rate": job.learning_rate,
        "min_node_fraction": job.min_node_fraction,
        "n_features_to_select": job.n_features,
        "n_jobs": job.n_threads,
        "random_state": job.seed,
    }
    if job.penalty is not None:
        parameters["penalty"] = job.penalty
    if data.categorical:
        parameters["categorical_features"] = list(data.categorical)
    if job.model == "exhaustive":
        return (AGBMClassifier if data.kind == "binary" else AGBMRegressor)(**parameters)
    family = GTGBMClassifier if data.kind == "binary" else GTGBMRegressor
    if job.model == "shortlist":
        return family(search="auto", shortlist=2.0, **parameters)
    return family(search=job.model, **parameters)
