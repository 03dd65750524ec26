"""Results on disk: JSON, a table, and the figure as PNG and SVG."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from experiments.common.record import Claim, Context, Experiment, Results
from measuring.environment import environment
from measuring.figures import save
from measuring.files import ROOT, SCRATCH, write_json, write_text
from measuring.markdown import facts

RESULTS = ROOT / "experiments" / "results"
QUICK_RESULTS = SCRATCH / "experiments-quick"
PACKAGES = ("gtgbm", "lightgbm", "catboost", "scikit-learn", "numpy", "matplotlib")


@dataclass(frozen=True)
class Stored:
    """One run of an experiment.

    Attributes
    ----------
    command : str
        What to type to run it again.
    environment : dict
        Date, machine, versions, commit.
    seconds : float
        Of the run.
    """

    name: str
    command: str
    environment: dict[str, str]
    seconds: float
    results: Results


def path_of(folder: Path, name: str) -> Path:
    """Return where the JSON of an experiment stands."""
    return folder / f"{name}.json"


def run_and_store(experiment: Experiment, context: Context, folder: Path) -> list[Claim]:
    """Run an experiment, write everything it has to say, and return its claims."""
    about = environment(PACKAGES)
    begin = perf_counter()
    results = experiment.run(context)
    options = " --data-dir DIR" * (context.data_dir is not None) + " --real DIR" * (
        context.real_dir is not None
    )
    stored: dict[str, Any] = {
        "name": experiment.name,
        "command": f"python -m experiments {experiment.name}{options}{' --quick' * context.quick}",
        "environment": about | {"Threads": str(context.threads)},
        "seconds": perf_counter() - begin,
        "results": results,
    }
    write_json(path_of(folder, experiment.name), stored)
    return draw(experiment, folder)


def read(folder: Path, name: str) -> Stored | None:
    """Read a stored run; None if there is none."""
    path = path_of(folder, name)
    return Stored(**json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else None


def draw(experiment: Experiment, folder: Path) -> list[Claim]:
    """Write the table and the figure of stored results; returns their claims."""
    stored = read(folder, experiment.name)
    if stored is None:
        raise FileNotFoundError(f"{path_of(folder, experiment.name)}: run the experiment first")
    claims = experiment.claims(stored.results)
    lines = [
        f"- {'Holds' if claim.holds else '**Does not hold**'}: {claim.text}: {claim.numbers}."
        for claim in claims
    ]
    parts = [
        f"# {experiment.title}",
        f"Reproduces: {experiment.reproduces}. {experiment.how}",
        experiment.tables(stored.results),
        "\n".join(lines),
        f"`{stored.command}`, {stored.seconds:.0f} s. {facts(stored.environment)}.",
    ]
    write_text(folder / f"{experiment.name}.md", "\n\n".join(parts) + "\n")
    save(experiment.figure(stored.results), folder / experiment.name)
    return claims
