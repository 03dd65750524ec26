"""Contributions as an Explanation of the package shap, whose plots then show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gtgbm.explain.names import feature_names


def shap_explanation(estimator: Any, X: Any, *, task: Any = None) -> Any:
    """Return the contributions of the selected columns as a ``shap.Explanation``.

    Parameters
    ----------
    estimator : any fitted estimator of this package
    X : array-like or dataframe, shape (n, d)
    task : array-like, shape (n,), optional
        Task of each row, for multitask models with one target per row.

    Returns
    -------
    shap.Explanation
        ``values`` of shape (n, K), the contributions of the selected columns to the score, as
        ``predict_contributions`` returns them; (n, K, classes) for more than two classes, and (n, K, T) for
        one target column per task. ``data`` has the selected columns of the table.
    """
    try:
        import shap
    except ImportError as error:
        raise ImportError("shap_explanation needs shap: pip install shap", name="shap") from error
    found = estimator.predict_contributions(X, task, selected_only=True)
    if found.ndim == 4:
        raise ValueError(
            "shap knows one axis of outputs, but this model has one for tasks and one for classes: use "
            "predict_contributions, and make a shap.Explanation of the values of one task"
        )
    if found.ndim == 3:  # shap has classes last
        found = np.moveaxis(found, 1, 2)
        values, expected = found[:, :-1], found[:, -1]
        has_classes = len(getattr(estimator, "classes_", ())) > 2
        names: list[Any] | None = list(estimator.classes_ if has_classes else estimator.tasks_)
    else:
        values, expected, names = found[:, :-1], found[:, -1], None
    selected = estimator.transform(X)
    data = np.asarray(selected.toarray() if hasattr(selected, "toarray") else selected)
    known = feature_names(estimator)
    return shap.Explanation(
        values,
        base_values=expected,
        data=data,
        feature_names=[known[column] for column in estimator.selected_features_.tolist()],
        output_names=names,
    )
