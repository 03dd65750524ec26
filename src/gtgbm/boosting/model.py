"""A boosted model: its trees and its training history."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from gtgbm.exact import F64
from gtgbm.tree import Forest, Tree


class HistoryEntry(NamedTuple):
    """A selected feature.

    Attributes
    ----------
    tree : int
        Boosting round in which it was selected.
    feature : int
        Column of the table.
    gain, price : float
        Gain of its first split and price paid, as fractions of the root's squared error in that tree.
    training_loss : float
        Mean training loss after that round.
    category : float, str or None
        The category selected (NaN: missing values; text if from a dataframe); None for a whole column.
    cost : float
        What the feature adds to the total cost of the model: 0 if it is bought together with an earlier one.
    """

    tree: int
    feature: int
    gain: float
    price: float
    training_loss: float
    category: Any = None
    cost: float = 1.0


def are_chosen_first(history: Iterable[HistoryEntry]) -> bool:
    """Whether all features were selected before the first round: nothing was paid, and none came later.

    Their gain is then their importance in the selection.
    """
    return all(entry.tree == 0 and entry.price == 0.0 for entry in history)


@dataclass
class Model:
    """Trees and training history of a model; grows by one round at a time.

    Attributes
    ----------
    start : ndarray of float64, shape (k,)
        Initial scores.
    trees : list of Tree
        k trees per round.
    outputs : list of int
        Index of the score that each tree adds to.
    history : list of HistoryEntry
        Selected features in the order of selection.
    training_losses : list of float
        Mean training loss after each round.
    evaluations : list of dict of list of float
        For each validation set, the values after each round by name of the loss or metric.
    best_round : int or None
        Number of rounds of the best model on the validation data.
    """

    start: F64
    trees: list[Tree] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    history: list[HistoryEntry] = field(default_factory=list)
    training_losses: list[float] = field(default_factory=list)
    evaluations: list[dict[str, list[float]]] = field(default_factory=list)
    best_round: int | None = None

    @property
    def n_rounds(self) -> int:
        """Number of boosting rounds."""
        return len(self.trees) // int(self.start.shape[0])

    def forest(self, first: int = 0) -> Forest:
        """Return the trees from index `first` on, ready to predict."""
        return Forest.of(self.trees[first:], self.outputs[first:], self.start)

    def keep_rounds(self, n_rounds: int) -> None:
        """Drop the rounds after the first `n_rounds`."""
        n_trees = n_rounds * self.start.shape[0]
        del self.trees[n_trees:], self.outputs[n_trees:]
        self.history = [entry for entry in self.history if entry.tree < n_rounds]

    def become(self, other: Model) -> None:
        """Take over all that another model has."""
        for part in fields(self):
            setattr(self, part.name, getattr(other, part.name))

    def copy(self) -> Model:
        """Return a copy to continue, without the losses of dropped rounds; this model stays unchanged."""
        kept = self.n_rounds
        return Model(
            self.start,
            list(self.trees),
            list(self.outputs),
            list(self.history),
            self.training_losses[:kept],
            [{name: values[:kept] for name, values in of_set.items()} for of_set in self.evaluations],
        )
