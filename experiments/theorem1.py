"""Theorem 1: how often p random subsets isolate every relevant feature."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from experiments.common.record import Claim, Context, Experiment, Results
from measuring.figures import panels, style
from measuring.markdown import table

COLUMNS = 1000
RELEVANT = (1, 2, 3, 5, 10, 20)
DELTAS = (0.5, 0.3, 0.1, 0.05, 0.01)
SEED = 0


def n_subsets(s: int, delta: float) -> int:
    """Return the theorem's number of subsets, p = ⌈e s ln(s / δ)⌉."""
    return max(1, math.ceil(math.e * s * math.log(s / delta)))


def memberships(d: int, s: int, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw which of s relevant features fall into random subsets of ⌈d / s⌉ out of d features.

    One feature after the other is let in with the chance that is left, which is a draw without replacement.

    Returns
    -------
    ndarray of bool, shape (*shape, s)
    """
    inside = np.empty((*shape, s), dtype=np.bool_)
    free = np.full(shape, -(-d // s))
    for k in range(s):
        inside[..., k] = rng.random(shape) * (d - k) < free
        free -= inside[..., k]
    return inside


def frequency(d: int, s: int, p: int, repeats: int, rng: np.random.Generator) -> float:
    """Return how often each relevant feature is alone in at least one of p subsets."""
    inside = memberships(d, s, (repeats, p), rng)
    alone = inside & (inside.sum(axis=2, keepdims=True) == 1)
    return float(alone.any(axis=1).all(axis=1).mean())


def run(context: Context) -> Results:
    """Simulate every pair of s and δ, with p subsets and with a third of them."""
    repeats = context.choose(1000, 4000)
    rng = np.random.default_rng(SEED)
    cells = []
    for s in RELEVANT:
        for delta in DELTAS:
            p = n_subsets(s, delta)
            few = max(1, p // 3)
            cells.append(
                {
                    "s": s,
                    "delta": delta,
                    "p": p,
                    "frequency": frequency(COLUMNS, s, p, repeats, rng),
                    "with_a_third": frequency(COLUMNS, s, few, repeats, rng),
                }
            )
    return {"columns": COLUMNS, "repeats": repeats, "seed": SEED, "cells": cells}


def tables(results: Results) -> str:
    """One row per s, one column per δ."""
    head = ["s", *(f"δ = {delta}: wanted ≥ {1 - delta:g}" for delta in DELTAS)]
    rows = []
    for s in RELEVANT:
        of_s = [cell for cell in results["cells"] if cell["s"] == s]
        rows.append([s, *(f"{cell['frequency']:.4f} (p = {cell['p']})" for cell in of_s)])
    return table(head, rows)


def figure(results: Results) -> Figure:
    """Frequency against 1 − δ, one line per s, with p subsets and with a third of them."""
    drawing, axes = panels(1, 2)
    looks = style([str(s) for s in RELEVANT])
    for at, key, title in (
        (0, "frequency", "p = ⌈e s ln(s/δ)⌉ subsets"),
        (1, "with_a_third", "p / 3 subsets"),
    ):
        one = axes[0, at]
        for s in RELEVANT:
            of_s = [cell for cell in results["cells"] if cell["s"] == s]
            one.plot(
                [1 - c["delta"] for c in of_s], [c[key] for c in of_s], label=f"s = {s}", **looks[str(s)]
            )
        one.plot([0.5, 1], [0.5, 1], color="black", linestyle="--", label="1 − δ")
        one.set(xlabel="wanted, 1 − δ", title=title, ylim=(-0.02, 1.03))
        one.grid(alpha=0.25)
    axes[0, 0].set_ylabel("frequency of isolation")
    axes[0, 1].legend(fontsize=8)
    return drawing


def claims(results: Results) -> list[Claim]:
    """Hold frequencies against 1 − δ, less the error of the simulation itself."""
    repeats = results["repeats"]
    slack = [
        cell["frequency"] - (1 - cell["delta"]) + 3 * math.sqrt(cell["delta"] * (1 - cell["delta"]) / repeats)
        for cell in results["cells"]
    ]
    least = min(results["cells"], key=lambda cell: cell["frequency"] - (1 - cell["delta"]))
    too_few = [cell for cell in results["cells"] if cell["with_a_third"] < 1 - cell["delta"]]
    n_cells = len(results["cells"])
    return [
        Claim(
            "With p = ⌈e s ln(s/δ)⌉ subsets every relevant feature is alone in one with frequency ≥ 1 − δ",
            min(slack) >= 0,
            f"nearest to the bound: s = {least['s']}, δ = {least['delta']}: {least['frequency']:.4f} "
            f"(wanted ≥ {1 - least['delta']:g}); {n_cells} pairs of s and δ, {repeats:,} draws each",
            required=True,
        ),
        Claim(
            "The bound is not idle: a third of the subsets misses it for s ≥ 2",
            all(cell["with_a_third"] < 1 - cell["delta"] for cell in results["cells"] if cell["s"] > 1),
            f"missed for {len(too_few)} of {n_cells} pairs",
        ),
    ]


EXPERIMENT = Experiment(
    name="theorem1",
    title="Theorem 1: isolation",
    reproduces="Theorem 1",
    how=(
        f"{COLUMNS:,} features, s of them relevant; p subsets of ⌈d/s⌉ features drawn as the paper says. "
        "Only the draws are simulated here, no model is fitted; the library's own draws are held against the "
        "same bound by `tests/test_theorem1.py`. The paper has a proof and no numbers."
    ),
    run=run,
    tables=tables,
    figure=figure,
    claims=claims,
)
