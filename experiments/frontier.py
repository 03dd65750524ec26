"""Test AUC against number of features, for every method on every data set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from experiments.common.record import Claim, Context, Experiment, Results
from measuring.data import Data, DataMissingError, Source, load
from measuring.figures import count_axis, legend_below, panels, style
from measuring.files import SCRATCH
from measuring.fits import run_here
from measuring.jobs import Job, Record, leaves_of
from measuring.markdown import number, table
from measuring.methods import (
    A_GBM,
    CAT_SELECT,
    FORWARD_BACKWARD,
    GT,
    LGB_CEGB,
    LGB_RFE,
    cegb_job,
    lightgbm_job,
    our_job,
    peer_job,
)

SIZES = (5, 10, 20, 50, 100, 200)
TOP = "LightGBM, topK"
METHODS = (GT, FORWARD_BACKWARD, A_GBM, TOP, LGB_CEGB, CAT_SELECT, LGB_RFE)
OURS = (GT, FORWARD_BACKWARD)
LEAST_PENALTY = 1e-5
"""Forward-backward selection, which has its own prices, is run with this penalty alone."""
CEGB_PENALTIES = (0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
STEP = 0.5
"""RFE keeps this share of the columns in each fit, until the largest size is reached."""


@dataclass(frozen=True)
class Plan:
    """A data set, with the penalty our models begin with.

    Attributes
    ----------
    label : str
        What it is; stand-ins say so.
    cegb, catboost : tuple
        Penalties and sizes these are run with; few where a fit takes long.
    """

    source: Source
    label: str
    penalty: float
    cegb: tuple[float, ...] = CEGB_PENALTIES
    catboost: tuple[int, ...] = (10, 50, 200)
    alpha: float = 0.02


def plans(context: Context) -> Iterator[Plan]:
    """Yield what is run; the data folder may lack some of it."""
    folder = None if context.data_dir is None else str(context.data_dir)
    if context.quick:
        yield Plan(Source("demo", shape=(1000, 400)), "demo data", 0.01, (0.01, 0.003), (10,))
        yield Plan(Source("pcmac", folder), "pcmac", 0.01, (0.01, 0.003), (10,))
        return
    few = (0.01, 0.003, 0.001)
    yield Plan(
        Source("gisette", folder, max_rows=3000),
        "gisette-like: a stand-in, not Gisette; 3,000 rows",
        0.01,
        few,
        (20, 100),
    )
    tables = str(SCRATCH / "tables")
    yield Plan(
        Source("epsilon", cache_dir=tables, shape=(5000, 2000)),
        "Epsilon-shaped: generated, not Epsilon; 5,000 rows",
        0.01,
        few,
        (20, 100),
    )
    yield Plan(
        Source("flight", folder), "Flight", 0.001, alpha=0.01, cegb=(0.01, 0.003, 0.001, 0.0003, 0.0001)
    )
    yield Plan(Source("madelon", folder), "madelon", 0.01)
    yield Plan(Source("pcmac", folder), "pcmac", 0.01)
    yield Plan(
        Source("amazon", folder, max_rows=8000), "amazon4, its four tasks as one", 0.003, catboost=(20, 100)
    )
    yield Plan(Source("demo", shape=(5000, 1000)), "demo data", 0.01, few)


def run(context: Context) -> Results:
    """Fit every method at every size."""
    found: dict[str, Any] = {}
    for plan in plans(context):
        try:
            data = load(plan.source)
        except DataMissingError as missing:
            print(f"frontier: {plan.label}: skipped, {missing}", flush=True)
            continue
        wide = data.one_hot() if data.categorical else data
        threads = context.choose(1, context.threads)
        base = Job("", "", "", plan.source, n_trees=context.choose(20, 100), n_threads=threads)
        base = replace(base, min_node_fraction=plan.alpha)
        sizes = [size for size in SIZES if size < wide.n_columns]
        points = measure(plan, base, data, wide, sizes[:3] if context.quick else sizes)
        shape = [wide.n_rows, wide.n_columns]
        found[plan.label] = {"shape": shape, "n_trees": base.n_trees, "points": points}
        print(f"frontier: {plan.label} done", flush=True)
    return {"data": found}


def measure(plan: Plan, base: Job, data: Data, wide: Data, sizes: list[int]) -> dict[str, list[Any]]:
    """Return for each method its points: features wanted, features used, test AUC."""
    points: dict[str, list[Any]] = {method: [] for method in METHODS}

    def add(method: str, size: int | None, record: Record) -> None:
        points[method].append({"size": size, "features": record.n_features, "auc": record.score})

    leaves = 31
    ours = ((GT, "auto", plan.penalty), (FORWARD_BACKWARD, "forward-backward", LEAST_PENALTY))
    for method, model, penalty in (*ours, (A_GBM, "exhaustive", plan.penalty)):
        for size in sizes:
            record = _ours(base, model, penalty, size, data)
            leaves = leaves_of(record)
            add(method, size, record)
    peer = replace(base, n_leaves=leaves)
    full = run_here(lightgbm_job(peer, TOP, "all"), wide)
    for size in sizes:
        best = full.features_by_gain[:size]
        add(TOP, size, run_here(lightgbm_job(peer, TOP, "all"), wide.only(best)))
    for size, record in _eliminated(peer, wide, full.features_by_gain, sizes):
        add(LGB_RFE, size, record)
    for penalty in plan.cegb:
        add(LGB_CEGB, None, run_here(cegb_job(peer, penalty), wide))
    if find_spec("catboost") is not None:
        for size in plan.catboost:
            if size < wide.n_columns:
                add(CAT_SELECT, size, run_here(peer_job(peer, "cat-select", size, 0.0), wide))
    return {method: found for method, found in points.items() if found}


def _ours(base: Job, model: str, penalty: float, size: int, data: Data) -> Record:
    """Fit with a hard limit, at the largest tried penalty that buys as many features."""
    while True:
        record = run_here(our_job(base, model, penalty, size), data)
        if record.n_features >= size or penalty / 5 < LEAST_PENALTY:
            return record
        penalty /= 5


def _eliminated(peer: Job, wide: Data, ranking: list[int], sizes: list[int]) -> Iterator[tuple[int, Record]]:
    """Drop half of the columns, fit again, and so on down to every size: one chain for all sizes."""
    columns, wanted = ranking, sorted(sizes, reverse=True)
    while wanted:
        keep = max(wanted[0], int(STEP * len(columns)))
        columns = columns[:keep]
        record = run_here(lightgbm_job(peer, LGB_RFE, "all"), wide.only(columns))
        columns = [columns[k] for k in record.features_by_gain]
        if keep <= wanted[0]:
            yield wanted.pop(0), record


def at_size(points: list[Any], size: int) -> float | None:
    """Return the AUC at a size, between points straight in the logarithm of the size; None beyond them."""
    known = sorted((point["features"], point["auc"]) for point in points if point["features"] > 0)
    if len(known) < 2 or not known[0][0] <= size <= known[-1][0]:
        return next((auc for features, auc in known if features == size), None)
    features, auc = zip(*known, strict=True)
    return float(np.interp(np.log(size), np.log(features), auc))


def tables(results: Results) -> str:
    """AUC at each size, one table per data set."""
    parts = []
    for label, data in results["data"].items():
        rows = [
            [method, *(number(at_size(points, size)) for size in SIZES)]
            for method, points in data["points"].items()
        ]
        n, d = data["shape"]
        about = f"**{label}**: {n:,} training rows × {d:,} columns, {data['n_trees']} trees."
        parts.append(f"{about}\n\n{table(['test AUC at', *map(str, SIZES)], rows)}")
    return "\n\n".join(parts)


def figure(results: Results) -> Figure:
    """Draw a panel per data set."""
    data = results["data"]
    columns = min(3, len(data))
    drawing, axes = panels(-(-len(data) // columns), columns)
    looks = style(METHODS)
    for one, (label, of_data) in zip(axes.flat, data.items(), strict=False):
        for method, points in of_data["points"].items():
            line = sorted((point["features"], point["auc"]) for point in points)
            one.plot(*zip(*line, strict=True), label=method, markersize=4, **looks[method])
        count_axis(one)
        one.set_ylabel("test AUC")
        one.set_title(label, fontsize=9)
        one.grid(alpha=0.25)
    for one in list(axes.flat)[len(data) :]:
        one.set_axis_off()
    legend_below(drawing, axes, 4)
    return drawing


def claims(results: Results) -> list[Claim]:
    """At how many of the sizes both have each of ours is not behind each other method."""
    found = []
    for ours in OURS:
        for method in METHODS[len(OURS) :]:
            ahead, behind = _compared(results, ours, method)
            if ahead or behind:
                found.append(
                    Claim(
                        f"{ours} is nowhere behind {method} by more than 0.1 AUC points",
                        not behind,
                        f"behind at {len(behind)} of {len(ahead) + len(behind)} places"
                        + (f": {'; '.join(behind)}" if behind else ""),
                    )
                )
    return found


def _compared(results: Results, ours: str, theirs: str) -> tuple[list[str], list[str]]:
    """Sizes at which ours is not behind, and those at which it is."""
    ahead: list[str] = []
    behind: list[str] = []
    for label, data in results["data"].items():
        for size in SIZES:
            mine, other = (at_size(data["points"].get(one, []), size) for one in (ours, theirs))
            if mine is not None and other is not None:
                (ahead if mine >= other - 0.001 else behind).append(
                    f"{label.split(':')[0]} at {size}: {mine:.4f} / {other:.4f}"
                )
    return ahead, behind


EXPERIMENT = Experiment(
    name="frontier",
    title="AUC against number of features",
    reproduces="no figure of the paper: what its Table 3 shows at one size, at all sizes",
    how=(
        "Our models have a hard limit on features and the largest penalty, divided by 5 again and again, "
        "that buys so many; forward-backward selection has its own prices. topK: "
        "LightGBM's best by gain, trained again. RFE: half of the columns dropped at a time. CEGB: "
        "several penalties, whatever number of features they give. CatBoost: `select_features` at some "
        "sizes. Trees of all libraries have the same number of leaves. Nothing is chosen by test rows. "
        "One seed; between points curves are taken as straight in the logarithm of the size."
    ),
    run=run,
    tables=tables,
    figure=figure,
    claims=claims,
    why=(
        "Where many features tell a little each (word counts) or only together (madelon), buying them one "
        "by one at single nodes takes some that others make needless; topK and RFE see a whole model "
        "first. Forward-backward selection does so too."
    ),
)
