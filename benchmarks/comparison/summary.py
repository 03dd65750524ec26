"""Repeated runs summed up per method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from statistics import median

from measuring.jobs import Job, Record

Run = tuple[Job, Record]


@dataclass(frozen=True)
class Row:
    """A method over its repeats: medians, of the fastest variant where it has several.

    Attributes
    ----------
    variant : str
        Layout and encoding that were the fastest.
    seconds, fastest, slowest : float
        Median and range.
    steady : bool
        Whether every repeat gave the same features, leaves and score.
    """

    method: str
    label: str
    penalty: float | None
    variant: str
    seconds: float
    fastest: float
    slowest: float
    n_features: int
    score: float
    mean_leaves: float
    peak_mb: float | None
    predict_batch: float
    predict_row: float
    n_runs: int
    steady: bool


@dataclass(frozen=True)
class Point:
    """A model of about a wanted size on one split.

    Attributes
    ----------
    size : int
        Wanted number of features.
    seed : int
        Of the split and the model.
    """

    method: str
    size: int
    seed: int
    n_features: int
    score: float
    penalty: float | None = None


@dataclass(frozen=True)
class Found:
    """What was found on one data set; `unfinished` holds the seconds of fits that were stopped, by label."""

    rows: Sequence[Row]
    points: Sequence[Point] = ()
    unfinished: Mapping[str, float] = field(default_factory=dict)

    def of(self, method: str, penalty: float | None = None) -> list[Row]:
        """Return the rows of a method, at one penalty if it is given."""
        return [row for row in self.rows if row.method == method and penalty in (None, row.penalty)]

    def first(self, method: str, penalty: float | None = None) -> Row | None:
        """Return the first row of a method, None if it was not measured."""
        return next(iter(self.of(method, penalty)), None)


@dataclass(frozen=True)
class Bar:
    """Something to reach, and what was measured; `reached` is None where it could not be measured."""

    what: str
    wanted: str
    measured: str
    reached: bool | None


def sum_up(runs: Sequence[Run]) -> list[Row]:
    """Return one row per method and setting, in the order of their first runs."""
    by_label: dict[str, dict[str, list[Run]]] = {}
    for job, record in runs:
        by_label.setdefault(job.label, {}).setdefault(job.variant, []).append((job, record))
    return [
        min((_row(repeats) for repeats in variants.values()), key=lambda row: row.seconds)
        for variants in by_label.values()
    ]


def worth_repeating(runs: Sequence[Run], most: float = 1.2, once_above: float = inf) -> list[Job]:
    """Return the jobs without variants that are clearly slower than another of the same method.

    Fits that took more than `once_above` seconds are left out too.
    """
    best = {row.label: row.seconds for row in sum_up(runs)}
    return [job for job, record in runs if record.seconds <= min(most * best[job.label], once_above)]


def _row(repeats: Sequence[Run]) -> Row:
    job = repeats[0][0]
    records = [record for _, record in repeats]
    seconds = [record.seconds for record in records]
    peaks = [record.peak_mb for record in records if record.peak_mb is not None]
    results = {(tuple(r.features_by_gain), r.mean_leaves, r.score) for r in records}
    return Row(
        method=job.method,
        label=job.label,
        penalty=job.penalty,
        variant=job.variant,
        seconds=median(seconds),
        fastest=min(seconds),
        slowest=max(seconds),
        n_features=round(median(record.n_features for record in records)),
        score=median(record.score for record in records),
        mean_leaves=median(record.mean_leaves for record in records),
        peak_mb=median(peaks) if peaks else None,
        predict_batch=median(record.predict_batch for record in records),
        predict_row=median(record.predict_row for record in records),
        n_runs=len(records),
        steady=len(results) == 1,
    )
