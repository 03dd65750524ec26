"""Results as Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from benchmarks.comparison.summary import Bar, Point, Row
from measuring.markdown import number, spread, table

BAR_WORDS = {True: "reached", False: "**missed**", None: "not measured"}


def rows_table(rows: Sequence[Row]) -> str:
    """Write methods and their medians."""
    head = [
        *("method", "features", "test AUC", "fit seconds (range)", "peak MB above the input"),
        *("leaves per tree", "predict test rows, ms", "predict one row, µs"),
    ]
    return table(head, map(_cells, rows), numbers=True)


def _cells(row: Row) -> list[object]:
    return [
        f"{row.label} ({row.variant})" if row.variant else row.label,
        row.n_features,
        number(row.score),
        f"{row.seconds:.2f} ({row.fastest:.2f}–{row.slowest:.2f})",
        "not known" if row.peak_mb is None else number(row.peak_mb, 0),
        number(row.mean_leaves, 1),
        number(row.predict_batch * 1e3, 1),
        number(row.predict_row * 1e6, 0),
    ]


def bars_table(bars: Sequence[Bar], places: Sequence[str] = ()) -> str:
    """Write bars, with the data set of each in front if given."""
    head = ["what", "wanted", "measured", ""]
    rows = [[bar.what, bar.wanted, bar.measured, BAR_WORDS[bar.reached]] for bar in bars]
    if not places:
        return table(head, rows)
    return table(["data", *head], [[place, *row] for place, row in zip(places, rows, strict=True)])


def frontier_table(points: Sequence[Point]) -> str:
    """Write mean score and range over splits, a line per method and a column per size.

    The number of features is added where it is not the wanted one.
    """
    sizes = sorted({point.size for point in points})
    rows = [
        [method, *(_at_size([p for p in points if p.method == method and p.size == size]) for size in sizes)]
        for method in dict.fromkeys(point.method for point in points)
    ]
    return table(["test AUC at", *map(str, sizes)], rows, numbers=True)


def _at_size(points: Sequence[Point]) -> str | None:
    if not points:
        return None
    text = spread([point.score for point in points], dash="–")
    n_features = mean(point.n_features for point in points)
    return text if n_features == points[0].size else f"{text} with {n_features:.4g}"
