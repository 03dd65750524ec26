"""Colours, axes and heat maps that all plots share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gtgbm.exact import F64

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6ab0", "#8c8c8c")
"""Distinguishable for colour-blind readers (after Okabe and Ito), on light and dark backgrounds."""
_MOST_SLANTED = 3
"""Slanted labels per inch of the figure's width, of which about 60% are the columns: more would overlap."""
_MOST_NUMBERS = 2
"""Cells with numbers per inch of the figure's width, of which about half are the cells."""
QUIET = "#8c8c8c"
"""Colour of reference lines, and of lines that are too many to distinguish."""


def axes_of(ax: Any, size: tuple[float, float]) -> tuple[Any, Any]:
    """Return `ax`, or new axes of `size` inches if it is None, and their figure."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError("plots need matplotlib: pip install 'gtgbm[plot]'") from error
        _, ax = plt.subplots(figsize=size, layout="constrained")
    return ax, ax.figure


def shades(palest: float = 0.0) -> Any:
    """Return a colour map from transparent or pale blue to full blue, for light and dark backgrounds."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    full = to_rgb(COLOURS[0])
    return LinearSegmentedColormap.from_list("gtgbm", [(*full, palest), (*full, 1.0)])


def heat_map(
    ax: Any,
    values: F64,
    rows: Sequence[str],
    columns: Sequence[str],
    label: str,
    *,
    largest: float = 1.0,
    palest: float = 0.0,
) -> Any:
    """Draw a matrix of numbers from 0 to `largest` (NaN is blank) with named rows and columns.

    The cells show their numbers if they are wide enough. `palest` is the opacity of a zero.
    """
    if not values.size:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "no feature was selected", ha="center", transform=ax.transAxes)
        return None
    image = ax.imshow(
        values, cmap=shades(palest), vmin=0.0, vmax=largest, aspect="auto", interpolation="nearest"
    )
    _name_ticks(ax, rows, columns)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if len(columns) <= min(_MOST_NUMBERS * ax.figure.get_figwidth(), 12):
        for i, row in enumerate(values):
            for j, value in enumerate(row):
                if value == value:
                    # White is readable on dark cells; elsewhere the default colour fits the page.
                    colour = {"color": "white"} if value > 0.55 * largest else {}
                    ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=8, **colour)
    else:
        bar = ax.figure.colorbar(image, ax=ax, fraction=0.04, pad=0.02)
        bar.set_label(label)
        bar.outline.set_visible(False)
    return image


def _name_ticks(ax: Any, rows: Sequence[str], columns: Sequence[str]) -> None:
    """Label rows and columns; if there are very many, only some of them, so that labels do not overlap."""
    every = 1 + (len(rows) - 1) // 60
    ax.set_yticks(range(0, len(rows), every), rows[::every])
    every = 1 + (len(columns) - 1) // 40
    names = columns[::every]
    # About ten letters per inch; a third of the width is used by the labels of rows and margins.
    is_short = max(map(len, names)) <= 6.5 * ax.figure.get_figwidth() / len(names)
    turned: dict[str, Any] = {} if is_short else {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    if not is_short and len(names) > _MOST_SLANTED * ax.figure.get_figwidth():
        turned = {"rotation": 90}
    ax.set_xticks(range(0, len(columns), every), names, **turned)


def plain_axes(ax: Any) -> None:
    """Remove the top and right spines, and draw a faint grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
