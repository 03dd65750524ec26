"""Results as Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from benchmarks.summary import Bar, Point, Row

BAR_WORDS = {True: "reached", False: "**missed**", None: "not measured"}


def rows_table(rows: Sequence[Row]) -> str:
    """Write methods and their medians."""
    lines = [
        "| method | features | test AUC | fit seconds (range) | peak MB above the input "
        "| leaves per tree | predict test rows, ms | predict one row, µs |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        variant = f" ({row.variant})" if row.variant else ""
        peak = "not known" if row.peak_mb is None else f"{row.peak_mb:.0f}"
        lines.append(
            f"| {row.label}{variant} | {row.n_features} | {row.score:.4f} "
            f"| {row.seconds:.2f} ({row.fastest:.2f}–{row.slowest:.2f}) | {peak} | {row.mean_leaves:.1f} "
            f"| {row.predict_batch * 1e3:.1f} | {row.predict_row * 1e6:.0f} |"
        )
    return "\n".join(lines)


def bars_table(bars: Sequence[Bar], places: Sequence[str] = ()) -> str:
    """Write bars, with the data set of each in front if given."""
    first = ["data"] if places else []
    lines = [_line([*first, "what", "wanted", "measured", ""]), "|---" * (len(first) + 4) + "|"]
    for k, bar in enumerate(bars):
        place = [places[k]] if places else []
        lines.append(_line([*place, bar.what, bar.wanted, bar.measured, BAR_WORDS[bar.reached]]))
    return "\n".join(lines)


def frontier_table(points: Sequence[Point]) -> str:
    """Write mean score and range over splits, a line per method and a column per size.

    The number of features is added where it is not the wanted one.
    """
    sizes = sorted({point.size for point in points})
    lines = [_line(["test AUC at", *map(str, sizes)]), "|---" + "|---:" * len(sizes) + "|"]
    for method in dict.fromkeys(point.method for point in points):
        cells = [_cell([p for p in points if p.method == method and p.size == size]) for size in sizes]
        lines.append(_line([method, *cells]))
    return "\n".join(lines)


def _cell(points: Sequence[Point]) -> str:
    if not points:
        return "–"
    scores = [point.score for point in points]
    text = f"{mean(scores):.4f}"
    if len(scores) > 1:
        text += f" ({min(scores):.4f}–{max(scores):.4f})"
    n_features = mean(point.n_features for point in points)
    return text if n_features == points[0].size else f"{text} with {n_features:.4g}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
