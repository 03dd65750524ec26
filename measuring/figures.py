"""What figures share: colours by method, and files that depend on nothing but the results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

_CYCLE = (
    *("#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd"),
    *("#8c564b", "#e377c2", "#17becf", "#bcbd22", "#7f7f7f"),
)
_MARKERS = "osD^vPX*<h"


def panels(rows: int, columns: int, width: float = 4.2, height: float = 3.4) -> tuple[Figure, Any]:
    """Return a figure and its axes, shape (rows, columns)."""
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def style(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a colour and a marker for each name."""
    return {
        name: {"color": _CYCLE[k % len(_CYCLE)], "marker": _MARKERS[k % len(_MARKERS)]}
        for k, name in enumerate(names)
    }


def count_axis(axes: Any, label: str = "features") -> None:
    """Let whole numbers of something grow to the right, by factors, labelled in plain digits."""
    axes.set(xscale="log", xlabel=label)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())


def legend_below(drawing: Figure, axes: Any, columns: int, fontsize: int = 8) -> None:
    """Name the lines of the first panel, which all share, where the legend covers none of them."""
    names = axes[0, 0].get_legend_handles_labels()
    drawing.legend(*names, loc="outside lower center", ncols=columns, fontsize=fontsize)


def heat_map(axes: Any, values: Any, x: Sequence[object], y: Sequence[object], **options: Any) -> Any:
    """Draw a matrix with `y` upwards and `x` to the right; returns what a colour bar wants."""
    image = axes.imshow(values, origin="lower", aspect="auto", **options)
    axes.set_xticks(range(len(x)), [str(one) for one in x])
    axes.set_yticks(range(len(y)), [str(one) for one in y])
    return image


def save(figure: Figure, path: Path, dpi: int = 110) -> None:
    """Write `path` with endings .png and .svg; the same results give the same SVG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path.with_suffix(".png"), dpi=dpi, metadata={"Software": None})
    with matplotlib.rc_context({"svg.hashsalt": "gtgbm"}):
        figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})


def is_blank(pixels: Any) -> bool:
    """Whether an image, shape (height, width, channels), has the same colour nearly everywhere."""
    colours = np.asarray(pixels)[..., :3].reshape(-1, 3)
    return bool(np.mean(np.any(colours != colours[0], axis=1)) < 0.005)
