"""Repeated runs summed up per method, and the bars they are held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.jobs import Job, Record

Run = tuple[Job, Record]


@dataclass(frozen=True)
class Row:
    """A method over its repeats: medians, in the faster layout where it has several.

    Attributes
    ----------
    steady : bool
        Whether every repeat gave the same features, leaves and AUC.
    """

    label: str
    model: str
    penalty: float | None
    layout: str | None
    seconds: float
    fastest: float
    slowest: float
    n_features: int
    auc: float
    mean_leaves: float
    peak_mb: float | None
    n_runs: int
    steady: bool


@dataclass(frozen=True)
class Bar:
    """Something to reach, and what was measured."""

    what: str
    wanted: str
    measured: str
    reached: bool


def sum_up(runs: Sequence[Run]) -> list[Row]:
    """Return one row per method, in the order of their first runs."""
    by_label: dict[str, dict[str | None, list[Run]]] = {}
    for job, record in runs:
        by_label.setdefault(job.label, {}).setdefault(job.layout, []).append((job, record))
    return [
        min((_row(repeats) for repeats in layouts.values()), key=lambda row: row.seconds)
        for layouts in by_label.values()
    ]


def _row(repeats: Sequence[Run]) -> Row:
    job = repeats[0][0]
    records = [record for _, record in repeats]
    seconds = [record.seconds for record in records]
    peaks = [record.peak_mb for record in records if record.peak_mb is not None]
    results = {(tuple(r.features_by_gain), r.mean_leaves, r.auc) for r in records}
    return Row(
        label=job.label,
        model=job.model,
        penalty=job.penalty,
        layout=job.layout,
        seconds=median(seconds),
        fastest=min(seconds),
        slowest=max(seconds),
        n_features=round(median(record.n_features for record in records)),
        auc=median(record.auc for record in records),
        mean_leaves=median(record.mean_leaves for record in records),
        peak_mb=median(peaks) if peaks else None,
        n_runs=len(records),
        steady=len(results) == 1,
    )


def ratio_bar(ours: Row, theirs: Row, most: float) -> Bar:
    """Hold our fit time against another's."""
    ratio = ours.seconds / theirs.seconds
    return Bar(
        f"fit time: {ours.label} / {theirs.label}",
        f"≤ {most:g}",
        f"{ratio:.3f} ({ours.seconds:.2f} s / {theirs.seconds:.2f} s)",
        ratio <= most,
    )


def quality_bar(rows: Sequence[Row], least_auc: float, most_features: int) -> Bar:
    """Hold the best of some models with few enough features against an AUC."""
    small = [row for row in rows if row.n_features <= most_features]
    best = max(small, key=lambda row: row.auc, default=None)
    return Bar(
        f"test AUC with ≤ {most_features} features",
        f"≥ {least_auc:.4f}",
        "no model was so small" if best is None else f"{best.auc:.4f} with {best.n_features} ({best.label})",
        best is not None and best.auc >= least_auc,
    )


def rows_table(rows: Sequence[Row]) -> str:
    """Write rows as a Markdown table."""
    lines = [
        "| method | features | test AUC | fit seconds (range) | leaves per tree | peak MB above the input |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        layout = f" ({row.layout.replace('_', '-')})" if row.layout else ""
        peak = "not known" if row.peak_mb is None else f"{row.peak_mb:.0f}"
        lines.append(
            f"| {row.label}{layout} | {row.n_features} | {row.auc:.4f} "
            f"| {row.seconds:.2f} ({row.fastest:.2f}–{row.slowest:.2f}) | {row.mean_leaves:.1f} | {peak} |"
        )
    return "\n".join(lines)


def bars_table(bars: Sequence[Bar]) -> str:
    """Write bars as a Markdown table."""
    lines = ["| what | wanted | measured | |", "|---|---|---|---|"]
    lines.extend(
        f"| {bar.what} | {bar.wanted} | {bar.measured} | {'reached' if bar.reached else '**missed**'} |"
        for bar in bars
    )
    return "\n".join(lines)
