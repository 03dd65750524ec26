"""The common base of all estimators: seeds, eval sets, feature selection, saving."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from gtgbm.boosting import Evaluated, Problem, Settings
from gtgbm.data import FrameSchema, ParquetTable, check_sparse, unmasked
from gtgbm.estimators.choosing_size import path_for
from gtgbm.estimators.details import PredictionDetails
from gtgbm.estimators.exporting import ExportMethods
from gtgbm.estimators.rows import Rows, checked_weight, pairs_of, per_set
from gtgbm.estimators.saving import save_model
from gtgbm.estimators.tables import read_eval_table, selected_of
from gtgbm.exact import ALONE, I64, Bool, Communicator
from gtgbm.losses import Loss
from gtgbm.parameters import Context

if TYPE_CHECKING:
    from typing_extensions import Self


class BaseGTGBM(SelectorMixin, ExportMethods, PredictionDetails):
    """Common base of the estimators; not for direct use."""

    # Whether rows belong to queries.
    _ranks = False
    # For a path over numbers of features: the sizes, in descending order, and a fitted estimator for each.
    _sizes: Sequence[int] = ()
    _by_size: list[Self]

    def __sklearn_tags__(self) -> Any:
        """Declare that missing values and sparse tables are supported."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _discard_fit(self) -> None:
        """Make the model unfitted, so that a failed fit does not leave a mixture of two fits behind."""
        if hasattr(self, "trees_"):
            del self.trees_

    def _fit_sizes(self, sizes: Sequence[int], X: Any, y: Any, **given: Any) -> list[Self]:
        """Fit a copy of the estimator for each number of features, given in descending order.

        The features of all of them come from one selection, which drops features from size to size.

        Parameters
        ----------
        **given
            Further arguments of ``fit``.
        """
        model = clone(self).set_params(n_features_to_select=sizes[0], verbose=0)
        if "selection" in model.get_params():
            model.set_params(selection="forward-backward")
        model._sizes = tuple(sizes)
        model.fit(X, y, **given)
        for of_size, size in zip(model._by_size, sizes, strict=True):
            of_size._sizes = ()
            of_size.set_params(n_features_to_select=size)
        return list(model._by_size)

    def _choose_size(
        self, table: Any, y: Any, sample_weight: Any, *, offset: Any, reset: bool = True, **given: Any
    ) -> None:
        """With ``n_features_to_select="auto"``, set ``selection_path_``, which says how many it is.

        Parameters
        ----------
        table : ndarray or scipy sparse matrix, shape (n, d)
            As it was read.
        offset : array-like or None
            Is refused.
        reset : bool
            False if the fit continues a previous one, whose features it keeps.
        **given
            Queries or tasks of the rows.
        """
        if self._checked("n_features_to_select") != "auto":
            if hasattr(self, "selection_path_"):
                del self.selection_path_
            return
        if offset is not None:
            raise ValueError(
                "n_features_to_select='auto' takes no offset: give a number, or leave the offset out"
            )
        if reset:
            self.selection_path_ = path_for(self, table, y, sample_weight, **given)
        elif not hasattr(self, "selection_path_"):
            raise ValueError(
                "n_features_to_select='auto': warm_start=True continues with the features of the previous "
                "fit, whose number was given; give the same number, or warm_start=False"
            )

    def _new_seed(self) -> int:
        return int(check_random_state(self._checked("random_state")).randint(np.iinfo(np.int32).max))

    def _eval_rows(self, eval_set: Any, eval_sample_weight: Any) -> list[Rows]:
        """Read eval sets; their targets are not converted yet."""
        pairs = pairs_of(eval_set)
        weights = per_set(eval_sample_weight, len(pairs), "eval_sample_weight")
        sets = []
        for k, ((X, y), weight) in enumerate(zip(pairs, weights, strict=True)):
            table = read_eval_table(self, X, k)
            sets.append(Rows(table, y, checked_weight(weight, table.shape[0], f"eval_sample_weight[{k}]")))
        return sets

    def _problem(
        self,
        rows: Rows,
        validations: Sequence[Rows],
        loss: Loss,
        settings: Settings,
        seed: int,
        task: Any,
        communicator: Communicator = ALONE,
    ) -> Problem:
        """Return the input of the fit of a task; targets have been converted to numbers."""
        metrics = self._checked("eval_metric", Context(target=self._kind_of_targets(task)))
        sets = [validation.dataset(communicator) for validation in validations]
        self._check_weight(rows, task, communicator)
        evaluated = Evaluated(self._loss_name, metrics, sets)
        return Problem(rows.dataset(communicator), loss, settings, seed, evaluated)

    def transform(self, X: Any) -> Any:
        """Return the selected columns of a table.

        Parameters
        ----------
        X : array-like or scipy sparse matrix, shape (n, d), or dataframe
            The columns of a dataframe are found by name; only the selected ones are needed.

        Returns
        -------
        ndarray, sparse matrix or dataframe, shape (n, K)
            The selected columns in the order of the training table; see ``set_output`` for dataframes.
        """
        check_is_fitted(self, "trees_")
        check_sparse(X)
        X = unmasked(X)
        if isinstance(X, ParquetTable):
            return X.select(self.get_feature_names_out().tolist())
        if not hasattr(self, "feature_names_in_"):
            return super().transform(X)
        library = _get_output_config("transform", self)["dense"]
        selected = selected_of(X, self.get_feature_names_out(), library)
        return super().transform(X) if selected is None else selected

    def _compact_columns(self) -> tuple[I64, FrameSchema | None]:
        """Return the columns of a compact model and, if they are from a dataframe, their schema."""
        check_is_fitted(self, "trees_")
        features = self.selected_features_
        schema = None if self._schema is None else self._schema.at(features.tolist()).by_place()
        return features.copy(), schema

    def save_model(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a JSON file that ``gtgbm.load_model`` reads.

        Parameters
        ----------
        path : str or path
            The file to write.
        """
        check_is_fitted(self, "trees_")
        save_model(self, path)

    def _get_support_mask(self) -> Bool:
        check_is_fitted(self, "trees_")
        mask: Bool = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.selected_features_] = True
        return mask
