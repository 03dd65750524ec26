"""What each choice in group testing is worth: test AUC at a given number of features, and seconds.

Run it with nothing else on the machine::

    python -m benchmarks.quality.group_testing several --data-dir DIR
    python -m benchmarks.quality.group_testing wide

It changes one thing at a time. Several are no parameters of the estimators, so it reaches into the package.
Each table goes into docs/group-testing.md, between two marker lines of its own.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any
from unittest.mock import patch

import numpy as np

from gtgbm.estimators import settings as fits
from gtgbm.search import dealing, group_search
from measuring.data import Data, Source, load
from measuring.data.generated import demo_data
from measuring.environment import environment
from measuring.files import ROOT
from measuring.markdown import facts, number, table, write_between
from measuring.peers.gtgbm_models import estimator
from measuring.scores import auc

PAGE = ROOT / "docs" / "group-testing.md"


@dataclass(frozen=True)
class Task:
    """A data set, the penalties to fit it with, and the sizes to compare at."""

    name: str
    data: Data
    penalties: tuple[float, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Variant:
    """One change: parameters of the estimator, of the settings of tests, or constants of modules."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    constants: dict[tuple[Any, str], Any] = field(default_factory=dict)
    slow: bool = False


VARIANTS = (
    Variant("default"),
    Variant("every feature tested alone", constants={(dealing, "_MAX_HISTOGRAMS"): math.inf}, slow=True),
    Variant("a quarter of the tests", constants={(dealing, "_MAX_HISTOGRAMS"): 512}),
    Variant("subsets as in the paper: s = 1, δ = 0.1", parameters={"n_relevant": 1}),
    Variant("unsigned sums", settings={"signed": False}),
    Variant("dealt once", settings={"redeal_every": None}),
    Variant("1,000 test rows", parameters={"test_rows": 1000}),
    Variant("4,000 test rows", parameters={"test_rows": 4000}, slow=True),
    Variant("nodes of 25 test rows searched", constants={(fits, "_MIN_TEST_ROWS"): 25}),
    Variant("nodes of 400 test rows searched", constants={(fits, "_MIN_TEST_ROWS"): 400}),
    Variant("no chance gain subtracted", constants={(fits, "_CHANCE_GAIN"): 0.0}),
    Variant("chance gain 12", constants={(fits, "_CHANCE_GAIN"): 12.0}),
    Variant("unlikely nodes searched too", constants={(group_search, "_GAIN_MARGIN"): math.inf}, slow=True),
    Variant("every node looks, however like its parent", constants={(fits, "REVISIT_SHARE"): 1.0}, slow=True),
    Variant("every tree looks", constants={(fits, "LONGEST_REST"): 0}),
    Variant("the paper's algorithm (test_rows=None)", parameters={"test_rows": None}, slow=True),
)


def several_tasks(data_dir: Path) -> Iterator[Task]:
    """Load and generate data sets of a few thousand features at most."""
    stand_in = load(Source("gisette", str(data_dir)))
    yield Task("gisette-like", stand_in, (0.012, 0.006, 0.003, 0.0015), (30, 60))
    yield Task("demo data", demo_data(20_000, 10_000, 2_000), (0.012, 0.006, 0.003, 0.0015), (10, 15))
    yield Task("madelon", load(Source("madelon", str(data_dir))), (0.02, 0.01, 0.006), (8,))


def wide_tasks(_: Path) -> Iterator[Task]:
    """Generate a table with more features than the budget of tests allows to be tested in small groups."""
    yield Task("demo data, 6,000 x 40,000", demo_data(6_000, 4_000, 40_000), (0.02, 0.01, 0.005), (5, 8))


TABLES = {"several": (several_tasks, VARIANTS), "wide": (wide_tasks, VARIANTS[:6])}
"""Data sets, and the variants to measure on them; on the wide table those that concern the groups."""


@contextmanager
def changed(variant: Variant) -> Iterator[None]:
    """Let the package run with a variant's settings and constants."""
    original = dealing.GroupTestSettings

    def settings(*arguments: Any) -> dealing.GroupTestSettings:
        return original(*arguments, **variant.settings)

    patches = [patch.object(module, name, value) for (module, name), value in variant.constants.items()]
    if variant.settings:
        patches.append(patch.object(fits, "GroupTestSettings", settings))
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def measure(task: Task, variant: Variant, seeds: int) -> tuple[list[float], float]:
    """Mean test AUC at each of the task's sizes, and mean seconds of a fit."""
    curves, seconds = [], []
    for seed in range(seeds):
        points = []
        for penalty in task.penalties:
            model = estimator(
                "group-testing", "binary", penalty=penalty, random_state=seed, **variant.parameters
            )
            begin = perf_counter()
            model.fit(task.data.X_train, task.data.y_train)
            seconds.append(perf_counter() - begin)
            score = auc(task.data.y_test, model.predict_proba(task.data.X_test)[:, 1])
            points.append((model.n_selected_features_, score))
        sizes, scores = zip(*sorted(points), strict=True)
        # Between two fits the curve is taken as straight in the logarithm of the size; beyond them, unknown.
        curves.append(np.interp(np.log(task.sizes), np.log(sizes), scores, left=np.nan, right=np.nan))
    with np.errstate(invalid="ignore"):
        return np.mean(curves, axis=0).tolist(), float(np.mean(seconds))


def results_table(
    results: dict[str, dict[str, tuple[list[float], float]]], sizes: dict[str, tuple[int, ...]]
) -> str:
    """Write the results, a line per variant and a column per data set."""
    head = [f"{task}: AUC at {', '.join(map(str, of))} (s)" for task, of in sizes.items()]
    rows = [[name, *(_cell(by_task.get(task)) for task in sizes)] for name, by_task in results.items()]
    return table(["", *head], rows)


def _cell(found: tuple[list[float], float] | None) -> str:
    if found is None:
        return "not run"
    scores, seconds = found
    shown = ", ".join(number(None if math.isnan(score) else score) for score in scores)
    return f"{shown} ({seconds:.2f})"


def main() -> None:
    """Measure all variants and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.group_testing", description=__doc__)
    parser.add_argument("table", choices=sorted(TABLES), help="which data to measure on")
    parser.add_argument("--data-dir", type=Path, default=Path(), help="folder of the data sets of 'several'")
    parser.add_argument("--seeds", type=int, default=3, help="fits per penalty")
    parser.add_argument("--only", default="", help="only variants whose name contains this; the page stays")
    arguments = parser.parse_args()
    about = environment(["gtgbm", "numpy", "scikit-learn"])
    results: dict[str, dict[str, tuple[list[float], float]]] = {}
    sizes: dict[str, tuple[int, ...]] = {}
    make_tasks, variants = TABLES[arguments.table]
    for task in make_tasks(arguments.data_dir):
        sizes[task.name] = task.sizes
        for variant in variants:
            if arguments.only not in variant.name:
                continue
            with changed(variant):
                found = measure(task, variant, 1 if variant.slow else arguments.seeds)
            results.setdefault(variant.name, {})[task.name] = found
            print(task.name, variant.name, found, flush=True)
    if arguments.only:
        return
    day = about.pop("Date")
    command = f"python -m benchmarks.quality.group_testing {arguments.table}"
    seeds = f"mean of {arguments.seeds} seeds (one for slow variants)"
    note = f"Measured {day} by `{command}`, {seeds}. {facts(about)}."
    write_between(PAGE, f"measured {arguments.table}", f"{results_table(results, sizes)}\n\n{note}\n")


if __name__ == "__main__":
    main()
