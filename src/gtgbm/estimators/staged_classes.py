"""Predictions of classifiers, single-task and multitask: from scores, and after each boosting round."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from gtgbm.estimators.details import PredictionDetails
from gtgbm.estimators.outcomes import decisions, labels, probabilities
from gtgbm.exact import F64


class StagedClasses(PredictionDetails):
    """Probabilities and decision scores after each boosting round."""

    classes_: NDArray[Any]

    def _decisions(self, scores: F64) -> F64:
        """Convert scores to what `decision_function` returns."""
        return decisions(scores, self._fitted_loss)

    def _probabilities(self, scores: F64) -> F64:
        """Convert scores to what `predict_proba` returns."""
        return probabilities(scores, self._fitted_loss)

    def _predicted(self, scores: F64) -> NDArray[Any]:
        return labels(self._decisions(scores), self.classes_)

    def staged_predict_proba(self, X: Any, task: Any = None, *, offset: Any = None) -> Iterator[F64]:
        """Predict probabilities after each boosting round, as `staged_predict` predicts classes."""
        return (self._probabilities(scores) for scores in self._staged_scores(X, task, offset))

    def staged_decision_function(self, X: Any, task: Any = None, *, offset: Any = None) -> Iterator[F64]:
        """Return decision scores after each boosting round, as `staged_predict` predicts classes."""
        return (self._decisions(scores) for scores in self._staged_scores(X, task, offset))
