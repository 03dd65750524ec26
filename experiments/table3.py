"""Table 3: features, RMSE and AUC of every method on the three public data sets."""

from __future__ import annotations

from functools import partial
from typing import Any

from matplotlib.figure import Figure

from experiments.common.methods import AGBM, ALL_FEATURES, CATBOOST, CEGB, GBFS, GT_OURS, GT_PAPER, TOPK
from experiments.common.models import (
    Fitted,
    Settings,
    catboost_select,
    fit_cegb,
    fit_ours,
    fitted_lightgbm,
    lightgbm_on,
    scores,
    tune,
)
from experiments.common.paper import TABLE3, Row
from experiments.common.record import Claim, Context, Experiment, Results
from experiments.common.tasks import Task, paper_tasks
from measuring.figures import count_axis, legend_below, panels, style
from measuring.markdown import number, table
from measuring.peers.lightgbm_models import train

OURS = (GBFS, AGBM, GT_PAPER, GT_OURS)
LIMITED = f"{GT_OURS}, at most A-GBM's features"
METHODS = (TOPK, *OURS, LIMITED, ALL_FEATURES, CEGB, CATBOOST)
PENALTIES = {
    "Gisette": (0.01, 0.003, 0.001),
    "Epsilon": (0.003, 0.002, 0.001, 0.0004),
    "Flight": (0.0008, 0.0004, 0.0002, 0.0001),
}
"""Tried for A-GBM, GT-GBM and CEGB; GBFS's are the same shares of the first root's squared error."""
PAPERS_NAMES = {GT_PAPER: "GT-GBM", GT_OURS: "GT-GBM", ALL_FEATURES: "all features"}
QUICK_PENALTIES = {
    "Gisette": (0.01, 0.003),
    "Epsilon": (0.01, 0.003),
    "Flight": (0.002, 0.0005),
}
MAX_AUC_GAP, MAX_FEATURE_RATIO = 0.003, 1.1


def run(context: Context) -> Results:
    """Tune, fit and test every method on every data set."""
    settings = Settings(context.choose(30, 100), context.choose(1, context.threads))
    found: dict[str, Any] = {}
    for task in paper_tasks(context):
        penalties = (QUICK_PENALTIES if context.quick else PENALTIES)[task.paper]
        found[task.paper] = measure(task, settings, penalties)
    return {"n_trees": settings.n_trees, "seed": settings.seed, "tasks": found}


def measure(task: Task, settings: Settings, penalties: tuple[float, ...]) -> dict[str, Any]:
    """Run all methods on one data set."""
    data = task.data
    lines: dict[str, dict[str, Any]] = {}
    tried: dict[str, list[Any]] = {}
    n_leaves = 31
    # GBFS's penalty is in units of squared error, whatever the number of rows; from 0 the first root has
    # the labels' own.
    error_at_root = data.n_rows * float(data.y_train.var())
    for method in OURS:
        unit = error_at_root if method == GBFS else 1.0
        fit = partial(_fit, method, settings)
        best, tried[method] = tune(fit, task, [unit * penalty for penalty in penalties])
        model = fit(task, best)
        n_leaves = model.n_leaves if method == GT_PAPER else n_leaves
        lines[method] = {"penalty": best} | scores(model, data)
        print(f"table3: {task.paper}: {method}: {lines[method]}", flush=True)
    limited = partial(_fit, GT_OURS, settings, limit=lines[AGBM]["features"])
    best, tried[LIMITED] = tune(limited, task, penalties)
    lines[LIMITED] = {"penalty": best} | scores(limited(task, best), data)
    wide = task.one_hot()
    job = lightgbm_on(wide, settings, n_leaves)
    full = train(job, wide.data)
    lines[ALL_FEATURES] = {"penalty": None} | scores(fitted_lightgbm(full, n_leaves), wide.data)
    k = max(lines[method]["features"] for method in (GBFS, AGBM, GT_PAPER))
    again = train(job, wide.data, full.features()[:k])
    lines[TOPK] = {"penalty": None} | scores(fitted_lightgbm(again, n_leaves), wide.data)
    cegb = partial(_cegb, settings, n_leaves)
    best, tried[CEGB] = tune(cegb, wide, penalties)
    lines[CEGB] = {"penalty": best} | scores(cegb(wide, best), wide.data)
    selected = catboost_select(wide, settings, n_leaves, lines[GT_PAPER]["features"])
    if selected is not None:
        lines[CATBOOST] = {"penalty": None} | selected
    print(f"table3: {task.paper}: done", flush=True)
    shape = {"rows": wide.data.n_rows, "columns": wide.data.n_columns, "test_rows": len(data.y_test)}
    return {"label": task.label, "is_real": task.is_real, "lines": lines, "tried": tried} | shape


def _fit(method: str, settings: Settings, task: Task, penalty: float, limit: int | None = None) -> Fitted:
    return fit_ours(method, task, settings, penalty, n_features_to_select=limit)


def _cegb(settings: Settings, n_leaves: int, task: Task, penalty: float) -> Any:
    return fit_cegb(task, settings, n_leaves, penalty)


