"""A fitted model as other tools see it: trees whose sums are the scores, over columns of numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.boosting import Model
from gtgbm.data import FrameSchema
from gtgbm.estimators import read_table
from gtgbm.exact import F64
from gtgbm.losses import Link
from gtgbm.tree import Tree, leaf_tree


@dataclass(frozen=True)
class PlainModel:
    """The trees of a single-task model, or of one task of a multitask model.

    Attributes
    ----------
    trees : list of Tree
        Those of a round follow each other, one for each score: tree t adds to the score ``t % n_scores``.
        A model without trees has leaves of value 0.
    start : ndarray of float64, shape (n_scores,)
        Initial scores: one, or one per class if there are more than two.
    link : str
        How scores become predictions.
    loss : str
        Name of the loss.
    names : list of str
        Names of the columns; "Column_0", "Column_1", ... for arrays.
    schema : FrameSchema or None
        The columns of a dataframe; None for arrays.
    classes : ndarray or None
        Labels of the classes of a classifier.
    """

    trees: list[Tree]
    start: F64
    link: Link
    loss: str
    names: list[str]
    schema: FrameSchema | None
    classes: NDArray[Any] | None

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return len(self.names)

    @property
    def n_scores(self) -> int:
        """Number of scores of a row."""
        return int(self.start.shape[0])

    def summed_trees(self) -> list[Tree]:
        """Return trees whose sums are the scores: the first of each score contains the initial score.

        It is rounded as the first addition of a prediction is, so that sums have the same bits.
        """
        first = [self.trees[k].plus(start) for k, start in enumerate(self.start.tolist())]
        return first + self.trees[self.n_scores :]

    @property
    def categorical(self) -> list[int]:
        """Columns of which some tree splits on categories, ascending."""
        split = [tree.feature[(tree.feature >= 0) & (tree.is_category != 0)] for tree in self.trees]
        return np.unique(np.concatenate(split)).tolist() if split else []

    def warn_of_link(self) -> None:
        """Warn of a loss whose predictions cannot be exported."""
        if self.link == "custom":
            warnings.warn(
                f"loss={self.loss!r} has a predict method of its own, which other tools do not know: the "
                "exported model returns scores; apply the method to them",
                UserWarning,
                stacklevel=3,
            )


def converted(estimator: Any, task: Any, convert: Callable[[PlainModel], Any]) -> Any:
    """Convert the model of a task, or a single-task model; without a task, those of all tasks, by task."""
    if task is None and hasattr(estimator, "tasks_"):
        return {name: convert(_plain(estimator, name)) for name in estimator._models}
    return convert(plain_model(estimator, task))


def plain_model(estimator: Any, task: Any = None) -> PlainModel:
    """Return the model of a task, or a single-task model."""
    check_fitted(estimator)
    tasks = list(estimator._models)
    if task not in tasks:
        if tasks == [None]:
            raise ValueError(f"task={task!r}: this model has a single task; leave it out")
        raise ValueError(f"task={task!r} is not a task of the model: give one of {tasks[:10]!r}")
    return _plain(estimator, task)


def check_fitted(estimator: Any) -> None:
    """Raise an error unless an estimator of this package is fitted."""
    if not hasattr(estimator, "_models") or not hasattr(estimator, "trees_"):
        raise ValueError(f"{estimator!r} is not a fitted estimator of gtgbm: call fit first")


def encode_table(estimator: Any, X: Any) -> F64:
    """Return a table as the numbers that exported models read.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    X : array-like or dataframe, shape (n, d)
        All columns of the training table.

    Returns
    -------
    ndarray of float64, shape (n, d)
        Text and categories are codes: the position among the categories of training, sorted, and -1 for
        others. Times are seconds since 1970. NaN is a missing value.
    """
    check_fitted(estimator)
    table = read_table(estimator, X, reset=False)
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table, dtype=np.float64)


def _plain(estimator: Any, task: Any) -> PlainModel:
    model: Model = estimator._models[task]
    trees: Sequence[Tree] = estimator._trees_of(task)
    n_scores = int(model.start.shape[0])
    by_score: list[list[Tree]] = [[] for _ in range(n_scores)]
    for tree, output in zip(trees, model.outputs, strict=True):
        by_score[output].append(tree)
    n_rounds = max(1, *map(len, by_score))
    padded = [of_score + [leaf_tree(0.0)] * (n_rounds - len(of_score)) for of_score in by_score]
    names = getattr(estimator, "feature_names_in_", None)
    return PlainModel(
        [padded[k][r] for r in range(n_rounds) for k in range(n_scores)],
        model.start,
        estimator._make_loss(task).link,
        estimator._loss_name,
        [f"Column_{k}" for k in range(estimator.n_features_in_)] if names is None else list(map(str, names)),
        estimator._schema,
        estimator._classes_of(task) if hasattr(estimator, "classes_") else None,
    )
