"""Test score against number of features: every selecting method at the same sizes and splits."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from benchmarks.comparison.first_round import Fit, selecting_base
from benchmarks.comparison.plan import FrontierPlan, Plan
from benchmarks.comparison.summary import Point
from measuring.jobs import Job, Record, leaves_of
from measuring.methods import (
    LGB_ALL,
    LGB_TOP,
    cegb_job,
    lightgbm_job,
    oracle_job,
    our_job,
    peer_job,
)

_NEAR = 0.02
"""A model whose size is off by no more than this share has the wanted size."""
_STEP = 5.0
"""Factor between penalties while all models so far are too large, or all too small."""
_PENALTIES = (1e-7, 0.5)


def next_penalty(sizes: dict[float, int], wanted: int, start: float) -> float | None:
    """Return the penalty to try for a wanted number of features; None if one of those tried will do.

    Parameters
    ----------
    sizes : dict
        Penalties tried, and numbers of features they gave.
    start : float
        The first one to try.
    """
    if not sizes:
        return start
    if any(abs(size - wanted) <= _NEAR * wanted for size in sizes.values()):
        return None
    too_many = [penalty for penalty, size in sizes.items() if size > wanted]
    too_few = [penalty for penalty, size in sizes.items() if size < wanted]
    low, high = _PENALTIES
    if not too_few:
        guess = max(too_many) * _STEP
        return guess if guess <= high else None
    if not too_many:
        guess = min(too_few) / _STEP
        return guess if guess >= low else None
    left, right = max(too_many), min(too_few)
    if left >= right * (1 - 1e-6):
        return None  # sizes jump over the wanted one, or do not fall with the penalty
    # Sizes fall about like a power of the penalty.
    a, b = math.log(sizes[left]), math.log(max(sizes[right], 1))
    share = min(0.9, max(0.1, (a - math.log(wanted)) / (a - b)))
    return math.exp(math.log(left) + share * (math.log(right) - math.log(left)))


@dataclass
class PenaltySearch:
    """Looks for penalties that give wanted sizes; what it tried for one size helps with the next."""

    fit: Callable[[float], Record | None]
    start: float
    tries: int

    def __post_init__(self) -> None:
        self.tried: dict[float, Record] = {}

    def nearest(self, wanted: int) -> tuple[float, Record] | None:
        """Return the penalty and model whose size is nearest to the wanted one."""
        for _ in range(self.tries):
            sizes = {penalty: record.n_features for penalty, record in self.tried.items()}
            penalty = next_penalty(sizes, wanted, self.start)
            if penalty is None:
                break
            record = self.fit(penalty)
            if record is None:
                return None
            self.tried[penalty] = record
        return min(self.tried.items(), key=lambda pair: abs(pair[1].n_features - wanted))


def measure_frontier(
    plan: Plan, frontier: FrontierPlan, base: Job, fit: Fit, points: list[Point], save: Callable[[], None]
) -> None:
    """Add the points that are not there yet."""
    done = {(point.method, point.size, point.seed) for point in points}

    def add(method: str, size: int, seed: int, record: Record | None, penalty: float | None = None) -> None:
        if record is not None:
            points.append(Point(method, size, seed, record.n_features, record.score, penalty))
            save()

    for seed in range(frontier.seeds):
        start = replace(base, seed=seed, data=replace(base.data, seed=seed))
        leaves: int | None = None
        for model in frontier.models:
            method = our_job(start, model, plan.penalty).method
            for size in frontier.sizes:
                if (method, size, seed) in done:
                    continue
                used, record = _ours(start, model, plan.penalty, size, frontier.tries, fit)
                if record is not None:
                    leaves = leaves or leaves_of(record)
                add(method, size, seed, record, used)
        peer = selecting_base(plan, replace(start, n_leaves=leaves or _leaves_again(plan, start, fit)))
        for key in frontier.peers:
            method = _peer_method(peer, key)
            wanted = [size for size in frontier.sizes if (method, size, seed) not in done]
            for size, record, penalty in _peer_models(peer, key, wanted, plan.penalty, frontier.tries, fit):
                add(method, size, seed, record, penalty)


def _leaves_again(plan: Plan, base: Job, fit: Fit) -> int:
    # Our points were measured before an interruption, or failed.
    return leaves_of(fit(our_job(base, "auto", plan.penalty)))


def _ours(
    base: Job, model: str, penalty: float, size: int, tries: int, fit: Fit
) -> tuple[float, Record | None]:
    """Fit with a hard limit, at the given penalty or the first fraction of it that buys as many features."""
    for _ in range(tries):
        record = fit(our_job(base, model, penalty, size))
        if record is None or record.n_features >= size:
            break
        penalty /= _STEP
    return penalty, record


def _peer_method(base: Job, key: str) -> str:
    if key == "lgb-top":
        return LGB_TOP
    return (cegb_job(base, 0.0) if key == "cegb" else peer_job(base, key, 1, 0.0)).method


def _peer_models(
    base: Job, key: str, sizes: list[int], penalty: float, tries: int, fit: Fit
) -> list[tuple[int, Record | None, float | None]]:
    if not sizes:
        return []
    if key == "lgb-top":
        # One fit on all columns ranks them for every size; time does not matter here.
        ranking = fit(lightgbm_job(base, LGB_ALL, "all"))
        best = [] if ranking is None else ranking.features_by_gain
        return [(size, fit(oracle_job(base, best, size)), None) for size in sizes if best]
    if key in ("cegb", "cat-penalty"):
        make = cegb_job if key == "cegb" else lambda base, penalty: peer_job(base, key, 0, penalty)
        search = PenaltySearch(lambda penalty: fit(make(base, penalty)), penalty, tries)
        found = [(size, search.nearest(size)) for size in sizes]
        return [(size, pair[1], pair[0]) for size, pair in found if pair is not None]
    return [(size, fit(peer_job(base, key, size, penalty)), None) for size in sizes]
