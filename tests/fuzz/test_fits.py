"""What must hold of every fit, whatever the table and the settings; ``nox -s fuzz`` tries many more."""

from __future__ import annotations

import os
import pickle
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import Phase, given, note, settings
from scipy import sparse

import gtgbm
from tests.fuzz.cases import Case, cases, make_case
from tests.strategies import selects_few

EXAMPLES = int(os.environ.get("GTGBM_FUZZ_EXAMPLES", "60"))
REFUSALS = (
    "only one class",
    "common trees need tasks with the same classes",
    "has a single row",
    "sample_weight",
    "n_features_to_select",
    "classes that training did not see",
    "validation_fraction",
)
"""Parts of errors that random data may rightly meet."""
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
"""A case is made from a seed, and a smaller seed is no simpler case."""


def fitted(case: Case, **more: Any) -> Any:
    """Fit, and check that no warning is raised but our own, and that the user's data stays as it is."""
    before = pickle.dumps((case.X, case.y, case.rows))
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        model = case.unfitted().fit(case.X, case.y, **case.rows, **more)
    foreign = [one for one in raised if one.category is not UserWarning]
    assert not foreign, [str(one.message) for one in foreign]
    assert pickle.dumps((case.X, case.y, case.rows)) == before, "fit changed what the user passed"
    return model


def fitted_or_refused(case: Case, **more: Any) -> Any:
    """Fit; None where the data is rightly refused."""
    try:
        return fitted(case, **more)
    except ValueError as error:
        if not any(text in str(error) for text in REFUSALS):
            raise
        return None


def tasks_of(model: Any, values: Any) -> dict[Any, Any]:
    return dict(values) if hasattr(model, "tasks_") else {None: values}


def used_columns(model: Any) -> set[int]:
    trees = [tree for of_task in tasks_of(model, model.trees_).values() for tree in of_task]
    used = {int(column) for tree in trees for column in tree.feature[tree.feature >= 0]}
    return {column for column in used if column < model.n_features_in_}


def predictions(case: Case, model: Any, X: Any = None, **rows: Any) -> Any:
    X = case.X if X is None else X
    method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    return getattr(model, method)(X, **(rows or case.of_predict))


def columns_of(case: Case, features: Any) -> Any:
    if hasattr(case.X, "iloc"):
        return case.X.iloc[:, features]
    return case.X[:, features]


def without_costs(parameters: dict[str, Any]) -> dict[str, Any]:
    """Settings for a table with fewer columns."""
    per_column = ("feature_costs", "feature_groups", "fixed_features", "cost_budget")
    return {name: value for name, value in parameters.items() if name not in per_column}


@selects_few
@settings(max_examples=EXAMPLES, phases=NO_SHRINKING)
@given(cases)
def test_invariants_of_a_fit(case: Case) -> None:
    note(f"{case.estimator}({case.parameters}) {type(case.X).__name__} {case.X.shape} {list(case.rows)}")
    model = fitted_or_refused(case, **case.of_eval_set)
    if model is None:
        return
    check_losses(case, model)
    check_selection(case, model)
    check_predictions(case, model)
    check_monotone(case, model)


def check_losses(case: Case, model: Any) -> None:
    """The training loss is the loss of the same rows as an eval set, after the rounds of common trees."""
    first = case.parameters.get("n_common_rounds", 0)
    for results in tasks_of(model, model.evals_result_).values():
        ((name, training),) = results["training"].items()
        if "validation_0" in results:
            expected = results["validation_0"][name][first:]
            np.testing.assert_allclose(training[first:], expected, rtol=1e-7, atol=1e-9)


def check_selection(case: Case, model: Any) -> None:
    """What is said to be selected is what the trees use, within the limits."""
    fixed = set(case.parameters.get("fixed_features", []))
    assert set(model.selected_features_.tolist()) == used_columns(model) | fixed
    if case.is_multitask:
        for task, trees in model.trees_.items():
            used = {int(column) for tree in trees for column in tree.feature[tree.feature >= 0]}
            assert set(model.task_features_[task].tolist()) | fixed == used - {model.n_features_in_} | fixed
    limit = case.parameters.get("n_features_to_select")
    if limit is not None and case.parameters.get("method") != "independent":
        histories = tasks_of(model, model.selection_history_).values()
        assert len(units(case, [entry for history in histories for entry in history])) <= limit
    per_task = case.parameters.get("n_features_per_task")
    if per_task is not None:
        assert max(len(units(case, history)) for history in model.selection_history_.values()) <= per_task
    check_costs(case, model)
    check_trees(case, model)


