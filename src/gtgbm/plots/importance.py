"""Plot of feature importances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gtgbm.exact import F64
from gtgbm.explain import feature_names
from gtgbm.plots.names import shown
from gtgbm.plots.style import COLOURS, axes_of, plain_axes


class ImportanceDisplay:
    """Bar plot of the most important features, the most important first.

    Parameters
    ----------
    names : sequence of str
    values : array-like of float, shape (features,)
    label : str
        Label of the axis of values.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
    """

    def __init__(self, names: Sequence[str], values: Any, label: str = "importance") -> None:
        self.names, self.values, self.label = list(names), np.asarray(values, dtype=np.float64), label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        top: int = 20,
        names: Sequence[Any] | None = None,
        task: Any = None,
        ax: Any = None,
    ) -> ImportanceDisplay:
        """Draw the feature importances of a fitted model: shares in the total gain of all splits.

        Parameters
        ----------
        estimator : fitted estimator
        top : int
            Maximum number of bars.
        names : sequence of str, shape (d,), optional
            Names of all columns; by default those of the training table, or x0, x1, ...
        task : optional
            A task of a multitask model; by default the mean over tasks is drawn.
        ax : matplotlib Axes, optional
        """
        check_is_fitted(estimator, "trees_")
        if top < 1:
            raise ValueError(f"top={top} must be at least 1")
        all_names = feature_names(estimator, names)
        values: F64 = estimator.feature_importances_
        if task is not None:
            if task not in getattr(estimator, "tasks_", ()):
                raise ValueError(
                    f"task={task!r} is not a task of the model: {getattr(estimator, 'tasks_', [])[:10]!r}"
                )
            values = estimator.task_importances_[task]
        order = np.argsort(-values, kind="stable")[: min(top, np.count_nonzero(values))]
        return cls([all_names[j] for j in order], values[order], "share of total gain").plot(ax)

    def plot(self, ax: Any = None) -> ImportanceDisplay:
        """Draw into `ax` or a new figure, and return the display."""
        n = len(self.names)
        self.ax_, self.figure_ = axes_of(ax, (7.0, 1.0 + 0.28 * max(n, 1)))
        self.bars_ = self.ax_.barh(range(n), self.values, color=COLOURS[0], height=0.7)
        self.ax_.set_yticks(range(n), shown(self.names))
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel(self.label)
        plain_axes(self.ax_)
        self.ax_.grid(visible=False, axis="y")
        self.ax_.tick_params(axis="y", length=0)
        if n == 0:
            self.ax_.text(0.5, 0.5, "no feature was selected", ha="center", transform=self.ax_.transAxes)
        return self
