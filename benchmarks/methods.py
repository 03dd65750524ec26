"""The methods that are compared: their names in tables, and one round of all of them on a data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from benchmarks.jobs import Job, Record
from benchmarks.plan import Plan

GT, AUTO, A_GBM, LISTED = "GT-GBM", "GT-GBM, auto", "A-GBM", "GT-GBM, auto, shortlist of twice as many"
LGB_ALL, LGB_ORACLE, LGB_CEGB = "LightGBM, all features", "LightGBM, oracle", "LightGBM, CEGB"
LGB_TOP, LGB_RFE = "LightGBM, best by gain retrained", "LightGBM, RFE"
XGB_ALL, XGB_TOP = "XGBoost, all features", "XGBoost, best by gain retrained"
CAT_PENALTY, CAT_SELECT = "CatBoost, penalties", "CatBoost, select_features"
SKL_SELECT = "scikit-learn, ExtraTrees + HistGradientBoosting (1 thread)"

OURS = {"group-testing": GT, "auto": AUTO, "exhaustive": A_GBM, "shortlist": LISTED}
OTHER_PEERS: dict[str, tuple[str, str, str]] = {
    "xgb-all": (XGB_ALL, "xgboost_models", "all"),
    "xgb-top": (XGB_TOP, "xgboost_models", "topk"),
    "lgb-rfe": (LGB_RFE, "lightgbm_models", "rfe"),
    "cat-penalty": (CAT_PENALTY, "catboost_models", "penalty"),
    "cat-select": (CAT_SELECT, "catboost_models", "select"),
    "skl-select": (SKL_SELECT, "sklearn_models", "select"),
}
"""Peers that not every plan can afford: method, adapter, model."""

Layout: TypeAlias = Literal["col_wise", "row_wise"]
LAYOUTS: tuple[Layout, ...] = ("col_wise", "row_wise")
Fit: TypeAlias = Callable[[Job], Record | None]
"""Runs a job; None if it failed, which has then been noted."""


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


def selecting_base(plan: Plan, base: Job) -> Job:
    """Return `base` as methods see it for which every category has to be a feature of its own."""
    return replace(base, encoding="one-hot") if plan.categorical else base


def first_round(plan: Plan, base: Job, fit: Fit) -> None:
    """Run every method once; peers get as many leaves and features as ours turn out to use.

    LightGBM's two ways to fill histograms are both run, and for categories both encodings, since it is
    compared at its best.
    """
    limit = plan.n_features
    for penalty in plan.penalties:
        if penalty != plan.penalty:
            fit(our_job(base, "group-testing", penalty, limit))
    tested, auto, exhaustive = (
        fit(our_job(base, model, plan.penalty, limit)) for model in ("group-testing", "auto", "exhaustive")
    )
    if limit is not None:
        fit(our_job(base, "shortlist", plan.penalty, limit))
    ours = tested or auto or exhaustive
    peer = replace(base, n_leaves=_leaves(ours))
    narrow = selecting_base(plan, peer)
    rankings: dict[str, Record] = {}
    for start in (peer, narrow) if plan.categorical else (peer,):
        for layout in LAYOUTS:
            record = fit(replace(lightgbm_job(start, LGB_ALL, "all"), layout=layout))
            if record is not None:
                rankings.setdefault(start.encoding, record)
    n_features = limit or (ours.n_features if ours is not None else 50)
    jobs = {"cegb": cegb_job(replace(narrow, n_leaves=_leaves(exhaustive or ours)), plan.penalty)}
    if narrow.encoding in rankings:
        jobs["oracle"] = oracle_job(narrow, rankings[narrow.encoding].features_by_gain, n_features)
    top = lightgbm_job(narrow, LGB_TOP, "topk", f"{n_features} features")
    jobs["top"] = replace(top, n_features=n_features)
    for key in plan.lightgbm:
        for layout in LAYOUTS if key in jobs else ():
            fit(replace(jobs[key], layout=layout))
    for key in plan.peers:
        start = peer if key in ("xgb-all", "cat-penalty") else narrow
        fit(peer_job(start, key, n_features, plan.penalty))


def _leaves(record: Record | None) -> int:
    return 31 if record is None else max(2, round(record.mean_leaves))
