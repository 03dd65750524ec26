"""Plots as inline SVG in the colours of the page."""

from __future__ import annotations

import html
import io
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gtgbm.plots import COLOURS

_INK = "#1c1f24"
"""Placeholder for the text colour of the page, which differs between the light and the dark scheme."""
DARK_COLOURS = ("#4aa3df", "#f0894a", "#35c39b", "#dd9cc0", "#f0b840", "#8fd0f5", "#a99add", "#9a9a9a")
"""Replacements of the plot colours in the dark scheme."""


@dataclass(frozen=True)
class Picture:
    """A plot with its title and caption.

    Attributes
    ----------
    svg : str
        Markup, already escaped.
    title : str
        Heading and text alternative.
    caption : str
    is_wide : bool
        Whether it keeps its size on narrow screens and is scrolled there.
    """

    svg: str
    title: str
    caption: str
    is_wide: bool


def picture(
    draw: Callable[[Any], Any],
    title: str,
    caption: str = "",
    *,
    size: tuple[float, float] = (4.6, 3.2),
    grid: tuple[int, int] = (1, 1),
) -> Picture:
    """Let ``draw(ax)`` draw into axes of `size` inches; into an array of axes if the `grid` has several."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    settings: Any = {
        "svg.fonttype": "none",  # keeps text as text, which can be searched and is smaller than paths
        "svg.hashsalt": title,  # makes ids differ between the plots of a page, but not between runs
        "font.size": 10,
        "legend.fontsize": 9,
        "figure.facecolor": "none",
        "axes.facecolor": "none",
    } | dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), _INK)
    out = io.StringIO()
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # The browser uses its own fonts, so it does not matter which letters matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.subplots(*grid))
        # Not savefig, which lays out and draws everything twice.
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(out)
    return Picture(_inline(out.getvalue(), title, size), title, caption, size[0] > 6.0)


def _inline(svg: str, title: str, size: tuple[float, float]) -> str:
    """Convert an SVG file to markup for an HTML page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    head, end, body = svg.partition(">")
    head = re.sub(r' (xmlns(:\w+)?|version|width|height)="[^"]*"', "", head)
    width = round(1.2 * size[0] * 96)
    label = html.escape(title)
    head = head.replace("<svg", f'<svg role="img" aria-label="{label}" style="max-width:{width}px"', 1)
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    # Only attributes written by matplotlib match: names of columns are escaped text between tags.
    body = re.sub(r'(style="[^"]*?font: [\d.]+px )[^;"]*', r"\1var(--sans)", body)
    body = re.sub(r'style="[^"]*"', _with_page_colours, body)
    return head + end + body


def _with_page_colours(style: re.Match[str]) -> str:
    text = style.group().replace(_INK, "currentColor")
    for k, colour in enumerate(COLOURS):
        text = text.replace(colour, f"var(--c{k})")
    return text
