"""Plots of multitask models: features by task, and learning curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gtgbm.exact import F64
from gtgbm.explain import feature_names
from gtgbm.plots.names import shown
from gtgbm.plots.style import COLOURS, QUIET, axes_of, heat_map, plain_axes


def _check_multitask(estimator: Any) -> None:
    check_is_fitted(estimator, "trees_")
    if not hasattr(estimator, "tasks_"):
        raise TypeError(
            f"{type(estimator).__name__} has no tasks: give a multitask model, such as "
            "MultitaskGTGBMClassifier"
        )


def task_matrix(estimator: Any, names: Sequence[str], top: int = 40) -> tuple[F64, list[str], list[Any]]:
    """Return the importances of features by task, NaN if a task did not select the feature.

    Returns
    -------
    (ndarray of float64, shape (features, tasks), names of features, tasks)
        At most `top` features, ordered by the number of tasks that use them.
    """
    selected = estimator.selected_features_
    matrix: F64 = np.full((selected.shape[0], len(estimator.tasks_)), np.nan)
    for t, task in enumerate(estimator.tasks_):
        owned = np.isin(selected, estimator.task_features_[task])
        matrix[owned, t] = estimator.task_importances_[task][selected[owned]]
    n_owners = np.count_nonzero(~np.isnan(matrix), axis=1)
    order = np.lexsort((-np.nansum(matrix, axis=1), -n_owners))[:top]
    return matrix[order], [names[j] for j in selected[order].tolist()], list(estimator.tasks_)


class TaskMatrixDisplay:
    """Heat map of the importance of features for tasks; blank if a task does not use the feature.

    Parameters
    ----------
    importances : array-like of float, shape (features, tasks)
        Share of each feature in the total gain of a task; NaN if the task did not select it.
    features, tasks : sequence of str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    im_ : matplotlib AxesImage
    """

    def __init__(self, importances: Any, features: Sequence[str], tasks: Sequence[Any]) -> None:
        self.importances = np.asarray(importances, dtype=np.float64)
        self.features, self.tasks = list(features), list(tasks)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, top: int = 40, names: Sequence[Any] | None = None, ax: Any = None
    ) -> TaskMatrixDisplay:
        """Draw the features of a fitted multitask model, the most widely used first.

        Parameters
        ----------
        estimator : fitted MultitaskGTGBMClassifier or MultitaskGTGBMRegressor
        top : int
            Maximum number of features.
        names : sequence of str, shape (d,), optional
        ax : matplotlib Axes, optional
        """
        _check_multitask(estimator)
        return cls(*task_matrix(estimator, feature_names(estimator, names), top)).plot(ax)

    def plot(self, ax: Any = None) -> TaskMatrixDisplay:
        """Draw into `ax` or a new figure, and return the display."""
        size = (4.0 + 0.45 * min(len(self.tasks), 24), 1.5 + 0.28 * max(len(self.features), 4))
        self.ax_, self.figure_ = axes_of(ax, size)
        self.im_ = heat_map(
            self.ax_,
            self.importances,
            shown(self.features),
            shown(self.tasks, 16),
            "share of the task's gain",
            largest=max(float(np.nanmax(self.importances, initial=0.0)), 1e-9),
            palest=0.12,
        )
        return self


class TaskCurvesDisplay:
    """Loss or metric over rounds, one line per task.

    Parameters
    ----------
    curves : dict
        Values after each round, by task.
    label : str
        Label of the axis of values.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
    """

    def __init__(self, curves: Mapping[Any, Sequence[float]], label: str = "loss") -> None:
        self.curves = {task: np.asarray(values, dtype=np.float64) for task, values in curves.items()}
        self.label = label

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, of: str = "training", metric: str | None = None, ax: Any = None
    ) -> TaskCurvesDisplay:
        """Draw the learning curves of the tasks of a fitted model.

        Parameters
        ----------
        estimator : fitted MultitaskGTGBMClassifier or MultitaskGTGBMRegressor
        of : {"training", "validation_0"}
            The set of ``evals_result_`` to draw.
        metric : str, optional
            A loss or metric of this set; by default the last one, which decides early stopping.
        ax : matplotlib Axes, optional
        """
        _check_multitask(estimator)
        curves, name = {}, ""
        for task in estimator.tasks_:
            sets = estimator.evals_result_[task]
            if of not in sets:
                raise ValueError(f"of={of!r} was not evaluated for task {task!r}: give one of {list(sets)}")
            name = list(sets[of])[-1] if metric is None else metric
            if name not in sets[of]:
                raise ValueError(f"metric={metric!r} was not evaluated: give one of {list(sets[of])}")
            curves[task] = sets[of][name]
        return cls(curves, f"{of.partition('_')[0]} {name}").plot(ax)

    def plot(self, ax: Any = None) -> TaskCurvesDisplay:
        """Draw into `ax` or a new figure, and return the display."""
        self.ax_, self.figure_ = axes_of(ax, (7.0, 4.2))
        few = len(self.curves) <= len(COLOURS)
        self.lines_ = []
        labels = shown(list(self.curves), 24)
        for k, values in enumerate(self.curves.values()):
            style = {"color": COLOURS[k], "label": labels[k]} if few else {"color": QUIET, "alpha": 0.4}
            (line,) = self.ax_.plot(np.arange(1, values.shape[0] + 1), values, linewidth=1.5, **style)
            self.lines_.append(line)
        if not few:
            self._draw_mean()
        # Outside the axes the legend cannot cover a line.
        self.ax_.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.set_xlabel("rounds of boosting")
        self.ax_.set_ylabel(self.label)
        plain_axes(self.ax_)
        return self

    def _draw_mean(self) -> None:
        """Draw the mean of the curves, which are too many to distinguish."""
        n_rounds = max(values.shape[0] for values in self.curves.values())
        # A task that stopped earlier keeps its last value.
        padded = [np.pad(v, (0, n_rounds - v.shape[0]), mode="edge") for v in self.curves.values() if v.size]
        mean = np.mean(padded, axis=0)
        self.lines_[0].set_label(f"{len(self.curves)} tasks")
        self.ax_.plot(np.arange(1, n_rounds + 1), mean, color=COLOURS[0], linewidth=2, label="mean")
