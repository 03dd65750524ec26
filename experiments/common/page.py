"""docs/reproduction.md, written from the stored results: first where we fall short, then what agrees."""

from __future__ import annotations

import shutil
from pathlib import Path

from experiments.common.record import Claim, Experiment
from experiments.common.store import RESULTS, Stored, draw, read
from experiments.registry import EXPERIMENTS
from measuring.files import ROOT, write_text
from measuring.markdown import facts

PAGE = ROOT / "docs" / "reproduction.md"
HEAD = """# The paper, reproduced

<!-- Written by `python -m experiments page` from experiments/results/: run it again instead of editing. -->

*Scalable Feature Selection for (Multitask) Gradient Boosted Trees* (Han, Rao, Sorokina, Subbian, AISTATS
2020). Each table and figure is one command, `python -m experiments NAME --data-dir DIR`;
`python -m experiments all` runs them all, `--quick` in minutes at a small size. Gisette and Epsilon
themselves were not at hand: gisette-like and Epsilon-shaped data are **stand-ins**; no number on this page is
Gisette's or Epsilon's unless it stands in a column of the paper's. Flight is real. With `--real DIR` the real
ones are downloaded to DIR, or read from there.
"""


def write_page(folder: Path = RESULTS, page: Path = PAGE) -> list[str]:
    """Write the page from a folder of results; returns the names of experiments that have none."""
    found: dict[str, tuple[Stored, list[Claim]]] = {}
    for name, experiment in EXPERIMENTS.items():
        stored = read(folder, name)
        if stored is not None:
            found[name] = stored, draw(experiment, folder)
    absent = [name for name in EXPERIMENTS if name not in found]
    parts = [HEAD]
    if absent:
        parts.append(f"Not run yet: {', '.join(absent)}.\n")
    claims = {name: pair[1] for name, pair in found.items()}
    parts.append(_list("Where it falls short of the paper or a peer", claims, holds=False))
    parts.append(_list("What agrees", claims, holds=True))
    # Beside the page, so that the documentation site has them too.
    images = page.parent / "images" / "reproduction"
    images.mkdir(parents=True, exist_ok=True)
    for name in found:
        shutil.copyfile(folder / f"{name}.png", images / f"{name}.png")
    where = images.relative_to(page.parent).as_posix()
    parts += [_section(EXPERIMENTS[name], stored, where) for name, (stored, _) in found.items()]
    write_text(page, "\n".join(parts))
    return absent


def _list(title: str, claims: dict[str, list[Claim]], holds: bool) -> str:
    lines = [
        f"- [{name}](#{name}) {claim.text}: {claim.numbers}."
        for name, of_name in claims.items()
        for claim in of_name
        if claim.holds is holds
    ]
    said = "These claims hold:" if holds else "These claims do not hold:"
    return f"## {title}\n" + "\n".join([said, "", *lines] if lines else ["Nothing."]) + "\n"


def _section(experiment: Experiment, stored: Stored, where: str) -> str:
    seed = stored.results.get("seed", 0)
    parts = [
        f'## <a id="{experiment.name}"></a>{experiment.title}',
        f"Reproduces {experiment.reproduces}. {experiment.how}",
        f"![{experiment.title}]({where}/{experiment.name}.png)",
        experiment.tables(stored.results),
        *([f"**Why it differs.** {experiment.why}"] if experiment.why else []),
        f"`{stored.command}`: {stored.seconds:.0f} s; seeds from {seed}. {facts(stored.environment)}.",
    ]
    return "\n\n".join(parts) + "\n"