def tables(results: Results) -> str:
    """One table per data set, the paper's numbers beside ours."""
    parts = []
    for paper, task in results["tasks"].items():
        n, d, tested = (f"{task[key]:,}" for key in ("rows", "columns", "test_rows"))
        rows = []
        for method in METHODS:
            line, theirs = task["lines"].get(method), TABLE3[paper].get(PAPERS_NAMES.get(method, method))
            rows.append([method, *_cells(line), *_paper_cells(theirs)])
        head = ["method", "features", "RMSE", "AUC %", "penalty"]
        head += [f"paper on {paper}: {name}" for name in ("features", "RMSE", "AUC %")]
        size = f"{n} training rows × {d} columns (categories one by one), {tested} test rows"
        about = f"**{task['label']}**: {size}."
        parts.append(f"{about}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def _cells(line: dict[str, Any] | None) -> list[object]:
    if line is None:
        return ["not installed", None, None, None]
    penalty = None if line["penalty"] is None else f"{line['penalty']:.4g}"
    return [line["features"], number(line["rmse"], 3), number(100 * line["auc"], 2), penalty]


def _paper_cells(row: Row | None) -> list[object]:
    if row is None:
        return [None, None, None]
    return [row.features, number(row.rmse, 3), number(row.auc, 2)]


def figure(results: Results) -> Figure:
    """AUC against number of features, a panel per data set."""
    drawing, axes = panels(1, len(results["tasks"]))
    looks = style(METHODS)
    for one, (paper, task) in zip(axes[0], results["tasks"].items(), strict=True):
        for method in METHODS:
            if method in task["lines"]:
                line = task["lines"][method]
                one.plot(line["features"], 100 * line["auc"], linestyle="", label=method, **looks[method])
        count_axis(one)
        one.set_title(paper if task["is_real"] else f"stand-in for {paper}")
        one.grid(alpha=0.25)
    axes[0, 0].set_ylabel("test AUC, %")
    legend_below(drawing, axes, 5, fontsize=7)
    return drawing


def claims(results: Results) -> list[Claim]:
    """Hold the results against the paper's claims on each data set."""
    found = []
    for task in results["tasks"].values():
        lines, name = task["lines"], task["label"].split(":")[0]
        exact = lines[AGBM]
        for tested in (GT_PAPER, GT_OURS, LIMITED):
            ours = lines[tested]
            found.append(
                Claim(
                    f"{name}: {tested} is within 0.3 AUC points of A-GBM with at most 1.1 × its features",
                    ours["auc"] >= exact["auc"] - MAX_AUC_GAP
                    and ours["features"] <= MAX_FEATURE_RATIO * exact["features"],
                    f"{_short(ours)} against {_short(exact)}",
                    required=tested == LIMITED,
                )
            )
        for method in (GT_PAPER, GT_OURS):
            found += [
                Claim(
                    f"{name}: {method} has at least the AUC of {peer}",
                    lines[method]["auc"] >= lines[peer]["auc"],
                    f"{_short(lines[method])} against {_short(lines[peer])}",
                )
                for peer in (TOPK, CEGB, CATBOOST)
                if peer in lines
            ]
    return found


def _short(line: dict[str, Any]) -> str:
    return f"{100 * line['auc']:.2f} with {line['features']}"


EXPERIMENT = Experiment(
    name="table3",
    title="Table 3: the public data sets",
    reproduces="Table 3, and the appendix's table of models with all features",
    how=(
        "Penalties are the best on a random fifth of the training rows, whatever the number of features, "
        "as in the paper; the model is then fitted to all training rows and tested once. ε = 0.1 and α as "
        "in the paper's appendix; the paper does not tell the number of trees: 100. GBFS, A-GBM and the "
        "paper's test minimise squared error from 0; our defaults are log loss and our own tests. K of "
        "topK is the largest number of features of GBFS, A-GBM and GT-GBM. LightGBM's trees have as many "
        "leaves as GT-GBM's. LightGBM and CatBoost get one column per category; CatBoost chooses as many "
        "as GT-GBM. Tuning does not look at the number of features, so tuned models need not be of one "
        "size: our defaults are also tuned under a limit, A-GBM's number of features, and the tests ask "
        "for the paper's claim of that model. The generated tables of quick runs are the third set: on "
        "the first there were too few rows to tune on, on the second, at two fixed penalties, GT-GBM was "
        "0.4 to 6.7 points behind A-GBM (before there were trend tests). The paper's test was tried with "
        "s = 1, 3, 10 and 30: larger s mostly came closer to A-GBM, at several times the cost; s = 3 is "
        "kept because Figure 1 has it. Full runs have 10,000 Epsilon-shaped rows to save time."
    ),
    run=run,
    tables=tables,
    figure=figure,
    claims=claims,
    why=(
        "The paper's test looks at sums over a third of all columns, in which single features drown where "
        "many matter (Epsilon-shaped): our defaults test columns alone. GBFS, A-GBM and the paper's test "
        "fit labels by squared error, as the paper does; log loss is part of our defaults' lead over "
        "A-GBM, how much was not separated. On gisette-like and Flight LightGBM's top columns and CEGB "
        "are ahead of our defaults with more features; for equal numbers see `frontier`. The data "
        "are stand-ins: real Epsilon, for one, is 40 times as long."
    ),
)
