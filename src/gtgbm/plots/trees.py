"""Plots of a single tree, and its text for Graphviz."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gtgbm.explain import feature_names
from gtgbm.plots.names import category_name, shown
from gtgbm.plots.style import COLOURS, QUIET, axes_of
from gtgbm.tree import Tree

_Label: TypeAlias = Callable[[int, float], Any]

_COLUMN, _ROW = 2.7, 0.36
"""Inches between levels, and between the leaves."""


def _question(tree: Tree, node: int, names: Mapping[int, str], label: _Label, longest: int) -> str:
    """Write what a node asks; rows for which it is true go left."""
    feature, threshold = int(tree.feature[node]), float(tree.threshold[node])
    name = names[feature]
    if tree.is_category[node]:
        (category,) = shown([category_name(label(feature, threshold))], longest)
        return f"{name} ≠ {category}"
    return f"{name} ≤ {threshold:.4g}"


def _as_it_is(column: int, category: float) -> float:
    del column
    return category


def _labels_of(estimator: Any) -> _Label:
    """Return what tells the category of a column by the number that trees ask for."""

    def label(column: int, category: float) -> Any:
        if column >= estimator.n_features_in_:  # a model of all tasks in one, which counts them from 1
            return str(estimator.tasks_[int(category) - 1])
        return estimator._label(column, category)

    return label


def _all_names(estimator: Any, names: Sequence[Any] | None) -> Sequence[Any] | None:
    # A model of all tasks in one has a column more.
    return names if estimator is None else [*feature_names(estimator, names), "task"]


def _names_for(tree: Tree, names: Sequence[Any] | None, longest: int) -> dict[int, str]:
    """Return the shortened names of the columns that a tree uses."""
    used = np.unique(tree.feature[tree.feature >= 0]).tolist()
    if names is not None and used and used[-1] >= len(names):
        raise ValueError(f"names has {len(names)} entries; the tree uses column {used[-1]}")
    all_names = [f"x{j}" if names is None else names[j] for j in used]
    return dict(zip(used, shown(all_names, longest), strict=True))


def to_graphviz(tree: Tree, names: Sequence[Any] | None = None, *, estimator: Any = None) -> str:
    """Write a tree in the DOT language, for ``dot -Tsvg`` or ``graphviz.Source``.

    Parameters
    ----------
    tree : Tree
        One of ``trees_``.
    names : sequence of str, shape (d,), optional
        Names of all columns; by default x0, x1, ...
    estimator : fitted estimator, optional
        The model that the tree is of: it knows the names of columns, if none are given, and of categories.

    Returns
    -------
    str
    """
    category = _as_it_is if estimator is None else _labels_of(estimator)
    short = _names_for(tree, _all_names(estimator, names), 60)
    lines = ["digraph tree {", '  node [shape=box, style=rounded, fontname="sans-serif"];']
    for node in range(tree.n_nodes):
        rows = f"{tree.n_rows[node]} rows"
        if tree.feature[node] < 0:
            lines.append(f'  {node} [label="{tree.value[node]:+.4g}\\n{rows}", style=filled];')
            continue
        question = _question(tree, node, short, category, 60).replace(r"\$", "$")
        escaped = question.replace("\\", r"\\").replace('"', r"\"")
        lines.append(f'  {node} [label="{escaped}\\n{rows}"];')
        left, missing = int(tree.left[node]), bool(tree.missing_left[node])
        for child, answer in ((left, "yes"), (left + 1, "no")):
            label = f"{answer}, missing" if missing == (child == left) else answer
            lines.append(f'  {node} -> {child} [label="{label}"];')
    return "\n".join([*lines, "}"]) + "\n"


@dataclass(frozen=True)
class _Placed:
    """The position of a node in the plot: the level counts from the root, the row from the top."""

    node: int
    level: int
    row: float
    parent: int | None


class TreeDisplay:
    """A tree from left to right; the upper branch is "yes", and a dot marks the branch of missing values.

    Parameters
    ----------
    tree : Tree
    names : sequence of str, shape (d,), optional
        Names of all columns; by default x0, x1, ...
    max_depth : int
        Levels of splits to draw; what is below is summed up in a line.
    estimator : fitted estimator, optional
        The model that the tree is of: it knows the names of columns, if none are given, and of categories.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self, tree: Tree, names: Sequence[Any] | None = None, *, max_depth: int = 4, estimator: Any = None
    ) -> None:
        if max_depth < 1:
            raise ValueError(f"max_depth={max_depth} must be at least 1")
        self.tree, self.max_depth = tree, max_depth
        self.names = _names_for(tree, _all_names(estimator, names), 20)
        self._label = _as_it_is if estimator is None else _labels_of(estimator)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        number: int = 0,
        *,
        task: Any = None,
        names: Sequence[Any] | None = None,
        max_depth: int = 4,
        ax: Any = None,
    ) -> TreeDisplay:
        """Draw one tree of a fitted model.

        Parameters
        ----------
        estimator : fitted estimator
        number : int
            Position in ``trees_``.
        task : optional
            The task, for multitask models.
        names : sequence of str, shape (d,), optional
        max_depth : int
            Number of levels to draw.
        ax : matplotlib Axes, optional
        """
        check_is_fitted(estimator, "trees_")
        trees = estimator.trees_
        if isinstance(trees, dict):
            if task not in trees:
                raise ValueError(
                    f"task={task!r} is not a task of the model: give one of {list(trees)[:10]!r}"
                )
            trees = trees[task]
        if not -len(trees) <= number < len(trees):
            raise ValueError(f"number={number}: the model has {len(trees)} trees, counted from 0")
        return cls(trees[number], names, max_depth=max_depth, estimator=estimator).plot(ax)

    def plot(self, ax: Any = None) -> TreeDisplay:
        """Draw into `ax` or a new figure, and return the display."""
        placed = self._placed()
        n_levels = 1 + max(position.level for position in placed.values())
        n_rows = 1 + max(position.row for position in placed.values())
        self.ax_, self.figure_ = axes_of(ax, (0.4 + _COLUMN * n_levels, 0.6 + _ROW * n_rows))
        self.ax_.set_axis_off()
        self.ax_.set_xlim(-0.05, n_levels)
        self.ax_.set_ylim(n_rows, -0.7)
        legend = "upper branch: yes    lower branch: no    ●  also missing values"
        self.ax_.text(0.0, n_rows - 0.4, legend, fontsize=8, color=QUIET, va="center")
        for position in placed.values():
            self._draw_node(position)
            if position.parent is not None:
                self._draw_branch(placed[position.parent], position)
        return self

    def _placed(self) -> dict[int, _Placed]:
        """Place the lowest nodes below each other, and every other node halfway between its children."""
        placed: dict[int, _Placed] = {}
        n_rows = 0

        def place(node: int, level: int, parent: int | None) -> float:
            nonlocal n_rows
            if self._is_lowest(node, level):
                row, n_rows = float(n_rows), n_rows + 1
            else:
                left = int(self.tree.left[node])
                row = (place(left, level + 1, node) + place(left + 1, level + 1, node)) / 2
            placed[node] = _Placed(node, level, row, parent)
            return row

        place(0, 0, None)
        return placed

    def _is_lowest(self, node: int, level: int) -> bool:
        return bool(self.tree.feature[node] < 0 or level == self.max_depth)

    def _draw_node(self, position: _Placed) -> None:
        tree, node = self.tree, position.node
        rows = f"{tree.n_rows[node]:,} rows"
        edge = COLOURS[0]
        if tree.feature[node] < 0:
            text, edge = f"{tree.value[node]:+.4g}   ({rows})", COLOURS[2]
        elif self._is_lowest(node, position.level):
            text, edge = f"… {self._n_leaves_below(node)} leaves   ({rows})", QUIET
        else:
            text = _question(tree, node, self.names, self._label, 20)
        background = self.ax_.get_facecolor()  # hides the part of the branch behind the box
        box = {"boxstyle": "round,pad=0.25", "facecolor": background, "edgecolor": edge, "linewidth": 1.0}
        self.ax_.text(position.level, position.row, text, va="center", ha="left", fontsize=8, bbox=box)

    def _n_leaves_below(self, node: int) -> int:
        below = np.zeros(self.tree.n_nodes, dtype=np.bool_)
        below[node] = True
        # Children are numbered after their parent.
        for k in range(node, self.tree.n_nodes):
            if below[k] and self.tree.feature[k] >= 0:
                below[self.tree.left[k] : self.tree.left[k] + 2] = True
        return int(np.count_nonzero(below & (self.tree.feature < 0)))

    def _draw_branch(self, parent: _Placed, child: _Placed) -> None:
        """Draw the line from a node to its child; its width shows the number of rows."""
        tree = self.tree
        share = tree.n_rows[child.node] / max(int(tree.n_rows[0]), 1)
        bend, end = parent.level + 0.84, child.level - 0.04
        xs, ys = [parent.level + 0.1, bend, bend + 0.06, end], [parent.row] * 2 + [child.row] * 2
        self.ax_.plot(xs, ys, color=QUIET, linewidth=0.6 + 3.0 * share, solid_joinstyle="round", zorder=0)
        if bool(tree.missing_left[parent.node]) == (child.node == tree.left[parent.node]):
            self.ax_.plot([end], [child.row], "o", color=QUIET, markersize=4, zorder=1)
