"""Plots of a selection path: score against the number of features, and how often features are selected."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtgbm.plots.names import shown
from gtgbm.plots.style import COLOURS, QUIET, axes_of, heat_map, plain_axes
from gtgbm.selection import SelectionPath

_MOST_ROWS = 40
"""Features that the heat map shows: those selected most often."""


class SelectionPathDisplay:
    """Cross-validated score against the number of features, with one standard error on both sides.

    Parameters
    ----------
    path : SelectionPath

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
    """

    def __init__(self, path: SelectionPath) -> None:
        self.path = path

    @classmethod
    def from_path(cls, path: SelectionPath, *, ax: Any = None) -> SelectionPathDisplay:
        """Draw a path into `ax` or a new figure."""
        return cls(path).plot(ax)

    def plot(self, ax: Any = None) -> SelectionPathDisplay:
        """Draw into `ax` or a new figure, and return the display."""
        path = self.path
        self.ax_, self.figure_ = axes_of(ax, (7.5, 4.2))
        mean, error = path.mean_score, path.std_error
        (self.line_,) = self.ax_.plot(path.sizes, mean, marker="o", markersize=4, color=COLOURS[0])
        self.ax_.fill_between(path.sizes, mean - error, mean + error, color=COLOURS[0], alpha=0.18, lw=0)
        at = dict(zip(path.sizes.tolist(), mean.tolist(), strict=True))
        best, enough = path.best_size, path.one_se_size
        self.ax_.plot(
            [best], [at[best]], "o", markersize=9, mfc="none", color=QUIET, label=f"best: {best} features"
        )
        if enough != best:
            label = f"within one standard error: {enough}"
            self.ax_.plot([enough], [at[enough]], "D", markersize=8, color=COLOURS[1], label=label)
        self.ax_.set_xscale("log")
        ticks = _ticks(path.sizes.tolist())
        self.ax_.set_xticks(ticks, [str(size) for size in ticks])
        self.ax_.set_xticks([], minor=True)
        self.ax_.set_xlabel("number of features")
        self.ax_.set_ylabel(f"{path.scoring}, {path.fold_scores.shape[0]} folds")
        self.ax_.legend(frameon=False, loc="lower right")
        plain_axes(self.ax_)
        return self


class SelectionFrequencyDisplay:
    """How often each feature is selected over the folds, for each number of features.

    Parameters
    ----------
    path : SelectionPath

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, path: SelectionPath) -> None:
        self.path = path

    @classmethod
    def from_path(cls, path: SelectionPath, *, ax: Any = None) -> SelectionFrequencyDisplay:
        """Draw the frequencies of a path into `ax` or a new figure."""
        return cls(path).plot(ax)

    def plot(self, ax: Any = None) -> SelectionFrequencyDisplay:
        """Draw into `ax` or a new figure, and return the display."""
        frequency = self.path.selection_frequency
        total = frequency.sum(axis=0)
        order = np.argsort(-total, kind="stable")[: min(_MOST_ROWS, np.count_nonzero(total))]
        names = shown([self.path.feature_names[column] for column in order], 24)
        self.ax_, self.figure_ = axes_of(ax, (7.5, 1.2 + 0.25 * max(4, len(order))))
        sizes = [str(size) for size in self.path.sizes]
        heat_map(self.ax_, frequency[:, order].T, names, sizes, "share of folds")
        self.ax_.set_xlabel("number of features")
        return self


def _ticks(sizes: list[int]) -> list[int]:
    """Return sizes far enough from each other on a logarithmic scale to be labelled."""
    ticks: list[int] = []
    for size in sizes:
        if not ticks or size >= 1.3 * ticks[-1]:
            ticks.append(size)
    return ticks
