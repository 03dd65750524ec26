"""Plot of the correlations of the selected features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gtgbm.explain import associations, columns_as_bought, feature_names
from gtgbm.plots.names import shown
from gtgbm.plots.style import axes_of, heat_map
from gtgbm.plots.table import as_numbers, columns_of, table_of


class CorrelationDisplay:
    """Absolute correlations of features, as a heat map.

    Rows have names and numbers, columns the same numbers: names below the columns would take the room of
    the cells.

    Parameters
    ----------
    correlations : array-like of float, shape (k, k)
        From 0 to 1; NaN (constant columns) is left blank.
    names : sequence of str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    im_ : matplotlib AxesImage
    """

    def __init__(self, correlations: Any, names: Sequence[str]) -> None:
        self.correlations = np.asarray(correlations, dtype=np.float64)
        self.names = list(names)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, top: int = 40, names: Sequence[Any] | None = None, ax: Any = None
    ) -> CorrelationDisplay:
        """Draw the associations of the selected columns, in the order of selection.

        Of two columns of numbers, the absolute Pearson correlation; of a category and a number, the
        correlation ratio; of two categories, Cramér's V.

        Parameters
        ----------
        estimator : fitted estimator
        X : array-like, dataframe or sparse matrix, shape (n, d)
            A table with the columns that the model was fitted on.
        top : int
            Maximum number of columns to draw.
        names : sequence of str, shape (d,), optional
        ax : matplotlib Axes, optional
        """
        check_is_fitted(estimator, "trees_")
        X = table_of(estimator, X)
        all_names, columns = feature_names(estimator, names), columns_as_bought(estimator)[:top]
        numbers, is_category = as_numbers(estimator, X)
        values, kinds = columns_of(numbers, columns), is_category[columns]
        return cls(associations(values, values, kinds, kinds), [all_names[j] for j in columns]).plot(ax)

    def plot(self, ax: Any = None) -> CorrelationDisplay:
        """Draw into `ax` or a new figure, and return the display."""
        side = 2.2 + 0.3 * max(len(self.names), 4)
        self.ax_, self.figure_ = axes_of(ax, (side + 1.0, side))
        numbers = [str(k) for k in range(1, len(self.names) + 1)]
        labels = [f"{name}  {k}" for name, k in zip(shown(self.names, 24), numbers, strict=True)]
        self.im_ = heat_map(self.ax_, self.correlations, labels, numbers, "association")
        return self
