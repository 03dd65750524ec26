"""One round of all methods on a data set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from benchmarks.comparison.plan import Plan
from measuring.jobs import LAYOUTS, Job, Record, leaves_of
from measuring.methods import LGB_ALL, LGB_TOP, cegb_job, lightgbm_job, oracle_job, our_job, peer_job

Fit: TypeAlias = Callable[[Job], Record | None]
"""Runs a job; None if it failed, which has then been noted."""


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
        fit(our_job(base, "forward-backward", plan.penalty, limit))
    ours = tested or auto or exhaustive
    peer = replace(base, n_leaves=leaves_of(ours))
    narrow = selecting_base(plan, peer)
    rankings: dict[str, Record] = {}
    for start in (peer, narrow) if plan.categorical else (peer,):
        for layout in LAYOUTS:
            record = fit(replace(lightgbm_job(start, LGB_ALL, "all"), layout=layout))
            if record is not None:
                rankings.setdefault(start.encoding, record)
    n_features = limit or (ours.n_features if ours is not None else 50)
    jobs = {"cegb": cegb_job(replace(narrow, n_leaves=leaves_of(exhaustive or ours)), plan.penalty)}
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
