"""The common base of the single-task estimators: fit, warm start, scores."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gtgbm.boosting import (
    AnyCallback,
    CheckpointMemory,
    Fitted,
    Model,
    PriceSettings,
    ProgressBar,
    Settings,
    check_memory,
)
from gtgbm.data import FrameSchema, ParquetNumbers, as_table, check_rows
from gtgbm.estimators.base import BaseGTGBM
from gtgbm.estimators.checkpoints import open_checkpoint
from gtgbm.estimators.rows import (
    EvalSets,
    Rows,
    check_all_have_offsets,
    checked_offset,
    checked_qid,
    checked_weight,
    listed,
    per_set,
    weight_of_queries,
)
from gtgbm.estimators.tables import TableRead, read_columns, read_training
from gtgbm.estimators.threads import make_pool, pool_for_rows
from gtgbm.exact import ALONE, F64, I64, Communicator, FitContext, union
from gtgbm.losses import Loss, WithOffset
from gtgbm.multitask import charge, paid_units
from gtgbm.pricing import SpendingLimits, highest_cost
from gtgbm.selection import train_path, train_selecting
from gtgbm.tree import Forest

if TYPE_CHECKING:
    from typing_extensions import Self


class SingleTask(BaseGTGBM):
    """Common base of the single-task estimators; not for direct use."""

    # None if it was drawn at random before the model was saved to a file.
    _seed: int | None
    # n_features_to_select and cost_budget of the previous fit.
    _fitted_limits: SpendingLimits

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        callbacks: Sequence[AnyCallback] | None = None,
        *,
        eval_sample_weight: Any = None,
        offset: Any = None,
        eval_offset: Any = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like or scipy CSR or CSC matrix, shape (n, d)
            Any float or integer dtype, in either memory order; NaN is a missing value. Dense arrays are not
            copied, sparse matrices are not made dense. Dataframes are accepted as well.
        y : array-like, shape (n,)
            Class labels for classifiers, numbers for regressors.
        sample_weight : array-like, shape (n,), optional
            Weights of at least 0: a row of weight 2 counts as two rows.
        eval_set : (X, y) or list of such pairs, optional
            Rows on which loss and metrics are evaluated after each round (``evals_result_``). The last pair
            decides early stopping.
        callbacks : sequence of Callback or callables, optional
            ``Callback`` objects are called at the start, after each round and at the end, plain callables
            after each round; both get a ``Progress`` and may stop training.
        eval_sample_weight : array-like or list of array-like, optional
            Weights of the rows of each eval set.
        offset : array-like, shape (n,), or (n, classes) for more than two classes, optional
            Known part of the score of each row, which trees are added to, such as the logarithm of an
            exposure or the score of another model. Give that of new rows to `predict`.
        eval_offset : array-like or list of array-like, optional
            Offsets of the rows of each eval set.
        checkpoint : str or path, optional
            File that holds the state of training after a round, written every second. If the fit is
            interrupted, the same call goes on from the file, to the same model. A finished fit removes it.

        Returns
        -------
        self
        """
        reset = self._is_reset()
        X, y = read_training(self, X, y, reset=reset, y_numeric=self._y_is_numeric)
        self._choose_size(X, y, sample_weight, reset=reset, offset=offset)
        weight = checked_weight(sample_weight, X.shape[0])
        rows = Rows(X, y, weight, offset=checked_offset(offset, X.shape[0])).with_weight()
        rows = self._with_class_weight(rows)
        sets = EvalSets(eval_set, eval_sample_weight, offset=eval_offset)
        self._fit(rows, sets, listed(callbacks), checkpoint, reset=reset)
        return self

    def _with_class_weight(self, rows: Rows, communicator: Communicator = ALONE) -> Rows:
        """Multiply the weights of rows by those of their classes."""
        del communicator
        return rows

    def _is_reset(self) -> bool:
        """Discard the previous fit, unless this fit continues it; return whether it was discarded."""
        if self._checked("warm_start") and hasattr(self, "trees_"):
            return False
        self._discard_fit()
        return True

    def _fit(
        self,
        rows: Rows,
        eval_sets: EvalSets,
        callbacks: Sequence[AnyCallback],
        checkpoint: str | PathLike[str] | CheckpointMemory | None = None,
        communicator: Communicator = ALONE,
        *,
        reset: bool,
    ) -> None:
        """Fit to rows with positive weights, whose targets are not converted yet.

        Parameters
        ----------
        communicator : Communicator
            Where rows are divided among workers, each of them has some of the rows and of the eval sets.
        """
        is_alone = communicator.world == 1
        self._learn_targets({None: rows.y if is_alone else union(rows.y, communicator)}, reset=reset)
        rows = replace(rows, y=self._own_numbers(rows.y, "y", is_alone))
        self._warn_of(_extremes(rows.y, communicator), None)
        loss = self._make_loss()
        validations = self._validations(eval_sets, loss.n_scores, has_offset=rows.offset is not None)
        if rows.offset is not None:
            checked_offset(rows.offset, rows.y.shape[0], loss.n_scores)
            loss = WithOffset(loss)
        n_features = rows.table.shape[1]
        settings = self._settings(n_features)
        continued = self._continued(settings, loss)
        kept = open_checkpoint(checkpoint, self, {None: rows}, {None: validations}, continued, communicator)
        self._discard_fit()
        context = FitContext(make_pool(self.n_jobs), communicator)
        verbose = self._checked("verbose")

        def drawn() -> int:
            seed = self._new_seed() if continued is None else self._seed_to_continue(validations)
            # Workers that draw a seed draw different ones: all take that of the first.
            return int(communicator.share(str(seed).encode())[0])

        self._seed = seed = kept.stage("seed", int, drawn)
        self._keep_settings(settings)
        check_rows(rows.shard.n_total)
        rows, held_out = self._split_off(rows, validations, seed, context)
        problem = self._problem(rows, held_out, loss, settings, seed, None, communicator)
        check_memory(problem)
        reading = rows.table.reading if isinstance(rows.table, ParquetNumbers) else None
        with ProgressBar(verbose > 0, settings.rounds.n_rounds, reading) as bar:
            if self._sizes:
                fits = train_path(problem, context.pool, self._sizes, [bar.update], bar.phase)
                self._by_size = [self._fitted_copy(fitted, settings) for fitted in fits]
                return
            fitted = train_selecting(problem, context, [bar.update, *callbacks], continued, bar.phase, kept)
        self._keep_fit(fitted, settings)
        kept.remove()
        low, high = _extremes(rows.y, communicator)
        if low != high:
            limit = settings.prices.limits.count
            self._warn_of_few(limit, ["penalty"], settings.prices.drops, stacklevel=4)
        if verbose > 0:
            bar.summary(len(self.selected_features_), n_features, fitted.search, fitted.timings["total"])

    def _fitted_copy(self, fitted: Fitted, settings: Settings) -> Self:
        """Return a copy of the estimator that keeps a model."""
        model = copy(self)
        model._keep_fit(fitted, settings)
        return model

    def _keep_fit(self, fitted: Fitted, settings: Settings) -> None:
        """Set the attributes of a fitted model."""
        charge(fitted.model, settings.prices.units)
        owned = [(entry.feature, entry.category) for entry in fitted.model.history]
        # A new loss object: the one used for training refers to the training rows.
        self._keep({None: fitted}, owned, self._make_loss())
        self.timings_ = fitted.timings

    def _keep_settings(self, settings: Settings) -> None:
        """Keep what a fit that continues this one has to have in common with it."""
        columns = settings.columns
        self._fitted_limits = settings.prices.limits
        self._fitted_settings = (self._loss_name, columns.monotone, columns.categorical)

    def _prepare_to_continue(self) -> None:
        """Make a model that was read from a file one that ``warm_start`` continues."""
        try:
            self._keep_settings(self._settings(self.n_features_in_))
        except (TypeError, ValueError):
            return  # a file may have parameters that no fit takes: it can predict all the same
        is_fixed = isinstance(self.random_state, numbers.Integral)
        self._seed = self._new_seed() if is_fixed else None

    def _seed_to_continue(self, validations: Sequence[Rows]) -> int:
        """Return the seed of the fit that is continued.

        The same rows must be held out: the model has already trained on the others.
        """
        if self._seed is not None:
            return self._seed
        if self._checked("early_stopping_rounds") is not None and not validations:
            raise ValueError(
                "warm_start=True: the file does not tell which rows the previous fit held out for early "
                "stopping: give eval_set, early_stopping_rounds=None, or train with an integer random_state"
            )
        return self._new_seed()

    def _validations(self, given: EvalSets, n_scores: int, *, has_offset: bool) -> list[Rows]:
        """Read eval sets and convert their targets to numbers."""
        is_read = isinstance(given.rows, list) and all(isinstance(rows, Rows) for rows in given.rows)
        sets = given.rows if is_read else self._eval_rows(given.rows, given.weight)
        qids = per_set(given.qid, len(sets), "eval_qid")
        offsets = per_set(given.offset, len(sets), "eval_offset")
        validations = []
        for k, (rows, qid, offset) in enumerate(zip(sets, qids, offsets, strict=True)):
            name, n = f"eval_set[{k}]", rows.table.shape[0]
            y = self._own_numbers(rows.y, f"{name}: y", rows.given_shard is None)
            if n != y.shape[0]:
                raise ValueError(f"{name}: X has {n} rows, y {y.shape[0]} values; they must match")
            ids = checked_qid(qid, n, f"eval_qid[{k}]") if self._ranks else None
            weight = rows.weight
            if ids is not None:
                weight = weight_of_queries(weight, ids, f"eval_sample_weight[{k}]")
            check_all_have_offsets(has_offset, offset, f"eval_offset[{k}]")
            of_set = checked_offset(offset, n, n_scores, f"eval_offset[{k}]")
            validations.append(Rows(rows.table, y, weight, ids, None, of_set, rows.given_shard))
        return validations

    def _own_numbers(self, y: Any, name: str, is_whole: bool) -> F64:
        """Return targets as numbers; some workers may have none of the rows."""
        if is_whole:
            return self._numbers_of(y, name)
        return self._numbers_of(y, f"{name} of a worker") if y.shape[0] else np.empty(0)

    def _continued(self, settings: Settings, loss: Loss) -> Model | None:
        """Return a copy of the model of the previous fit if this fit continues it, else None."""
        if not self.warm_start or not hasattr(self, "trees_"):
            return None
        if not hasattr(self, "_fitted_settings"):
            raise ValueError(
                "warm_start=True: the file of this model has parameters that no fit takes, so that it cannot "
                "be continued; use warm_start=False"
            )
        model, n_rounds = self._models[None], settings.rounds.n_rounds
        now = (self._loss_name, settings.columns.monotone, settings.columns.categorical)
        named = ("loss", "monotone_constraints", "categorical_features")
        for name, previous, current in zip(named, self._fitted_settings, now, strict=True):
            if previous != current:
                raise ValueError(
                    f"warm_start=True: {name} differs from that of the previous fit: give the same, or "
                    "warm_start=False"
                )
        self._check_continued_limits(settings.prices, model)
        if loss.n_scores != model.start.shape[0]:
            raise ValueError("warm_start=True: y has a different number of classes than in the previous fit")
        if n_rounds < model.n_rounds:
            raise ValueError(
                f"n_estimators={n_rounds} is less than the {model.n_rounds} rounds of the previous fit: give "
                "more, or warm_start=False"
            )
        return model.copy()

    def _check_continued_limits(self, prices: PriceSettings, model: Model) -> None:
        """Raise an error if limits do not allow the features of the previous fit, or if they would change."""
        bought, limits = model.copy(), prices.limits
        charge(bought, prices.units)
        paid = paid_units([bought.history], self._groups_of_columns())
        n_bought, spent = len(paid), sum(paid.values())
        if limits.count is not None and limits.count < n_bought:
            raise ValueError(
                f"n_features_to_select={limits.count} is less than the {n_bought} features of "
                "the previous fit: give more, or warm_start=False"
            )
        if spent > highest_cost(0.0, limits.cost):
            raise ValueError(
                f"cost_budget={limits.cost} is less than the cost {spent:g} of the features of the "
                "previous fit: give more, or warm_start=False"
            )
        if prices.drops and limits != self._fitted_limits:
            fitted = self._fitted_limits
            names = ("n_features_to_select", "cost_budget")
            values = ((limits.count, fitted.count), (limits.cost, fitted.cost))
            name, (now, before) = next(
                (name, pair) for name, pair in zip(names, values, strict=True) if pair[0] != pair[1]
            )
            raise ValueError(
                f"{name}={now}: warm_start=True continues with the features of the previous "
                f"fit, whose limit was {before}; give the same number, selection='forward', or "
                "warm_start=False"
            )

    @property
    def _forest(self) -> Forest:
        return self._forests[None]

    def _scores(self, X: Any, n_rounds: int | None = None, offset: Any = None) -> F64:
        """Return the scores of rows, shape (k, n)."""
        fitted = vars(self)
        if "trees_" not in fitted:
            check_is_fitted(self, "trees_")
        forest = self._forest
        # Plain arrays skip scikit-learn's validation, which takes longer than the prediction of a row.
        is_plain = (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.shape[1] == self.n_features_in_
            and X.shape[0] > 0
            and X.dtype.kind in "fiub"
            and "feature_names_in_" not in fitted
        )
        if is_plain and self._schema is None:
            table, columns = as_table(X), forest.columns
        else:
            table, columns = read_columns(self, X, forest.columns)
        pool = pool_for_rows(self.n_jobs, table.shape[0])
        scores = forest.scores(table, pool, columns, self._first_trees(None, n_rounds))
        return self._with_offset(scores, offset)

    def _read_tables(self, X: Any, task: Any) -> tuple[tuple[int, ...], list[TableRead]]:
        """Return (n,), and the table that the forest reads."""
        check_is_fitted(self, "trees_")
        if task is not None:
            raise ValueError("task is for multitask models, and this model has a single task: leave it out")
        table, places = read_columns(self, X, self._forest.columns)
        return table.shape[:1], [TableRead(None, table, places, (slice(None),))]

    def _compact_parts(self) -> tuple[Forest, int | None, I64, FrameSchema | None]:
        features, schema = self._compact_columns()
        return self._forest.over(features), self.n_jobs, features, schema


def _extremes(y: F64, communicator: Communicator) -> F64:
    """Return the smallest and the largest target of all workers, shape (2,)."""
    ends = np.array([-y.min(initial=np.inf), y.max(initial=-np.inf)])
    return communicator.max(ends) * [-1.0, 1.0]
