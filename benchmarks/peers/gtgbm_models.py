"""Our own models."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.data import Data
from benchmarks.jobs import Job, Record
from benchmarks.measuring import measure
from gtgbm import AGBMClassifier, GTGBMClassifier


def run(job: Job, data: Data) -> Record:
    """Fit ``GTGBMClassifier`` (by group tests) or ``AGBMClassifier``."""
    model = _model(job)
    _, cost = measure(lambda: model.fit(data.X_train, data.y_train))
    importance = model.feature_importances_
    used = model.selected_features_
    return Record(
        seconds=cost.seconds,
        n_features=int(model.n_selected_features_),
        auc=float(roc_auc_score(data.y_test, model.predict_proba(data.X_test)[:, 1])),
        mean_leaves=float(np.mean(model.n_leaves_)),
        peak_mb=cost.peak_mb,
        features_by_gain=used[np.argsort(-importance[used], kind="stable")].tolist(),
        stages={stage: float(seconds) for stage, seconds in model.timings_.items()},
    )


def _model(job: Job) -> Any:
    common: dict[str, Any] = {
        "n_estimators": job.n_trees,
        "learning_rate": job.learning_rate,
        "penalty": job.penalty,
        "min_node_fraction": job.min_node_fraction,
        "n_jobs": job.n_threads,
        "random_state": job.seed,
    }
    if job.model == "GTGBMClassifier":
        return GTGBMClassifier(search="group-testing", **common)
    if job.model == "AGBMClassifier":
        return AGBMClassifier(**common)
    raise ValueError(f"model={job.model!r} is unknown: give 'GTGBMClassifier' or 'AGBMClassifier'")
