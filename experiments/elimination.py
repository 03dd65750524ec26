"""The introduction's claim: backward elimination finds good features, but is slow."""

from __future__ import annotations

from dataclasses import asdict, replace
from statistics import median
from typing import Any

from matplotlib.figure import Figure

from experiments.common.record import Claim, Context, Experiment, Results
from measuring.data import Source
from measuring.figures import panels, style
from measuring.fits import load_and_run
from measuring.jobs import Job, Record
from measuring.markdown import number, table
from measuring.methods import GT, our_job, peer_job

PENALTY = 0.003
BACKWARD, RFE = "backward elimination, one feature a fit", "RFE, 30% of the columns a fit"
METHODS = (GT, RFE, BACKWARD)
N_LEAVES = 31


def run(context: Context) -> Results:
    """Run every method on tables of growing width, each fit in a process of its own."""
    n = context.choose(1000, 5000)
    widths = context.choose((100, 150), (100, 200, 400, 2000))
    k = context.choose(85, 20)
    n_trees = context.choose(10, 50)
    widest = context.choose(100, 200)
    repeats = context.choose(1, 3)
    lines = []
    for d in widths:
        base = Job("", "", "", Source("growth", shape=(n, d)), n_trees=n_trees, n_threads=context.threads)
        ours = our_job(base, "group-testing", PENALTY, k)
        peer = peer_job(replace(base, n_leaves=N_LEAVES), "lgb-rfe", k, PENALTY)
        found: dict[str, list[dict[str, Any]]] = {method: [] for method in METHODS}
        for _ in range(repeats):
            found[GT].append(_line(context, ours))
            found[RFE].append(_line(context, peer))
        if d <= widest:
            found[BACKWARD].append(_line(context, replace(peer, model="backward")))
        for method, several in found.items():
            if several:
                seconds = median(one["seconds"] for one in several)
                lines.append(
                    {"d": d, "method": method, "runs": len(several)} | several[0] | {"seconds": seconds}
                )
        print(f"elimination: {d} columns done", flush=True)
    return {"rows": n, "k": k, "n_trees": n_trees, "lines": lines}


def _line(context: Context, job: Job) -> dict[str, Any]:
    record = Record(**context.call(load_and_run, job=asdict(job)))
    return {"seconds": record.seconds, "auc": record.score, "features": record.n_features}


def tables(results: Results) -> str:
    """One row per width and method."""
    rows = [
        [
            line["d"],
            line["method"],
            line["features"],
            number(line["auc"]),
            number(line["seconds"], 2),
            line["runs"],
        ]
        for line in results["lines"]
    ]
    head = ["columns", "method", "features", "test AUC", "seconds, median", "runs"]
    return (
        table(head, rows)
        + "\n\nThe paper has no numbers here: its introduction calls elimination cumbersome."
    )


def figure(results: Results) -> Figure:
    """Seconds and AUC against columns."""
    drawing, axes = panels(1, 2)
    looks = style(METHODS)
    for one, key, name in ((axes[0, 0], "seconds", "seconds"), (axes[0, 1], "auc", "test AUC")):
        for method in METHODS:
            of_method = [line for line in results["lines"] if line["method"] == method]
            one.plot([x["d"] for x in of_method], [x[key] for x in of_method], label=method, **looks[method])
        one.set(xscale="log", xlabel=f"columns, of which {results['k']} are kept", ylabel=name)
        one.grid(alpha=0.25)
    axes[0, 0].set_yscale("log")
    axes[0, 1].legend(fontsize=7)
    return drawing


def claims(results: Results) -> list[Claim]:
    """Compare at the widest table both methods were run on."""
    found = []
    for method in (BACKWARD, RFE):
        theirs = [line for line in results["lines"] if line["method"] == method][-1]
        ours = next(x for x in results["lines"] if x["method"] == GT and x["d"] == theirs["d"])
        name = method.split(",")[0]
        found += [
            Claim(
                f"GT-GBM is faster than {name} ({theirs['d']} columns)",
                ours["seconds"] < theirs["seconds"],
                f"{ours['seconds']:.2f} s against {theirs['seconds']:.2f} s",
            ),
            Claim(
                f"GT-GBM's AUC is not behind {name}'s by more than 0.005 ({theirs['d']} columns)",
                ours["auc"] >= theirs["auc"] - 0.005,
                f"{ours['auc']:.4f} against {theirs['auc']:.4f}",
            ),
        ]
    return found


EXPERIMENT = Experiment(
    name="elimination",
    title="Backward elimination and RFE",
    reproduces="the introduction",
    how=(
        "Generated tables of correlated columns, 100 of them relevant; 20 features kept. Backward "
        "elimination fits LightGBM, drops the column with the least gain, and fits again; RFE "
        "(scikit-learn) drops 30% of all columns at a time. Each run has a process of its own; GT-GBM and "
        "RFE: medians of three, backward elimination: one run, and only on tables narrow enough for it."
    ),
    run=run,
    tables=tables,
    figure=figure,
    claims=claims,
)
