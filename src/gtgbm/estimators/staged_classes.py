"""Stages of the predictions of classifiers, single-task and multitask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtgbm.estimators.details import PredictionDetails
from gtgbm.estimators.outcomes import labels
from gtgbm.exact import F64


class StagedClasses(PredictionDetails):
    """Probabilities and decision scores after each boosting round."""

    classes_: NDArray[Any]

    def _decisions(self, scores: F64) -> F64:
        """Convert scores to what `decision_function` returns."""
        raise NotImplementedError

    def _probabilities(self, scores: F64) -> F64:
        """Convert scores to what `predict_proba` returns."""
        raise NotImplementedError

    def _predicted(self, scores: F64) -> NDArray[Any]:
        decided = self._decisions(scores)
        if self.classes_.shape[0] > 2:
            return labels(decided, self.classes_)
        return np.asarray(labels(decided.ravel(), self.classes_).reshape(decided.shape))

    def staged_predict_proba(self, X: Any, task: Any = None, *, offset: Any = None) -> Iterator[F64]:
        """Predict probabilities after each boosting round, as `staged_predict` predicts classes."""
        return (self._probabilities(scores) for scores in self._staged_scores(X, task, offset))

    def staged_decision_function(self, X: Any, task: Any = None, *, offset: Any = None) -> Iterator[F64]:
        """Return decision scores after each boosting round, as `staged_predict` predicts classes."""
        return (self._decisions(scores) for scores in self._staged_scores(X, task, offset))
