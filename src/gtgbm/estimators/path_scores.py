"""Scores of the models of a selection path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sklearn.metrics import get_scorer, get_scorer_names

from gtgbm.estimators.held_out import HeldOut
from gtgbm.estimators.parts import is_multitask, parts_of
from gtgbm.estimators.path_rows import PathRows
from gtgbm.metrics import Metric, TargetKind

_DEFAULT: dict[TargetKind, str] = {
    "binary": "auc",
    "multiclass": "log_loss",
    "numbers": "r2",
    "relevance": "ndcg@10",
}


@dataclass(frozen=True)
class Scoring:
    """Scores a fitted model on held-out rows; greater is better.

    Attributes
    ----------
    given : str, callable or None
        See ``selection_path``.
    """

    given: Any

    def __call__(self, model: Any, rows: PathRows) -> float:
        """Return the score of a model."""
        if self._is_scorer(model):
            scorer = get_scorer(self.given) if isinstance(self.given, str) else self.given
            weight = {} if rows.sample_weight is None else {"sample_weight": rows.sample_weight}
            return float(scorer(model, rows.X, rows.y, **weight))
        held_out, metric = self._metric(model, rows)
        prediction = parts_of(model, rows.X, rows.task).predicted()
        value = held_out.measured(metric, prediction, rows.sample_weight)
        return value if metric.greater_is_better else -value

    def name(self, model: Any, rows: PathRows) -> str:
        """Return what the score of a fitted model is."""
        if self._is_scorer(model):
            return self.given if isinstance(self.given, str) else getattr(self.given, "__name__", "score")
        metric = self._metric(model, rows)[1]
        return metric.name if metric.greater_is_better else f"-{metric.name}"

    def _is_scorer(self, model: Any) -> bool:
        """Whether the score is one of scikit-learn, which knows neither queries nor tasks."""
        if self.given is None or model._ranks or is_multitask(model):
            return False
        return callable(self.given) or self.given in get_scorer_names()

    def _metric(self, model: Any, rows: PathRows) -> tuple[HeldOut, Metric]:
        held_out = HeldOut.of(model, rows.y, qid=rows.qid, task=rows.task)
        return held_out, held_out.metric(_DEFAULT[held_out.kind] if self.given is None else self.given)
