"""What all estimators share: reading parameters and eval sets, and what can be read off a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from gtgbm.boosting import Evaluated, Problem, Settings
from gtgbm.data import FrameSchema, unmasked
from gtgbm.estimators.fitted import FittedAttributes
from gtgbm.estimators.rows import Rows, checked_weight, pairs_of, per_set
from gtgbm.estimators.saving import save_model
from gtgbm.estimators.tables import read_eval_table, selected_of
from gtgbm.estimators.targets import Targets
from gtgbm.exact import I64, Bool
from gtgbm.losses import Loss
from gtgbm.parameters import Context


class BaseGTGBM(SelectorMixin, FittedAttributes, Targets):
    """Common base of the estimators; not for direct use."""

    def __sklearn_tags__(self) -> Any:
        """Missing values and sparse tables are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _forget(self) -> None:
        """Make the model unfitted: should a fit fail, that is better than half of two."""
        if hasattr(self, "trees_"):
            del self.trees_

    def _new_seed(self) -> int:
        return int(check_random_state(self._checked("random_state")).randint(np.iinfo(np.int32).max))

    def _eval_rows(self, eval_set: Any, eval_sample_weight: Any) -> list[Rows]:
        """Read eval sets; their targets are still as they were given."""
        pairs = pairs_of(eval_set)
        weights = per_set(eval_sample_weight, len(pairs), "eval_sample_weight")
        found = []
        for k, ((X, y), weight) in enumerate(zip(pairs, weights, strict=True)):
            table = read_eval_table(self, X, k)
            found.append(Rows(table, y, checked_weight(weight, table.shape[0], f"eval_sample_weight[{k}]")))
        return found

    def _problem(
        self, rows: Rows, validations: Sequence[Rows], loss: Loss, settings: Settings, seed: int
    ) -> Problem:
        """Return what is to be fitted; targets are numbers by now."""
        metrics = self._checked("eval_metric", Context(target=self._kind_of_target))
        evaluated = Evaluated(self._loss_name, metrics, [one.dataset() for one in validations])
        self._check_weight(rows, None)
        return Problem(rows.dataset(), loss, settings, seed, evaluated)

    def transform(self, X: Any) -> Any:
        """Take the selected columns.

        Parameters
        ----------
        X : array-like or scipy sparse matrix, shape (n, d), or dataframe
            Of a dataframe the selected columns, found by name.

        Returns
        -------
        ndarray, sparse matrix or dataframe, shape (n, K)
            In the order of the training table; see ``set_output`` for dataframes.
        """
        check_is_fitted(self, "trees_")
        X = unmasked(X)
        if not hasattr(self, "feature_names_in_"):
            return super().transform(X)
        library = _get_output_config("transform", self)["dense"]
        chosen = selected_of(X, self.get_feature_names_out(), library)
        return super().transform(X) if chosen is None else chosen

    def _compact_columns(self) -> tuple[I64, FrameSchema | None]:
        """Columns that a compact model takes, and what they hold if they came from a dataframe."""
        check_is_fitted(self, "trees_")
        features = self.selected_features_
        schema = None if self._schema is None else self._schema.at(features.tolist()).by_place()
        return features.copy(), schema

    def save_model(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a JSON file, which ``gtgbm.load_model`` reads.

        Parameters
        ----------
        path : str or path
        """
        check_is_fitted(self, "trees_")
        save_model(self, path)

    def _get_support_mask(self) -> Bool:
        check_is_fitted(self, "trees_")
        mask: Bool = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.selected_features_] = True
        return mask
