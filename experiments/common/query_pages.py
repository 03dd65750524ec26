"""Tables, bars and claims of `ranking` and `classification`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from experiments.common.record import Claim, Results
from measuring.figures import panels, style
from measuring.markdown import table

NEAR = 0.002
"""Differences of means up to this are called a tie: the paper's own are of this size."""


def paper_table(
    numbers: Mapping[str, Mapping[str, Sequence[float]]], measures: Sequence[str], methods: Sequence[str]
) -> str:
    """Write the paper's table, whose data nobody else has."""
    rows = [
        [f"the paper's {name}", measure, *(f"{value:.3f}" for value in of_data[measure])]
        for name, of_data in numbers.items()
        for measure in measures
    ]
    return "The paper, on data of its authors:\n\n" + table(["data", "measure", *methods], rows)


def bars(results: Results, methods: Sequence[str], measure: str) -> Figure:
    """Draw the mean of a measure by method, with its range over folds, a panel per data set."""
    data = results["data"]
    drawing, axes = panels(1, len(data), width=5)
    looks = style(methods)
    for one, (name, task) in zip(axes[0], data.items(), strict=True):
        for at, method in enumerate(methods):
            values = task["methods"][method][measure]
            mean = float(np.mean(values))
            beyond = [[mean - min(values)], [max(values) - mean]]
            one.bar(at, mean, yerr=beyond, color=looks[method]["color"], capsize=3, label=method)
        lowest = min(min(task["methods"][method][measure]) for method in methods)
        one.set(title=name, ylabel=measure, ylim=(max(0.0, lowest - 0.1), None))
        one.set_xticks([])
    axes[0, 0].legend(fontsize=7, loc="lower left")
    return drawing


def against_peers(
    results: Results, method: str, peers: Sequence[str], measures: Mapping[str, bool]
) -> list[Claim]:
    """Compare the means of one method with the best other's; `measures` tells whether more is better."""
    found = []
    for name, task in results["data"].items():
        for measure, more_is_better in measures.items():
            means = {one: float(np.mean(task["methods"][one][measure])) for one in (method, *peers)}
            best = (max if more_is_better else min)(peers, key=lambda peer: means[peer])
            behind = (means[best] - means[method]) * (1 if more_is_better else -1)
            found.append(
                Claim(
                    f"{name}: {method} is not behind {' and '.join(peers)} in {measure} by more than {NEAR}",
                    behind <= NEAR,
                    f"{means[method]:.4f} against {means[best]:.4f} ({best})",
                )
            )
    return found
