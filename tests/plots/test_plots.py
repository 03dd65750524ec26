"""What pictures show; how they look was looked at."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.inspection import PartialDependenceDisplay

from gtgbm import GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMClassifier, Tree
from gtgbm.explain import columns_as_bought
from gtgbm.explain.correlations import absolute_correlations
from gtgbm.plots import (
    CorrelationDisplay,
    ImportanceDisplay,
    SelectionCurveDisplay,
    TaskCurvesDisplay,
    TaskMatrixDisplay,
    TreeDisplay,
    to_graphviz,
)
from gtgbm.plots.names import shown

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 30))
SIGNAL = X[:, 3] + 0.7 * X[:, 7] + 0.5 * X[:, 11] * X[:, 12] + 0.2 * RNG.normal(size=600)
NAMES = [f"a rather long name of the column with the number {j} and $more$ to come" for j in range(30)]
TASK = np.array(["a", "b", "c"])[np.arange(600) % 3]


@pytest.fixture(autouse=True)
def _closed_figures() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model() -> Any:
    return GTGBMClassifier(penalty=0.005, n_estimators=30, random_state=0).fit(X, SIGNAL > 0)


@pytest.fixture(scope="module")
def multitask() -> Any:
    model = MultitaskGTGBMClassifier(n_estimators=10, group_penalty=0.01, task_penalty=0.01, random_state=0)
    return model.fit(X, SIGNAL + X[np.arange(600), 20 + np.arange(600) % 3] > 0, task=TASK)


@pytest.fixture(scope="module")
def constant() -> Any:
    """Nothing is bought: the price is higher than any gain."""
    with pytest.warns(UserWarning, match="no features are selected"):
        return GTGBMClassifier(penalty=0.999, n_estimators=3).fit(X, SIGNAL > 0)


def labels_of(axis: Any) -> list[str]:
    return [label.get_text().replace(r"\$", "$") for label in axis.get_ticklabels()]


def overlaps(labels: list[Any], figure: Any) -> bool:
    """Whether neighbouring texts cover each other."""
    figure.canvas.draw()
    boxes = [label.get_window_extent() for label in labels if label.get_text()]
    return any(
        a.y0 < b.y1 - 1 and b.y0 < a.y1 - 1 and a.x0 < b.x1 - 1 and b.x0 < a.x1 - 1
        for a, b in pairwise(boxes)
    )


def test_selection_path_shows_the_metric_when_bought(model: Any) -> None:
    display = SelectionCurveDisplay.from_estimator(model, X, SIGNAL > 0)
    counts, values = display.line_.get_data()
    assert counts[0] == 0
    assert counts[-1] == model.n_selected_features_
    assert values[0] == 0.5
    assert (np.diff(counts) > 0).all()
    assert display.ax_.get_ylabel() == "auc"
    assert display.figure_ is display.ax_.figure


def test_selection_path_without_rows_shows_the_training_loss(model: Any) -> None:
    display = SelectionCurveDisplay.from_estimator(model, over="trees")
    rounds, losses = display.line_.get_data()
    assert rounds[-1] == 30
    np.testing.assert_array_equal(losses[1:], model.evals_result_["training"]["log_loss"])
    with pytest.raises(ValueError, match="needs rows to measure on"):
        display.plot(of="metric")
    with pytest.raises(ValueError, match="over='rows'"):
        display.plot(over="rows")  # type: ignore[arg-type]


def test_path_of_tasks(multitask: Any) -> None:
    display = SelectionCurveDisplay.from_estimator(multitask, X, SIGNAL > 0, task=TASK)
    assert display.line_.get_xdata()[-1] == multitask.n_selected_features_


def test_importances_are_sorted_and_named(model: Any) -> None:
    _, ax = plt.subplots()
    display = ImportanceDisplay.from_estimator(model, top=3, names=NAMES, ax=ax)
    assert display.ax_ is ax
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_array_equal(widths, np.sort(model.feature_importances_)[::-1][:3])
    assert display.names[0] == NAMES[int(np.argmax(model.feature_importances_))]


def test_importances_of_a_task(multitask: Any) -> None:
    display = ImportanceDisplay.from_estimator(multitask, task="b")
    assert display.values[0] == multitask.task_importances_["b"].max()
    with pytest.raises(ValueError, match="task='z'"):
        ImportanceDisplay.from_estimator(multitask, task="z")


def test_twenty_long_names_do_not_overlap() -> None:
    figure = ImportanceDisplay(NAMES[:20], np.linspace(1, 0.1, 20)).plot()
    assert not overlaps(figure.ax_.get_yticklabels(), figure.figure_)
    assert len(set(labels_of(figure.ax_.yaxis))) == 20
    matrix = CorrelationDisplay(np.eye(20), NAMES[:20]).plot()
    assert not overlaps(matrix.ax_.get_yticklabels(), matrix.figure_)


@pytest.mark.parametrize("n", [3, 8, 12])
def test_numbers_of_a_small_matrix_do_not_overlap(n: int) -> None:
    """Once: one long name left so little room that the numbers were written over each other."""
    _, ax = plt.subplots(figsize=(4.6, 2.5), layout="constrained")
    matrix = CorrelationDisplay(np.eye(n), NAMES[:n]).plot(ax)
    assert len(ax.texts) == (n * n if n < 10 else 0), "many columns have a scale of colours instead"
    assert not overlaps(ax.texts[:n], matrix.figure_)
    assert labels_of(ax.xaxis) == [str(k + 1) for k in range(n)]


@given(st.lists(st.text(max_size=60), max_size=30), st.integers(12, 40))
def test_short_names_are_short_and_tell_names_apart(names: list[str], longest: int) -> None:
    found = [name.replace(r"\$", "$") for name in shown(names, longest)]
    assert all(len(name) <= longest + 1 for name in found)
    assert all(name.isprintable() for name in found)
    printable = ["".join(letter if letter.isprintable() else " " for letter in name) for name in names]
    assert len(set(found)) == len(set(printable))


@given(st.integers(0, 2**32 - 1))
def test_correlations_are_those_of_the_rows_both_have(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(30, 3)), rng.normal(size=(30, 2)) * 1e200
    a[:, 1] = 1 / 3
    a[rng.random(a.shape) < 0.2] = np.nan
    b[rng.random(b.shape) < 0.2] = np.inf
    found = absolute_correlations(a, b)
    assert np.isnan(found[1]).all(), "a constant column has no correlations"
    for i in (0, 2):
        for j in range(2):
            both = np.isfinite(a[:, i]) & np.isfinite(b[:, j])
            expected = abs(np.corrcoef(a[both, i], b[both, j] / 1e200)[0, 1])
            assert found[i, j] == pytest.approx(expected, abs=1e-9)


def test_correlation_display_of_any_table(model: Any) -> None:
    shown_matrix = CorrelationDisplay.from_estimator(model, X).correlations
    columns = X[:, columns_as_bought(model)]
    np.testing.assert_allclose(shown_matrix, np.abs(np.corrcoef(columns.T)), atol=1e-12)
    for table in (csr_matrix(X), pd.DataFrame(X)):
        np.testing.assert_array_equal(
            CorrelationDisplay.from_estimator(model, table).correlations, shown_matrix
        )
    with pytest.raises(ValueError, match="X has 5 columns"):
        CorrelationDisplay.from_estimator(model, X[:, :5])


def test_task_matrix_is_blank_where_a_task_does_not_own(multitask: Any) -> None:
    display = TaskMatrixDisplay.from_estimator(multitask)
    assert display.importances.shape == (multitask.n_selected_features_, 3)
    for i, name in enumerate(display.features):
        for t, task in enumerate(display.tasks):
            owned = int(name[1:]) in multitask.task_features_[task]
            assert np.isnan(display.importances[i, t]) == (not owned)
    assert np.nansum(display.importances) == pytest.approx(3.0)


def test_task_curves(multitask: Any) -> None:
    display = TaskCurvesDisplay.from_estimator(multitask)
    for task, line in zip("abc", display.lines_, strict=True):
        assert line.get_label() == task
        np.testing.assert_array_equal(line.get_ydata(), multitask.evals_result_[task]["training"]["log_loss"])
    with pytest.raises(ValueError, match="of='validation_0' was not evaluated"):
        TaskCurvesDisplay.from_estimator(multitask, of="validation_0")
    many = TaskCurvesDisplay({k: [1.0, 0.5][: 1 + k % 2] for k in range(40)}).plot()
    assert [text.get_text() for text in many.ax_.get_legend().get_texts()] == ["40 tasks", "mean"]


def test_plots_of_tasks_refuse_other_models(model: Any) -> None:
    with pytest.raises(TypeError, match="has no tasks"):
        TaskMatrixDisplay.from_estimator(model)


def test_tree_shows_every_leaf(model: Any) -> None:
    tree = model.trees_[0]
    texts = [text.get_text() for text in TreeDisplay.from_estimator(model, max_depth=50).ax_.texts]
    assert sum("rows)" in text for text in texts) == tree.n_leaves
    assert sum("≤" in text for text in texts) == tree.n_nodes - tree.n_leaves
    with pytest.raises(ValueError, match="number=30"):
        TreeDisplay.from_estimator(model, 30)


def test_folded_branches_count_their_leaves(model: Any) -> None:
    tree = model.trees_[0]
    texts = [text.get_text() for text in TreeDisplay(tree, max_depth=1).plot().ax_.texts]
    folded = [int(text.split()[1]) for text in texts if text.startswith("…")]
    alone = sum(text.startswith(("+", "-")) for text in texts)
    assert sum(folded) + alone == tree.n_leaves


def test_graphviz_text_names_every_node() -> None:
    tree = Tree(
        *(np.array(a) for a in ([1, -1, 0, -1, -1], [0.5, 0, 7, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0])),
        *(
            np.array(a)
            for a in ([1, -1, 3, -1, -1], [0, 0.25, 0, -1, 2.0], [10, 4, 6, 3, 3], [2.0, 0, 1, 0, 0])
        ),
    )
    text = to_graphviz(tree, ['a "quoted" \\ name', "cost in $"])
    assert '0 [label="cost in $ ≤ 0.5\\n10 rows"]' in text
    assert '2 [label="a \\"quoted\\" \\\\ name ≠ 7\\n6 rows"]' in text
    assert '0 -> 1 [label="yes, missing"]' in text
    assert '2 -> 4 [label="no, missing"]' in text
    assert text.count("->") == 4
    with pytest.raises(ValueError, match="names has 1 entries"):
        to_graphviz(tree, ["only one"])


def test_nothing_selected_is_drawn_too(constant: Any) -> None:
    assert constant.n_selected_features_ == 0
    ImportanceDisplay.from_estimator(constant).figure_.canvas.draw()
    CorrelationDisplay.from_estimator(constant, X).figure_.canvas.draw()
    SelectionCurveDisplay.from_estimator(constant, X, SIGNAL > 0).figure_.canvas.draw()
    TreeDisplay.from_estimator(constant).figure_.canvas.draw()


@pytest.mark.parametrize("as_frame", [False, True])
def test_partial_dependence_through_scikit_learn(as_frame: bool) -> None:
    table = pd.DataFrame(X, columns=[f"column {j}" for j in range(30)]) if as_frame else X
    features = ["column 3", "column 7"] if as_frame else [3, 7]
    for estimator, target, rise in ((GTGBMRegressor, SIGNAL, 1.0), (GTGBMClassifier, SIGNAL > 0, 0.2)):
        model = estimator(n_estimators=20, random_state=0).fit(table, target)
        display = PartialDependenceDisplay.from_estimator(model, table, features, grid_resolution=10)
        average = display.pd_results[0]["average"][0]
        assert average[-1] > average[0] + rise


def test_importing_the_package_does_not_import_matplotlib() -> None:
    code = "import sys, gtgbm, gtgbm.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("categorical", ["category", "column"])
def test_trees_show_the_names_of_categories(categorical: str) -> None:
    rng = np.random.default_rng(0)
    town = rng.choice(["Bonn", "Kyiv", "a $ town"], 300)
    frame = pd.DataFrame({"town": town, "n": rng.normal(size=300)})
    y = 3.0 * (town == "Kyiv") + 9.0 * (town == "a $ town") + frame["n"]
    model = GTGBMRegressor(n_estimators=3, categorical=categorical, random_state=0).fit(frame, y)
    dot = to_graphviz(model.trees_[0], estimator=model)
    assert "town ≠ a $ town" in dot
    assert "n ≤ " in "".join(to_graphviz(tree, estimator=model) for tree in model.trees_)
    assert "x0 ≠ 2" in to_graphviz(model.trees_[0])
    display = TreeDisplay.from_estimator(model)
    texts = [text.get_text() for text in display.ax_.texts]
    assert r"town ≠ a \$ town" in texts
    TreeDisplay(model.trees_[0], estimator=model).plot()


def test_trees_of_all_tasks_in_one_show_the_names_of_tasks() -> None:
    rng = np.random.default_rng(0)
    table, task = rng.normal(size=(300, 3)), np.array(["north", "south"])[np.arange(300) % 2]
    model = MultitaskGTGBMClassifier(n_estimators=2, method="single-task", random_state=0)
    model.fit(table, (task == "south") ^ (table[:, 0] > 1.0), task)
    assert re.search("task ≠ (north|south)", to_graphviz(model.trees_["north"][0], estimator=model))
