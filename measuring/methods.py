"""The methods that are compared: their names in tables, and the jobs that fit them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from measuring.data import Source
from measuring.jobs import Job

GT, AUTO, A_GBM, FORWARD_BACKWARD = "GT-GBM", "GT-GBM, auto", "A-GBM", "GT-GBM, forward-backward"
LGB_ALL, LGB_ORACLE, LGB_CEGB = "LightGBM, all features", "LightGBM, oracle", "LightGBM, CEGB"
LGB_TOP, LGB_RFE = "LightGBM, best by gain retrained", "LightGBM, RFE"
XGB_ALL, XGB_TOP = "XGBoost, all features", "XGBoost, best by gain retrained"
CAT_PENALTY, CAT_SELECT = "CatBoost, penalties", "CatBoost, select_features"
SKL_SELECT = "scikit-learn, ExtraTrees + HistGradientBoosting (1 thread)"

OURS = {"group-testing": GT, "auto": AUTO, "exhaustive": A_GBM, "forward-backward": FORWARD_BACKWARD}
OTHER_PEERS: dict[str, tuple[str, str, str]] = {
    "xgb-all": (XGB_ALL, "xgboost_models", "all"),
    "xgb-top": (XGB_TOP, "xgboost_models", "topk"),
    "lgb-rfe": (LGB_RFE, "lightgbm_models", "rfe"),
    "cat-penalty": (CAT_PENALTY, "catboost_models", "penalty"),
    "cat-select": (CAT_SELECT, "catboost_models", "select"),
    "skl-select": (SKL_SELECT, "sklearn_models", "select"),
}
"""Peers that not every plan can afford: method, adapter, model."""


def our_job(base: Job, model: str, penalty: float, n_features: int | None = None) -> Job:
    """Return the job of one of our models."""
    limit = "" if n_features is None else f", ≤ {n_features} features"
    return replace(
        base,
        method=OURS[model],
        setting=f"penalty {penalty:g}{limit}",
        peer="gtgbm_models",
        model=model,
        penalty=penalty,
        n_features=n_features,
    )


def lightgbm_job(base: Job, method: str, model: str, setting: str = "") -> Job:
    """Return a job of LightGBM with the leaves and encoding of `base`."""
    return replace(base, method=method, setting=setting, peer="lightgbm_models", model=model)


def lightgbm_settings(n_leaves: int, **settings: Any) -> Job:
    """Return a job of LightGBM whose data are handed over beside it."""
    return Job("", "lightgbm_models", "all", Source(""), n_leaves=n_leaves, **settings)


def cegb_job(base: Job, penalty: float) -> Job:
    """Return a job of LightGBM with its own price for features."""
    return replace(lightgbm_job(base, LGB_CEGB, "cegb", f"penalty {penalty:g}"), penalty=penalty)


def oracle_job(base: Job, ranking: Sequence[int], n_features: int) -> Job:
    """Return a job of LightGBM on columns it was told; who found them is not counted."""
    columns = list(ranking[:n_features])
    return replace(lightgbm_job(base, LGB_ORACLE, "all", f"told {len(columns)}"), columns=columns)


def peer_job(base: Job, key: str, n_features: int, penalty: float) -> Job:
    """Return the job of one of ``OTHER_PEERS``."""
    method, peer, model = OTHER_PEERS[key]
    job = replace(base, method=method, peer=peer, model=model)
    if model == "penalty":
        return replace(job, setting=f"penalty {penalty:g}", penalty=penalty)
    if model == "all":
        return job
    if peer == "sklearn_models":
        # Its OpenMP threads wait spinning, and stall where others want the cores too.
        job = replace(job, n_threads=1)
    return replace(job, setting=f"{n_features} features", n_features=n_features)
