"""Multitask models beside independent, group-sparse and single-task ones, at the same number of features.

    python -m benchmarks.quality.multitask --data-dir DIR [--only recovery,generated,school]

The tables go into docs/multitask.md, each between marker lines of its name.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from measuring.data.multitask import (
    COLUMNS,
    OWN,
    SHARED,
    SIZES,
    Rows,
    amazon,
    drawn,
    generated,
    own_features,
    school,
)
from measuring.environment import environment
from measuring.files import ROOT
from measuring.markdown import facts, spread, table, write_between
from measuring.peers.gtgbm_models import compare_tasks, metric_of, multitask_estimator

PAGE = ROOT / "docs" / "multitask.md"
RECOVERY_SEEDS = range(100, 110)
"""None of those on which the method's defaults were settled, the first ten."""
_VALIDATED = 0.25
"""Share of the training rows on which a method's settings are chosen."""

MOST_SHOWN = 10
"""Tasks whose results are shown one by one."""

METHODS: dict[str, list[dict[str, Any]]] = {
    "multitask": [{"group_penalty": 0.001}, {"group_penalty": 0.004}],
    "multitask, common start": [
        {"n_common_rounds": 0.5},
        {"n_common_rounds": 0.8},
        {"n_common_rounds": 0.8, "task_penalty": 0.001},
    ],
    "group-sparse": [{"group_penalty": 0.004}, {"group_penalty": 0.016}],
    "independent": [{"group_penalty": 0.0}, {"group_penalty": 0.0, "task_penalty": 0.001}],
    "single-task": [{"group_penalty": 0.0}, {"group_penalty": 0.0, "task_penalty": 0.001}],
}
"""What is tried of each method; common rounds as a share of all."""


@dataclass(frozen=True)
class Study:
    """A data set, and how models are trained on it.

    Attributes
    ----------
    load : callable
        Takes a seed, returns rows to train on and to test with.
    model : callable
        Takes parameters, returns an estimator, not fitted.
    limits : sequence of int or None
        Features of all tasks together.
    node_fractions : sequence of float
        Values of `min_node_fraction` to choose from.
    """

    name: str
    load: Callable[[int], tuple[Rows, Rows]]
    model: Callable[..., Any]
    n_seeds: int
    limits: Sequence[int | None]
    node_fractions: Sequence[float]


def studies(data_dir: Path) -> list[Study]:
    """Return all comparisons."""
    fast = partial(multitask_estimator, "binary")
    slow = partial(multitask_estimator, "regression", group_penalty=0.01, learning_rate=0.05, n_estimators=50)
    words = partial(amazon, data_dir)
    return [
        Study("generated", generated, fast, 5, [25], [0.1, 0.2]),
        Study("amazon4_multidomain", words, fast, 3, [50, 100, 200], [0.02, 0.05]),
        Study("school", partial(school, data_dir), slow, 3, [None], [0.3]),
    ]


def settings_of(study: Study, method: str, limit: int | None, n_tasks: int) -> list[dict[str, Any]]:
    """Return the parameters that are tried of a method."""
    found = []
    # Independent models know no limit on all of them.
    alone = method == "independent" and limit is not None
    limits = {
        "n_features_to_select": None if alone else limit,
        "n_features_per_task": max(1, limit // n_tasks) if alone and limit else None,
    }
    for fraction in study.node_fractions:
        for one in METHODS[method]:
            given = {"method": method.split(",")[0], "min_node_fraction": fraction, **limits, **one}
            rounds = study.model().n_estimators * one.get("n_common_rounds", 0)
            found.append(given | {"n_common_rounds": round(rounds)})
    return found


def result_of(study: Study, method: str, limit: int | None, seed: int) -> Any:
    """Choose a method's settings on a part of the training rows, train on all of them, and test."""
    train, test = study.load(seed)
    tried = settings_of(study, method, limit, len(np.unique(train.task)))
    validated = drawn(train.y.shape[0], _VALIDATED, seed)

    def result(given: dict[str, Any], on: Rows, against: Rows) -> Any:
        candidate = study.model(**(given | {"random_state": seed}))
        return compare_tasks(candidate, on.parts(), against.parts(), methods=[given["method"]])[0]

    found = [result(given, train.at(~validated), train.at(validated)) for given in tried]
    totals = [one.total for one in found]
    best = int(np.argmax(totals) if metric_of(found[0].metric).greater_is_better else np.argmin(totals))
    return result(tried[best], train, test)


def compared(study: Study) -> str:
    """One row per number of features and method; mean over seeds, and range."""
    head: list[str] = []
    rows: list[list[str]] = []
    for limit in study.limits:
        for method in METHODS:
            results = [result_of(study, method, limit, seed) for seed in range(study.n_seeds)]
            names = list(results[0].by_task) if len(results[0].by_task) <= MOST_SHOWN else []
            head = ["limit on features", "method", results[0].metric, *names, "features, shared"]
            rows.append(
                [
                    str(limit or "none"),
                    method,
                    spread([one.total for one in results]),
                    *(f"{np.mean([one.by_task[name] for one in results]):.3f}" for name in names),
                    f"{np.mean([one.n_features for one in results]):.0f}, "
                    f"{np.mean([one.n_shared for one in results]):.0f}",
                ]
            )
            print(*rows[-1], sep=" | ", flush=True)
    return table(head, rows)


def recovery() -> str:
    """How many of the features that matter are found shared, or specific to their task."""
    shared: list[float] = []
    own: dict[str, list[float]] = {name: [] for name in SIZES}
    others: list[int] = []
    for seed in RECOVERY_SEEDS:
        train, _ = generated(seed)
        model = multitask_estimator("binary", min_node_fraction=0.2, random_state=seed)
        model.fit(train.X, train.y, task=train.task)
        used = {name: set(model.task_features_[name].tolist()) for name in SIZES}
        is_shared = set(model.shared_features_.tolist())
        shared.append(float(np.mean([feature in is_shared for feature in range(SHARED)])))
        for name in SIZES:
            found = [feature in used[name] - is_shared for feature in own_features(name)]
            own[name].append(float(np.mean(found)))
        true = set(range(SHARED)).union(*(own_features(name) for name in SIZES))
        others.append(len(set(model.selected_features_.tolist()) - true))
    specific = np.mean([own[name] for name in SIZES], axis=0).tolist()
    listed = [("to all tasks: found shared", shared), ("to one task: found its own", specific)]
    listed += [(f"to the {name} one ({SIZES[name]:,} rows)", own[name]) for name in SIZES]
    rows = [[name, f"{np.mean(of):.0%}", f"{min(of):.0%} – {max(of):.0%}"] for name, of in listed]
    found_so = table(["of the features that matter", "found so", "range over seeds"], rows)
    print(found_so, flush=True)
    useless = COLUMNS - SHARED - OWN * len(SIZES)
    return f"{found_so}\n\nOf {useless} useless features, {np.mean(others):.1f} were bought on average."


def main() -> None:
    """Measure, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--only", default="recovery,generated,amazon4_multidomain,school")
    options = parser.parse_args()
    about = environment(("gtgbm", "numpy"))
    kept = facts({key: about[key] for key in ("Versions", "Commit", "Date")})
    known = {study.name: study for study in studies(options.data_dir)}
    for name in options.only.split(","):
        found = recovery() if name == "recovery" else compared(known[name])
        write_between(PAGE, name, f"{found}\n\n{kept}.\n")


if __name__ == "__main__":
    main()
