"""docs/reproduction.md, written from the stored results: a summary of all claims, then each experiment."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from experiments.common.record import Claim, Experiment
from experiments.common.store import RESULTS, Stored, draw, read
from experiments.registry import EXPERIMENTS
from measuring.files import ROOT, write_text
from measuring.markdown import facts, table

PAGE = ROOT / "docs" / "reproduction.md"
HEAD = """# The paper, reproduced

<!-- Written by `python -m experiments page` from experiments/results/: run it again instead of editing. -->
"""
HOW = """\
*Scalable Feature Selection for (Multitask) Gradient Boosted Trees* (Han, Rao, Sorokina, Subbian, AISTATS
2020). Each table and figure is one command, `python -m experiments NAME --data-dir DIR`;
`python -m experiments all` runs them all, `--quick` in minutes at a small size. Gisette and Epsilon
themselves were not at hand: gisette-like and Epsilon-shaped data are **stand-ins**; no number on this page is
Gisette's or Epsilon's unless it stands in a column of the paper's. Flight is real. With `--real DIR` the real
ones are downloaded to DIR, or read from there.
"""
_OPENING = "frontier"
"""The experiment whose figure opens the page."""


def write_page(folder: Path = RESULTS, page: Path = PAGE) -> list[str]:
    """Write the page from a folder of results; returns the names of experiments that have none."""
    found: dict[str, tuple[Stored, list[Claim]]] = {}
    for name, experiment in EXPERIMENTS.items():
        stored = read(folder, name)
        if stored is not None:
            found[name] = stored, draw(experiment, folder)
    absent = [name for name in EXPERIMENTS if name not in found]
    # Beside the page, so that the documentation site has them too.
    images = page.parent / "images" / "reproduction"
    images.mkdir(parents=True, exist_ok=True)
    for name in found:
        shutil.copyfile(folder / f"{name}.png", images / f"{name}.png")
    where = images.relative_to(page.parent).as_posix()
    parts = [HEAD, *_summary(found, where), HOW]
    if absent:
        parts.append(f"Not run yet: {', '.join(absent)}.\n")
    parts += [_section(EXPERIMENTS[name], stored, claims, where) for name, (stored, claims) in found.items()]
    write_text(page, "\n".join(parts))
    return absent


def _summary(found: Mapping[str, tuple[Stored, list[Claim]]], where: str) -> Iterator[str]:
    """Yield the message, a picture, and how many claims of each experiment hold."""
    rows, total = [], [0, 0]
    for name, (_, claims) in found.items():
        n_held = sum(claim.holds for claim in claims)
        counts = [n_held, len(claims) - n_held]
        total = [one + more for one, more in zip(total, counts, strict=True)]
        rows.append([f"[{EXPERIMENTS[name].title}](#{name})", EXPERIMENTS[name].reproduces, *counts])
    yield (
        f"Of {sum(total)} claims, those of the paper and comparisons with other libraries, {total[0]} hold. "
        "Each section ends with its claims, those that do not hold first, with what was measured.\n"
    )
    if _OPENING in found:
        title = EXPERIMENTS[_OPENING].title
        yield f"[![{title}]({where}/{_OPENING}.png)](#{_OPENING})\n"
    head = ["experiment", "reproduces", "claims that hold", "that do not"]
    yield f"{table(head, [*rows, ['all', '', *total]])}\n"


def _listed(claims: Sequence[Claim]) -> Iterator[str]:
    """Yield a list of claims that do not hold, and one of those that do; places can be unfolded."""
    for holds, said in ((False, "Does not hold"), (True, "Holds")):
        lines = []
        for claim in claims:
            if claim.holds is holds:
                fold = f" <details><summary>where</summary>{claim.places}</details>" if claim.places else ""
                lines.append(f"- {claim.text}: {claim.numbers}.{fold}")
        if lines:
            yield f"**{said}.**\n\n" + "\n".join(lines)


def _section(experiment: Experiment, stored: Stored, claims: Sequence[Claim], where: str) -> str:
    seed = stored.results.get("seed", 0)
    parts = [
        f'## <a id="{experiment.name}"></a>{experiment.title}',
        f"Reproduces {experiment.reproduces}. {experiment.how}",
        f"![{experiment.title}]({where}/{experiment.name}.png)",
        experiment.tables(stored.results),
        *_listed(claims),
        *([f"**Why it differs.** {experiment.why}"] if experiment.why else []),
        f"`{stored.command}`: {stored.seconds:.0f} s; seeds from {seed}. {facts(stored.environment)}.",
    ]
    return "\n\n".join(parts) + "\n"
