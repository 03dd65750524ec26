"""Data, parameters, timings and versions as lines of text."""

from __future__ import annotations

import inspect
import platform
import re
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

import numpy as np
import scipy
import sklearn

import gtgbm
from gtgbm.explain import n_rounds_of
from gtgbm.report.sample import Sample
from gtgbm.report.similarity import Similarity

Line = tuple[str, str]
"""A label and its value."""

_MOST_LINES = 12
"""Maximum number of classes or tasks with a line of their own."""


def number(value: Any, largest: float | None = None) -> str:
    """Format a number; NaN is a dash.

    Numbers of ordinary size have four decimals, others four significant digits. In a column of numbers, pass
    the `largest` of them: all get the decimals that it needs for four significant digits, or an exponent if
    these would be many.
    """
    if value != value:
        return "–"
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    if largest is not None and 0 < largest < 1e-4:
        return f"{value:.3g}"
    if largest is not None:
        return f"{value:.{3 - int(np.clip(np.floor(np.log10(largest)), -7, 3))}f}"
    return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 100 else f"{value:.4g}"


def breakable(name: Any) -> Any:
    """Allow line breaks in a name after characters such as underscores."""
    from markupsafe import Markup, escape

    parts = re.split(r"(?<=[_./:=-])", str(name))
    return Markup("<wbr>").join(escape(part) for part in parts)


def data_lines(sample: Sample, similarity: Similarity, classes: Sequence[Any]) -> list[Line]:
    """Describe the rows, columns and targets of a report."""
    n_columns = sample.X.shape[1]
    source, drawn = sample.source, f"{sample.n_rows:,}"
    if sample.n_rows < sample.n_total:
        drawn += f", drawn at random from {sample.n_total:,}"
    lines = [("Table", source.name)] if source.name else []
    lines += [
        ("Rows in this report", drawn),
        ("Used for training", {"held-out": "no", "training": "yes"}.get(source.use, "not known")),
        ("Columns", f"{n_columns:,}"),
        ("Constant columns", f"{np.count_nonzero(similarity.is_constant):,}"),
        ("Columns with missing values", f"{np.count_nonzero(similarity.n_missing):,}"),
        ("Missing values", f"{similarity.n_missing.sum() / (sample.n_rows * n_columns):.2%}"),
    ]
    return lines + _target_lines(sample, classes) + _group_lines(sample)


def _target_lines(sample: Sample, classes: Sequence[Any]) -> list[Line]:
    y = sample.rows.y[~np.isnan(sample.rows.y)]
    if sample.rows.kind in ("binary", "multiclass"):
        counts = np.bincount(y.astype(np.int64), minlength=len(classes))
        order = np.argsort(-counts, kind="stable")[:_MOST_LINES].tolist()
        lines = [(f"Class {classes[k]}", f"{counts[k]:,} ({counts[k] / y.shape[0]:.1%})") for k in order]
        if len(classes) > _MOST_LINES:
            lines.append(("Other classes", f"{len(classes) - _MOST_LINES:,}"))
        return lines
    low, middle, high = np.quantile(y, [0.0, 0.5, 1.0])
    return [
        ("Target: mean, standard deviation", f"{number(y.mean())}, {number(y.std())}"),
        ("Target: minimum, median, maximum", f"{number(low)}, {number(middle)}, {number(high)}"),
    ]


def _group_lines(sample: Sample) -> list[Line]:
    qid, lines = sample.rows.qid, []
    if qid is not None:
        lines.append(("Queries", f"{np.unique(qid).shape[0]:,}"))
    sizes = {name: place[0].shape[0] for name, place in sample.rows.rows_of_task.items()}
    lines += [(f"Rows of task {name}", f"{size:,}") for name, size in list(sizes.items())[:_MOST_LINES]]
    if len(sizes) > _MOST_LINES:
        lines.append(("Other tasks", f"{len(sizes) - _MOST_LINES:,}"))
    return lines


def setting_lines(model: Any) -> tuple[list[Line], list[Line]]:
    """Return the parameters that differ from their defaults, and those that do not."""
    known = inspect.signature(type(model)).parameters
    given: list[Line] = []
    usual: list[Line] = []
    for name, value in model.get_params(deep=False).items():
        is_usual = name in known and repr(known[name].default) == repr(value)
        (usual if is_usual else given).append((name, repr(value)))
    return given, usual


def training_lines(model: Any) -> list[Line]:
    """Describe the fit: rounds and search."""
    search = model.search_
    searches = list(search.values()) if isinstance(search, dict) else [search]
    lines = [("Model", type(model).__name__), ("Rounds of boosting", f"{n_rounds_of(model):,}")]
    lines += [
        (f"Search: {name}", getattr(name, "reason", ""))
        for name in dict.fromkeys(searches)
        if name is not None
    ]
    return lines


def timing_lines(model: Any) -> list[Line]:
    """Seconds of each stage of the fit, the longest first."""
    seconds = getattr(model, "timings_", {})
    order = sorted(seconds, key=lambda stage: -seconds[stage])
    return [(stage, f"{seconds[stage]:.3f} s") for stage in order]


def version_lines() -> list[Line]:
    """Return the versions of gtgbm, Python and libraries."""
    lines = [("gtgbm", gtgbm.__version__), ("Python", platform.python_version())]
    lines += [(module.__name__, module.__version__) for module in (np, scipy, sklearn)]
    now = datetime.now(timezone.utc)
    return [
        *lines,
        ("System", f"{platform.system()} {platform.machine()}"),
        ("Written", f"{now:%Y-%m-%d %H:%M} UTC"),
    ]
