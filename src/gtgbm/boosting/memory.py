"""Estimates how much memory a fit needs, before it reads the table."""

from __future__ import annotations

from pathlib import Path

from gtgbm.boosting.problem import Problem
from gtgbm.boosting.searches import SEARCHES
from gtgbm.exact import LANES
from gtgbm.search import FEW_COLUMNS, n_trend_rows

_OF_ROW = 48
_OF_SCORE = 40
_OF_WEIGHT = 16
"""Bytes of a row: order of rows and packed cells; scores, residuals, curvatures; whole-number weights."""
_FEATURES = 40
"""Features that are assumed where their number is not limited."""
_OF_SAMPLED = 10_000 + 8 * 255
"""Bytes of each column for screening codes and thresholds."""
_SELECTION_ROWS = 30_000
_BUFFERS = 250_000_000
"""What reading takes at most: decoded batches, values of sampled rows, and pyarrow's own memory."""
_STATM = Path("/proc/self/statm")
_PAGE = 4096


def check_memory(problem: Problem) -> None:
    """Raise an error if a fit needs more memory than ``memory_limit``."""
    limit = problem.settings.columns.memory_limit
    if limit is None:
        return
    parts = {what: n_bytes for what, n_bytes in needed_bytes(problem).items() if n_bytes}
    total = sum(parts.values())
    if total > limit:
        listing = ", ".join(f"{n_bytes:,} for {what}" for what, n_bytes in parts.items())
        raise ValueError(
            f"memory_limit={limit:,} bytes, but the fit needs about {total:,}: {listing}; raise the limit, "
            f"or lower {' or '.join(_remedies(problem))}"
        )


def needed_bytes(problem: Problem) -> dict[str, int]:
    """Return what a fit needs, by purpose."""
    settings, data = problem.settings, problem.data
    n, d = data.table.shape
    searched = int(settings.searched(d).shape[0])
    n_categorical = len(settings.categorical)
    limit = settings.prices.limits.count
    n_features = min(searched, _FEATURES if limit is None else limit) + n_categorical
    weights = 0 if data.targets.weights.are_equal else _OF_WEIGHT
    lanes = -(-max(n_features, 1) // LANES) * LANES
    name = settings.search.name
    bins_all = searched < FEW_COLUMNS if name == "auto" else SEARCHES[name].bins_all
    sampled = 0
    if not bins_all:
        n_test = min(n, settings.search.test_rows or n)
        sampled = searched * (n_test + n_trend_rows(searched, n, n_test) + _OF_SAMPLED)
    selected = 0
    if settings.prices.drops:
        # The rows, and those of them that are trained on, which are copied.
        selected = 2 * min(n, _SELECTION_ROWS) * d * data.table.dtype.itemsize
    return {
        "the process as it is": resident_bytes(),
        "rows": n * (_OF_ROW + _OF_SCORE * problem.loss.n_scores + weights),
        "binned columns of features": n * (lanes + (searched if bins_all else LANES)),
        "sampled rows of all columns": sampled,
        "rows that features are selected on": selected,
        "reading": _BUFFERS,
    }


def resident_bytes() -> int:
    """Return the memory that the process has now; 0 where the system does not tell."""
    try:
        return int(_STATM.read_text().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return 0


def _remedies(problem: Problem) -> list[str]:
    remedies = ["the number of rows (table.take)", "n_features_to_select"]
    if problem.settings.prices.drops:
        remedies.append("use selection='forward'")
    name = problem.settings.search.name
    if name != "auto" and SEARCHES[name].bins_all:
        remedies.append("use search='group-testing'")
    return remedies
