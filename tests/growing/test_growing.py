"""How a tree is grown: subtrees natively or level by level, nodes due for a search, back-off."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gtgbm import AGBMClassifier, GTGBMClassifier
from gtgbm.estimators import single_task
from gtgbm.exact import FitContext
from gtgbm.exact.arrays import F64
from gtgbm.exact.communicator import LocalCommunicator
from gtgbm.growing.backoff import SearchBackoff
from tests.estimators.test_determinism import bytes_of
from tests.strategies import selects_few


class ManyMachines(LocalCommunicator):
    """One machine that believes there are others: every histogram passes through it."""

    world = 2


def table(n_rows: int) -> tuple[F64, F64]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 30))
    X[:, 5] = rng.integers(0, 9, n_rows)
    X[rng.random(X.shape) < 0.03] = np.nan
    clean = np.nan_to_num(X)
    y = clean[:, 0] + np.sin(2 * clean[:, 1]) + clean[:, 2] * clean[:, 3] + 2.0 * (X[:, 5] == 4)
    return X, (y + 0.5 * rng.normal(size=n_rows) > 0.5).astype(np.float64)


@pytest.mark.parametrize("n_rows", [700, 30_000])
@pytest.mark.parametrize(
    "model",
    [
        AGBMClassifier(penalty=0.001, categorical_features=[5]),
        AGBMClassifier(penalty=0.003, max_depth=4, n_features_to_select=3),
        GTGBMClassifier(n_features_to_select=4, categorical_features=[5], random_state=0),
        GTGBMClassifier(penalty=0.001, search="group-testing", categorical_features=[5], random_state=0),
        GTGBMClassifier(penalty=0.003, search="exhaustive", max_depth=7),
        GTGBMClassifier(penalty=0.001, search="group-testing", l2_regularization=20.0, random_state=0),
        GTGBMClassifier(penalty=0.0005, search="exhaustive", max_leaf_nodes=6, categorical_features=[5]),
        GTGBMClassifier(penalty=0.0003, search="group-testing", min_node_fraction=0.1, random_state=1),
    ],
)
def test_many_machines_grow_the_same_trees(monkeypatch: pytest.MonkeyPatch, model: Any, n_rows: int) -> None:
    X, y = table(n_rows)
    model.set_params(n_estimators=8)
    alone = bytes_of(model.fit(X, y).trees_)
    history = model.selection_history_
    monkeypatch.setattr(single_task, "FitContext", lambda pool, _: FitContext(pool, ManyMachines()))
    together = bytes_of(model.fit(X, y).trees_)
    assert model.n_selected_features_ >= 3
    assert history == model.selection_history_
    assert alone == together


def test_backoff_grows_while_nothing_is_found() -> None:
    backoff = SearchBackoff(3)
    owned = [0, *[2] * 14, 3, 3]
    searches = [backoff.start_tree(n) for n in owned]
    assert searches == [
        *(True, True, False, True, False, False, True, False, False, False, True, False, False, False),
        *(True, True, False),
    ]


def test_no_backoff() -> None:
    backoff = SearchBackoff(0)
    assert all(backoff.start_tree(5) for _ in range(10))


@selects_few
def test_a_tree_without_a_search_buys_nothing() -> None:
    X, y = table(3000)
    model = GTGBMClassifier(penalty=0.2, n_estimators=12, search="exhaustive").fit(X, y)
    assert model.n_selected_features_ <= 1
    assert len(model.trees_) >= 1
