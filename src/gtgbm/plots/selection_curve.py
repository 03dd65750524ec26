"""Plot of a metric over the selected features or the rounds of boosting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gtgbm.explain import SelectionCurve, feature_names, purchases, selection_curve
from gtgbm.plots.names import bought_name, shown
from gtgbm.plots.style import COLOURS, QUIET, axes_of, plain_axes

_MOST_NAMES = 40
"""Maximum number of feature names along the axis; with more features, only their number is shown."""


class SelectionCurveDisplay:
    """A metric or the training loss, over the number of selected features or the rounds of boosting.

    Over features, a point is the model right after the round that selected the feature. Later rounds improve
    the model without new features: the dashed line is the finished model.

    Parameters
    ----------
    path : SelectionCurve
    names : sequence of str
        Selected features, in the order of selection.
    bought : sequence of int
        Number of rounds up to the selection of each of them, inclusive.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
        Over features, it breaks where several were selected in one round; a dotted line bridges the gap.
    """

    def __init__(self, path: SelectionCurve, names: Sequence[str], bought: Sequence[int]) -> None:
        self.path, self.names, self.bought = path, list(names), list(bought)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        metric: str | None = None,
        qid: Any = None,
        task: Any = None,
        names: Sequence[Any] | None = None,
        over: Literal["features", "trees"] = "features",
        ax: Any = None,
    ) -> SelectionCurveDisplay:
        """Draw the selection path of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
        X, y : array-like, shape (n, d) and (n,), optional
            Rows for the metric, preferably held-out rows. Without them the training loss is drawn.
        metric : str, optional
            A name from ``gtgbm.metrics``. By default AUC for two classes, accuracy for more classes, RMSE for
            numbers, NDCG@10 for rankings.
        qid, task : array-like, shape (n,), optional
            Queries or tasks of the rows.
        names : sequence of str, shape (d,), optional
            Names of all columns.
        over : {"features", "trees"}
        ax : matplotlib Axes, optional
        """
        path = selection_curve(estimator, X, y, metric=metric, qid=qid, task=task)
        all_names, selected = feature_names(estimator, names), purchases(estimator)
        labels = [bought_name(purchase.entry, all_names) for purchase in selected]
        display = cls(path, labels, [purchase.n_rounds for purchase in selected])
        return display.plot(ax, over=over)

    def plot(
        self,
        ax: Any = None,
        *,
        over: Literal["features", "trees"] = "features",
        of: Literal["metric", "loss"] | None = None,
    ) -> SelectionCurveDisplay:
        """Draw into `ax` or a new figure, and return the display.

        Parameters
        ----------
        over : {"features", "trees"}
        of : {"metric", "loss"}, optional
            By default the metric if the path has one.
        """
        if over not in ("features", "trees"):
            raise ValueError(f"over={over!r} must be 'features' or 'trees'")
        if of not in ("metric", "loss", None):
            raise ValueError(f"of={of!r} must be 'metric', 'loss' or None")
        path = self.path
        if of == "metric" and path.values is None:
            raise ValueError("of='metric' needs rows to measure on: give X and y to from_estimator")
        values, label = path.loss, "training loss"
        if path.values is not None and path.metric is not None and of != "loss":
            values, label = path.values, path.metric.name
        self.ax_, self.figure_ = axes_of(ax, (7.5, 4.2))
        (self._over_features if over == "features" else self._over_trees)(values)
        self.ax_.set_ylabel(label)
        plain_axes(self.ax_)
        return self

    @property
    def grows(self) -> bool:
        """Whether features were selected after the first round."""
        return len(set(self.bought)) > 1

    @property
    def has_names(self) -> bool:
        """Whether the features are few enough to be named in the plot."""
        return 0 < len(self.names) <= _MOST_NAMES

    def _over_features(self, values: Any) -> None:
        ax, path, n = self.ax_, self.path, len(self.names)
        # Features selected in the same round share a point: there is no model between them.
        stages = [0, *dict.fromkeys(path.after(round_) for round_ in self.bought)]
        x, y = np.arange(n + 1), np.full(n + 1, np.nan)
        y[path.n_features[stages]] = values[stages]
        known = np.flatnonzero(~np.isnan(y))
        ax.plot(known, y[known], color=QUIET, linestyle=":", linewidth=1, zorder=1)
        (self.line_,) = ax.plot(x, y, marker="o", markersize=4, color=COLOURS[0], label="when selected")
        ax.axhline(values[-1], color=COLOURS[1], linestyle="--", label=f"finished, {path.rounds[-1]} rounds")
        ax.legend(frameon=False)
        if self.has_names:
            labels = [f"{name} ({k})" for k, name in enumerate(shown(self.names, 24), 1)]
            ax.set_xticks(
                range(1, n + 1), labels, rotation=60, ha="right", rotation_mode="anchor", fontsize=8
            )
            ax.set_xlabel("features, in the order of selection")
        else:
            ax.set_xlabel("features selected")

    def _over_trees(self, values: Any) -> None:
        ax, path = self.ax_, self.path
        (self.line_,) = ax.plot(path.rounds, values, color=COLOURS[0])
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("rounds of boosting")
        ax.margins(x=0.01)
        if not self.grows:
            return
        counts = ax.twinx()
        counts.step(path.rounds, path.n_features, where="post", color=QUIET, linewidth=1)
        counts.fill_between(path.rounds, path.n_features, step="post", color=QUIET, alpha=0.15, linewidth=0)
        counts.set_ylim(0, 1.05 * max(1, int(np.max(path.n_features))))
        counts.yaxis.get_major_locator().set_params(integer=True)
        counts.set_ylabel("features selected (grey)")
        counts.spines[["top"]].set_visible(False)
        # Draws the line in front of the grey steps.
        ax.set_zorder(counts.get_zorder() + 1)
        ax.patch.set_visible(False)