def units(case: Case, history: list[Any]) -> set[Any]:
    """Features that count: columns or categories, of which those of a group count once."""
    (group,) = case.parameters.get("feature_groups", [[]])
    return {"group" if entry.feature in group else (entry.feature, entry.category) for entry in history}


def check_costs(case: Case, model: Any) -> None:
    """Forbidden features are not used, and what is paid is within the budget."""
    costs, budget = case.parameters.get("feature_costs"), case.parameters.get("cost_budget")
    if costs is not None:
        assert np.isfinite(costs[model.selected_features_]).all()
    if budget is not None and case.parameters.get("method") != "independent":
        assert model.total_cost_ <= budget + 1e-9


def check_trees(case: Case, model: Any) -> None:
    """Trees are as deep and have as many leaves as allowed."""
    depth, leaves = case.parameters.get("max_depth"), case.parameters.get("max_leaf_nodes")
    for trees in tasks_of(model, model.trees_).values():
        for tree in trees:
            depths = np.zeros(tree.n_nodes, dtype=np.int64)
            for node in np.flatnonzero(tree.feature >= 0):
                depths[tree.left[node] : tree.left[node] + 2] = depths[node] + 1
            assert depth is None or depths.max(initial=0) <= depth
            assert leaves is None or tree.n_leaves <= leaves


def check_predictions(case: Case, model: Any) -> None:
    """Predictions in parts, compact, reloaded and unpickled are the same bits as those of the whole."""
    whole = predictions(case, model)
    assert np.isfinite(whole).all()
    n = case.X.shape[0]
    half = np.arange(n) < n // 2
    for at in (np.flatnonzero(half), np.flatnonzero(~half)):
        X = case.X.iloc[at] if hasattr(case.X, "iloc") else case.X[at]
        rows = {name: value[at] for name, value in case.of_predict.items()}
        np.testing.assert_array_equal(predictions(case, model, X, **rows), whole[at])
    compact = model.compact()
    X = columns_of(case, compact.features_)
    np.testing.assert_array_equal(predictions(case, compact, X), whole)
    with tempfile.TemporaryDirectory() as folder:
        model.save_model(Path(folder) / "model.json")
        for other in (gtgbm.load_model(Path(folder) / "model.json"), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(predictions(case, other), whole)


def check_monotone(case: Case, model: Any) -> None:
    """Predictions follow the constraint of the first column."""
    direction = case.parameters.get("monotone_constraints", [0])[0]
    if direction == 0:
        return
    values = np.unique(case.X[np.isfinite(case.X[:, 0]), 0])
    X = np.repeat(case.X[[7]], len(values), axis=0)
    X[:, 0] = values
    rows = {name: np.repeat(value[7], len(values)) for name, value in case.of_predict.items()}
    if len(values):
        assert (direction * np.diff(predictions(case, model, X, **rows)) >= 0).all()


@selects_few
@settings(max_examples=max(10, EXAMPLES // 4), phases=NO_SHRINKING)
@given(cases.filter(lambda case: isinstance(case.X, np.ndarray)))
def test_arrays_and_dataframes_give_the_same_model(case: Case) -> None:
    model = fitted_or_refused(case)
    if model is None:
        return
    whole = predictions(case, model)
    columns = {f"x{k}": case.X[:, k] for k in range(case.X.shape[1])}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        model = case.unfitted().fit(frame, case.y, **case.rows)
        np.testing.assert_array_equal(predictions(case, model, frame), whole)


@selects_few
@settings(max_examples=max(10, EXAMPLES // 4), phases=NO_SHRINKING)
@given(cases.filter(lambda case: hasattr(case.X, "iloc")))
def test_libraries_of_dataframes_give_the_same_model(case: Case) -> None:
    # Other libraries have no categories that are numbers.
    case = replace(case, X=case.X.drop(columns="code"), parameters=without_costs(case.parameters))
    model = fitted_or_refused(case)
    if model is None:
        return
    whole = predictions(case, model)
    for frame in (pl.from_pandas(case.X), pa.Table.from_pandas(case.X, preserve_index=False)):
        model = case.unfitted().fit(frame, case.y, **case.rows)
        np.testing.assert_array_equal(predictions(case, model, frame), whole)


@selects_few
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_sparse_and_dense_tables_give_the_same_model(kind: str) -> None:
    for seed in range(12):
        case = make_case(seed, "AGBMRegressor", kind)
        assert sparse.issparse(case.X)
        dense = case.unfitted().fit(case.X.toarray(), case.y, **case.rows)
        np.testing.assert_array_equal(dense.predict(case.X.toarray()), fitted(case).predict(case.X))
