"""Growth curves: their results, exponents, plots and section of the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from measuring.cost import exponent
from measuring.files import write_json
from measuring.markdown import facts, number, table

GROWTH = "growth.json"
SWEEPS = ("columns", "rows", "owned")


@dataclass(frozen=True)
class GrowthPoint:
    """A fit; `at` is its place on the sweep's axis."""

    sweep: str
    method: str
    at: int
    seconds: float
    n_features: int
    score: float


@dataclass
class GrowthResults:
    """All sweeps measured so far.

    Attributes
    ----------
    skipped : dict
        Why a method's curve ends, by sweep and method.
    about : dict
        Machine and versions, by sweep.
    axes : dict
        What the axis shows, by sweep.
    """

    points: list[GrowthPoint] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    about: dict[str, dict[str, str]] = field(default_factory=dict)
    axes: dict[str, str] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Write to a file."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> GrowthResults:
        """Read what ``write`` wrote."""
        content = json.loads(path.read_text(encoding="utf-8"))
        content["points"] = [GrowthPoint(**point) for point in content["points"]]
        return cls(**content)

    def curves(self, sweep: str) -> dict[str, list[GrowthPoint]]:
        """Return the points of a sweep by method, in the order of the axis."""
        found: dict[str, list[GrowthPoint]] = {}
        # A fit that bought nothing has no place on a logarithmic axis.
        kept = (point for point in self.points if point.sweep == sweep and point.at > 0)
        for point in sorted(kept, key=lambda p: p.at):
            found.setdefault(point.method, []).append(point)
        return found


def growth_section(folder: Path, docs: Path) -> str:
    """Draw the plots into ``docs/images`` and write the section; empty if nothing was measured."""
    path = folder / GROWTH
    if not path.is_file():
        return ""
    results = GrowthResults.read(path)
    parts = ["## Growth", "Fit seconds of one run each. The exponent is the slope in the logarithms of both."]
    for sweep in SWEEPS:
        curves, axis = results.curves(sweep), results.axes.get(sweep, sweep)
        if not curves:
            continue
        plot(curves, axis, docs / "images" / f"growth-{sweep}")
        parts += [
            f"### {axis[0].upper()}{axis[1:]}",
            f"![Fit seconds against {axis}](images/growth-{sweep}.svg)",
        ]
        parts.append(_table(curves))
        notes = [f"{key}: {why}" for key, why in results.skipped.items() if key.startswith(f"{sweep}: ")]
        notes.append(facts(results.about.get(sweep, {})))
        parts.append("\n".join(f"- {note}" for note in notes if note))
    return "\n\n".join(parts) + "\n"


def _table(curves: dict[str, list[GrowthPoint]]) -> str:
    places = sorted({point.at for curve in curves.values() for point in curve})
    rows = []
    for method, curve in curves.items():
        at = {point.at: number(point.seconds, 2) for point in curve}
        rows.append([method, *map(at.get, places), number(_slope(curve), 2)])
    return table(["", *(f"{place:,}" for place in places), "exponent"], rows, numbers=True)


def _slope(curve: Sequence[GrowthPoint]) -> float | None:
    return exponent([point.at for point in curve], [point.seconds for point in curve])


def plot(curves: dict[str, list[GrowthPoint]], axis: str, path: Path) -> None:
    """Draw curves with logarithmic axes to `path` with endings .png and .svg."""
    # Only here: tables need no plotting library.
    from matplotlib.ticker import LogFormatter

    from measuring.figures import panels, save

    figure, ((axes,),) = panels(1, 1, width=7, height=4.5)
    for marker, (method, curve) in zip("osD^v", curves.items(), strict=False):
        at, seconds = [point.at for point in curve], [point.seconds for point in curve]
        slope = _slope(curve)
        label = method if slope is None else f"{method} (exponent {slope:.2f})"
        if len(curve) == 1:
            axes.axhline(seconds[0], linestyle="--", color="gray", label=label)
        else:
            axes.plot(at, seconds, marker=marker, label=label)
    axes.set(xscale="log", yscale="log", xlabel=axis, ylabel="fit seconds")
    for one in (axes.xaxis, axes.yaxis):
        one.set_major_formatter("{x:,g}")
        one.set_minor_formatter(LogFormatter(minor_thresholds=(1.5, 0.6)))
    axes.grid(visible=True, which="both", alpha=0.25)
    axes.legend()
    save(figure, path, dpi=120)
