"""A boosted model: its trees, and how they came to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gtgbm.exact import F64
from gtgbm.tree import Forest, Tree


class HistoryEntry(NamedTuple):
    """One feature bought.

    Attributes
    ----------
    tree : int
        Round of boosting.
    feature : int
        Column of the table.
    gain, price : float
        Fractions of the root's squared error in that tree.
    training_loss : float
        Mean training loss after that round.
    category : float, str or None
        The category bought (NaN: missing values; text, if it came from a dataframe); None for a column.
    """

    tree: int
    feature: int
    gain: float
    price: float
    training_loss: float
    category: Any = None


@dataclass
class Model:
    """Trees and how they came to be; grows by one round at a time."""

    start: F64
    trees: list[Tree] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    history: list[HistoryEntry] = field(default_factory=list)
    training_losses: list[float] = field(default_factory=list)
    evaluations: list[dict[str, list[float]]] = field(default_factory=list)
    best_round: int | None = None

    @property
    def n_rounds(self) -> int:
        """Rounds of boosting done."""
        return len(self.trees) // int(self.start.shape[0])

    def forest(self, first: int = 0) -> Forest:
        """Trees from one on, ready to predict."""
        return Forest.of(self.trees[first:], self.outputs[first:], self.start)

    def keep_rounds(self, n_rounds: int) -> None:
        """Drop the rounds after the first `n_rounds`."""
        n_trees = n_rounds * self.start.shape[0]
        del self.trees[n_trees:], self.outputs[n_trees:]
        self.history = [entry for entry in self.history if entry.tree < n_rounds]

    def copy(self) -> Model:
        """Return a model to go on with that leaves this one as it is; dropped rounds are forgotten."""
        kept = self.n_rounds
        return Model(
            self.start,
            list(self.trees),
            list(self.outputs),
            list(self.history),
            self.training_losses[:kept],
            [{name: values[:kept] for name, values in one.items()} for one in self.evaluations],
        )
