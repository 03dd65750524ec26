"""Seconds of a ranker beside LightGBM's, and what following a validation set adds.

Run it with nothing else on the machine::

    python -m benchmarks.speed.ranking --data-dir DIR

Every fit has a process of its own, and those that are compared take turns. The table goes into
docs/losses.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.quality.losses import ALPHA, FEW, PAGE, THREADS, TREES, peer_settings
from measuring.data.folds import FOLDS
from measuring.environment import environment
from measuring.jobs import LAYOUTS
from measuring.markdown import facts, number, table, write_between
from measuring.peers.gtgbm_models import estimator, fit_fold, leaves_of_model
from measuring.peers.lightgbm_models import train_fold
from measuring.processes import call_in_process

RANKER, FOLLOWED = "ranker", "ranker, early stopping"
BY_NDCG = "ranker, early stopping, NDCG"


def measure(data_dir: Path, repeats: int) -> str:
    """Time every kind of fit several times, in turns."""
    rows: list[list[str]] = []
    for data in FEW:
        seconds: dict[str, list[float]] = {}
        leaves = 31
        for _ in range(repeats):
            for what in (RANKER, FOLLOWED, BY_NDCG, *LAYOUTS):
                found = call_in_process(
                    fit_once, THREADS, data=data, what=what, leaves=leaves, data_dir=str(data_dir)
                )
                seconds.setdefault(what, []).append(found["seconds"])
                leaves = found["leaves"] if what == RANKER else leaves
        medians = {what: median(values) for what, values in seconds.items()}
        layout = min(LAYOUTS, key=lambda one: medians[one])
        ours, peer = medians[RANKER], medians[layout]
        lines = [
            (f"LightGBM lambdarank, {leaves} leaves, {layout} (its faster layout)", peer, ""),
            ("GTGBMRanker, all features, no penalty", ours, f"{ours / peer:.2f} × LightGBM"),
        ]
        for what, name in ((FOLLOWED, "an eval_set"), (BY_NDCG, "an eval_set, NDCG@10")):
            ratio = f"{medians[what] / ours:.2f} × without"
            lines.append((f"the same with {name} and early stopping", medians[what], ratio))
        rows += [[data, name, number(taken, 3), ratio] for name, taken, ratio in lines]
        print(*rows[-len(lines) :], sep="\n", flush=True)
    return table(["data", "what", "seconds, median", "ratio"], rows)


def fit_once(data: str, what: str, leaves: int, data_dir: str) -> dict[str, Any]:
    """Fit once; returns the seconds and the leaves of a tree."""
    fold = next(FOLDS[data](Path(data_dir)))
    for layout in LAYOUTS:
        if what == layout:
            begin = perf_counter()
            train_fold(peer_settings(leaves, layout), fold, "lambdarank")
            return {"seconds": perf_counter() - begin, "leaves": leaves}
    model = estimator(
        "auto",
        "lambdarank",
        n_estimators=TREES,
        penalty=0.0,
        search="exhaustive",
        min_node_fraction=ALPHA,
        random_state=0,
        n_jobs=THREADS,
    )
    evaluated: dict[str, Any] = {}
    if what != RANKER:
        # Patience beyond the last round: what is measured is the cost of looking, for the same trees.
        model.set_params(early_stopping_rounds=TREES)
        if what == BY_NDCG:
            model.set_params(eval_metric="ndcg@10")
        evaluated = {"eval_set": (fold.X_test, fold.y_test), "eval_qid": fold.qid_test}
    begin = perf_counter()
    fit_fold(model, fold, **evaluated)
    return {"seconds": perf_counter() - begin, "leaves": leaves_of_model(model)}


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--repeats", type=int, default=5, help="fits per method; medians are reported")
    arguments = parser.parse_args()
    command = "`python -m benchmarks.speed.ranking --data-dir DIR`"
    about = environment(("gtgbm", "lightgbm", "numpy")) | {"Command": command}
    found = measure(arguments.data_dir, arguments.repeats)
    write_between(PAGE, "speed", f"{found}\n\n{facts(about)}.\n")


if __name__ == "__main__":
    main()
