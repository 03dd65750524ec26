"""Multitask models beside independent, group-sparse and single-task ones, at the same number of features.

    python -m benchmarks.multitask --data-dir DIR

The table goes into docs/multitask.md, between two marker lines.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.marked import write_between
from benchmarks.measuring import ROOT, environment
from gtgbm import MultitaskGTGBMClassifier, MultitaskGTGBMRegressor, compare_tasks

PAGE = ROOT / "docs" / "multitask.md"
SEEDS = 3
SHARED, OWN, COLUMNS = 10, 5, 300
SIZES = {"large": 20_000, "middle": 2_000, "small": 300}


@dataclass(frozen=True)
class Problem:
    """Rows to train on and to test with, and a model."""

    name: str
    model: Any
    n_features: int | None
    n_tasks: int
    train: tuple[Any, Any, Any]
    test: tuple[Any, Any, Any]


def generated(seed: int) -> Problem:
    """Three tasks of very different sizes: 10 features matter to all, 5 more to each."""
    rng = np.random.default_rng(seed)
    weight = {task: rng.choice([-1.0, 1.0], SHARED + OWN) for task in SIZES}
    parts = []
    for is_train in (True, False):
        X, y, task = [], [], []
        for k, (name, size) in enumerate(SIZES.items()):
            rows = rng.normal(size=(size if is_train else 4000, COLUMNS))
            used = np.r_[:SHARED, SHARED + OWN * k : SHARED + OWN * (k + 1)]
            signal = rows[:, used] @ weight[name]
            X.append(rows)
            y.append(signal + rng.normal(size=rows.shape[0]) > 0)
            task.append(np.full(rows.shape[0], name))
        parts.append((np.vstack(X), np.concatenate(y), np.concatenate(task)))
    model = MultitaskGTGBMClassifier(
        group_penalty=0.003, task_penalty=0.003, search="group-testing", random_state=seed
    )
    return Problem("generated", model, SHARED + 3 * OWN, 3, parts[0], parts[1])


def amazon(data_dir: Path) -> Iterator[Problem]:
    """Good or bad reviews of four kinds of goods, word counts; the split that comes with the data."""
    z = np.load(data_dir / "amazon4_multidomain" / "data.npz")
    X = csr_matrix((z["X_data"], z["X_indices"], z["X_indptr"]), shape=z["X_shape"]).astype(np.float32)
    y, task, train = z["y"] > 0, z["task_names"][z["task"]], z["is_train"]
    for k in (50, 100, 200):
        model = MultitaskGTGBMClassifier(group_penalty=0.002, task_penalty=0.001, random_state=0)
        parts = [(X[rows], y[rows], task[rows]) for rows in (train, ~train)]
        yield Problem("amazon4_multidomain", model, k, 4, parts[0], parts[1])


def school(data_dir: Path, seed: int) -> Problem:
    """Exam scores of 139 schools; a fifth of the rows to test with."""
    z = np.load(data_dir / "school" / "data.npz")
    test = np.random.default_rng(seed).random(z["y"].shape[0]) < 0.2
    parts = [(z["X"][rows], z["y"][rows] * 1.0, z["task"][rows]) for rows in (~test, test)]
    model = MultitaskGTGBMRegressor(
        group_penalty=0.01, task_penalty=0.02, learning_rate=0.05, n_estimators=50, random_state=seed
    )
    model.set_params(min_node_fraction=0.3)
    return Problem("school", model, None, 139, parts[0], parts[1])


def table(problems: list[list[Problem]]) -> list[str]:
    """One row per data set, number of features and method; mean over seeds."""
    rows = [
        "| data | limit on features | method | metric | total by test rows | features, shared | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for seeds in problems:
        found: dict[str, list[Any]] = {}
        for problem in seeds:
            for method in ("multitask", "group-sparse", "independent", "single-task"):
                model, k = problem.model, problem.n_features
                alone = method == "independent" and k is not None
                model.set_params(
                    n_features_to_select=None if alone else k,
                    n_features_per_task=max(1, k // problem.n_tasks) if alone and k else None,
                )
                found.setdefault(method, []).extend(
                    compare_tasks(model, problem.train, problem.test, methods=[method])
                )
        for method, results in found.items():
            totals = [one.total for one in results]
            spread = f" ({min(totals):.4f} – {max(totals):.4f})" if len(totals) > 1 else ""
            rows.append(
                f"| {seeds[0].name} | {seeds[0].n_features or 'none'} | {method} | {results[0].metric} | "
                f"{np.mean(totals):.4f}{spread} | {np.mean([one.n_features for one in results]):.0f}, "
                f"{np.mean([one.n_shared for one in results]):.0f} | "
                f"{np.median([one.seconds for one in results]):.2f} |"
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Measure everything and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    data_dir = parser.parse_args().data_dir
    problems = [[generated(seed) for seed in range(SEEDS)]]
    problems += [[problem] for problem in amazon(data_dir)]
    problems += [[school(data_dir, seed) for seed in range(SEEDS)]]
    rows = table(problems)
    about = environment(("gtgbm", "numpy")) | {"Date": datetime.now(timezone.utc).strftime("%Y-%m-%d")}
    facts = "; ".join(f"{key}: {value}" for key, value in about.items())
    write_between(PAGE, "measured", "\n".join(rows) + f"\n\n{facts}.\n")


if __name__ == "__main__":
    main()
