"""What single-task and multitask estimators predict besides targets: leaves, stages, contributions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from gtgbm.estimators.fitted import FittedAttributes
from gtgbm.estimators.outcomes import predictions
from gtgbm.estimators.rows import by_score, finite, offset_values
from gtgbm.estimators.tables import TableRead, read_columns
from gtgbm.estimators.targets import Targets
from gtgbm.estimators.threads import pool_for_rows
from gtgbm.exact import F64, I32, I64
from gtgbm.losses import of_all_tasks
from gtgbm.tree import ForestContributions


class PredictionDetails(FittedAttributes, Targets):
    """Methods about the predictions of a fitted model."""

    def _read_tables(self, X: Any, task: Any) -> tuple[tuple[int, ...], list[TableRead]]:
        """Return (n,), or (n, T) for several tasks of each row, and the table that each forest reads."""
        raise NotImplementedError

    def _predicted(self, scores: F64) -> NDArray[Any]:
        """Convert scores to what `predict` returns."""
        return predictions(scores, self._fitted_loss)

    def _with_offset(self, scores: F64, offset: Any) -> F64:
        """Return scores, shape (k, n) or (k, n, T), with the offsets of the rows added, if there are any."""
        if offset is None:
            return scores
        n_scores, shape = scores.shape[0], scores.shape[1:]
        values = offset_values(offset, shape if n_scores == 1 else (*shape, n_scores), "offset")
        return scores + by_score(finite(values, "offset"), len(shape))

    def apply(self, X: Any, task: Any = None) -> I32:
        """Return the leaf that each row reaches in each tree.

        Parameters
        ----------
        X : array-like, shape (n, d)
        task : array-like, shape (n,), optional
            Task of each row, for multitask models with one target per row.

        Returns
        -------
        ndarray of int32, shape (n, trees); or (n, T, trees) for one target column per task
            Nodes of ``trees_``, those of a round in the order of ``classes_``. Where a task has fewer trees
            than others: -1.
        """
        shape, reads = self._read_tables(X, task)
        n_trees = max(forest.n_trees for forest in self._forests.values())
        leaves = np.full((*shape, n_trees), -1, dtype=np.int32)
        for read in reads:
            forest, pool = self._forests[read.task], pool_for_rows(self.n_jobs, read.table.shape[0])
            of_part = np.full((read.table.shape[0], n_trees), -1, dtype=np.int32)
            of_part[:, : forest.n_trees] = forest.leaves(read.table, pool, read.columns)
            leaves[read.place] = of_part
        return leaves

    def predict_contributions(
        self,
        X: Any,
        task: Any = None,
        *,
        selected_only: bool = False,
        background: Any = None,
        interactions: bool = False,
    ) -> F64:
        """Divide the score of each row among the columns: Shapley values (TreeSHAP).

        Parameters
        ----------
        X : array-like, shape (n, d)
        task : array-like, shape (n,), optional
            Task of each row, for multitask models with one target per row.
        selected_only : bool, default False
            Only the columns ``selected_features_``, in this order, which takes less memory for wide tables.
            All other contributions are 0.
        background : array-like, shape (m, d), optional
            Rows whose values a column has where it is not known: interventional values, which take time in
            proportion to n · m. Without it, rows go both ways at splits on unknown columns, with the shares
            of the training rows that did (path-dependent values).
        interactions : bool, default False
            Divide the contribution of each column further, among itself and its interactions with the other
            columns. Not together with `background`.

        Returns
        -------
        ndarray of float64, shape (n, d + 1)
            The contribution of each column, categories together, and last the expected score, the mean of
            the training rows or of the background. They add up to the score: the log-odds of the second
            class, or what the link of a loss is applied to. For more than two classes the shape is
            (n, classes, d + 1), for one target column per task (n, T, d + 1), for both (n, T, classes,
            d + 1).

            With `interactions`, one axis of length d + 1 more: a symmetric matrix for each row, whose sums
            over the last axis are the contributions. An interaction of two columns stands in two places, half
            in each; the last entry of the last row is the expected score.
        """
        if interactions and background is not None:
            raise ValueError(
                "interactions=True is for path-dependent values: leave background out, or interactions"
            )
        shape, reads = self._read_tables(X, task)
        width = self.selected_features_.shape[0] if selected_only else self.n_features_in_
        n_scores = self._fitted_loss.n_scores
        contributions = _empty((*shape, n_scores, *[width + 1] * (1 + bool(interactions))))
        for read in reads:
            contributor = self._contributor(read.task)
            used = contributor.forest.columns
            places = np.searchsorted(self.selected_features_, used) if selected_only else used
            # With method="single-task" trees without their splits on the task may use fewer columns.
            columns = read.columns[np.searchsorted(self._forests[read.task].columns, used)]
            pool = pool_for_rows(self.n_jobs, read.table.shape[0])
            if interactions:
                found = contributor.interactions(read.table, pool, columns, places, width)
            elif background is None:
                found = contributor.of_rows(read.table, pool, columns, places, width)
            else:
                found = contributor.forest.contributions_against(
                    self._values_of(background, used), read.table, pool, columns, places, width
                )
            of_scores = np.moveaxis(self._scores_of_all(read.task, np.moveaxis(found, 1, 0)), 0, 1)
            if of_scores.shape != found.shape:
                # Nothing contributes to the score of a class that the task does not have, minus infinity.
                expected = (..., -1, -1) if interactions else (..., -1)
                of_expected = of_scores[expected].copy()
                of_scores[np.isneginf(of_scores)] = 0.0
                of_scores[expected] = of_expected
            contributions[read.place] = of_scores
        return contributions.squeeze(len(shape)) if n_scores == 1 else contributions

    def _values_of(self, X: Any, columns: I64) -> F64:
        """Return some columns of a table as numbers, shape (n, columns)."""
        table, places = read_columns(self, X, columns)
        values = table[:, places]
        return np.asarray(values.toarray() if issparse(values) else values, dtype=np.float64)

    def staged_predict(self, X: Any, task: Any = None, *, offset: Any = None) -> Iterator[Any]:
        """Predict after each boosting round; the table is read once.

        Parameters
        ----------
        X : array-like, shape (n, d)
        task : array-like, shape (n,), optional
            Task of each row, for multitask models with one target per row.
        offset : array-like, as in `predict`, optional
            What is added to the scores.

        Yields
        ------
        ndarray
            As `predict` returns it; the last equals it. A task that stopped earlier stays as it is.
        """
        return (self._predicted(scores) for scores in self._staged_scores(X, task, offset))

    def _staged_scores(self, X: Any, task: Any, offset: Any) -> Iterator[F64]:
        """Return the scores after each round, as `predict` converts them."""
        shape, reads = self._read_tables(X, task)
        rounds = range(1, self._most_rounds + 1)
        stages = [
            self._forests[read.task].staged_scores(
                read.table,
                pool_for_rows(self.n_jobs, read.table.shape[0]),
                read.columns,
                [self._trees_after(read.task, n_rounds) for n_rounds in rounds],
            )
            for read in reads
        ]
        scores = (self._combined(shape, reads, parts) for parts in zip(*stages, strict=True))
        return (self._with_offset(of_stage, offset) for of_stage in scores)

    def _scores_of_all(self, task: Any, scores: F64) -> F64:
        """Return the scores (k, ...) of a task in the layout of all tasks."""
        return of_all_tasks(scores, self._positions_of(task), self._fitted_loss.n_scores)

    def _combined(self, shape: tuple[int, ...], reads: Sequence[TableRead], scores: Sequence[F64]) -> F64:
        """Put the scores (k, m) of all parts together, shape (k, n) or (k, n, T)."""
        combined = np.empty((self._fitted_loss.n_scores, *shape))
        for read, of_part in zip(reads, scores, strict=True):
            combined[(slice(None), *read.place)] = self._scores_of_all(read.task, of_part)
        return combined

    @property
    def _most_rounds(self) -> int:
        """Number of rounds, for several tasks the largest."""
        return max(model.n_rounds for model in self._models.values())

    def _trees_after(self, task: Any, n_rounds: int) -> int:
        """Return the number of trees of a task in its first rounds; all, if it has fewer."""
        model = self._models[task]
        return min(n_rounds, model.n_rounds) * int(model.start.shape[0])

    def _first_trees(self, task: Any, n_rounds: int | None) -> int | None:
        """Return the number of trees to predict with, None for all."""
        if n_rounds is None:
            return None
        if not isinstance(n_rounds, Integral) or not 0 <= n_rounds <= self._most_rounds:
            raise ValueError(
                f"n_rounds={n_rounds!r}: the model has {self._most_rounds} rounds; give a whole number from "
                "0 to that"
            )
        return self._trees_after(task, int(n_rounds))

    def _contributor(self, task: Any) -> ForestContributions:
        """Return what divides the scores of a task; it is made when first asked for."""
        if task not in self._contributors:
            model = self._models[task]
            trees = self._trees_of(task)
            self._contributors[task] = ForestContributions(trees, model.outputs, model.start)
        return self._contributors[task]


def _empty(shape: tuple[int, ...]) -> F64:
    """Return an array for contributions, or raise an error that says how they take less memory."""
    try:
        return np.empty(shape)
    except MemoryError as error:
        raise MemoryError(
            f"{error}: give selected_only=True, or fewer rows at a time, to predict_contributions"
        ) from error
