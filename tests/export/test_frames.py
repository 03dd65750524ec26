"""Trees as a dataframe: every node, with names and categories as the user knows them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gtgbm import GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMRegressor
from gtgbm.export import model_to_frame
from gtgbm.tree import Tree

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {"size": RNG.normal(size=400), "town": np.array(["Ulm", "Bonn", None])[np.arange(400) % 3]}
)
TARGET = TABLE["size"] + 2.0 * (TABLE["town"] == "Ulm") + TABLE["town"].isna()


def walked(nodes: pd.DataFrame, size: float, town: Any) -> float:
    """Follow a row down the nodes of one tree, as a reader of the dataframe would."""
    node = 0
    while True:
        row = nodes.iloc[node]
        if pd.isna(row["feature"]):
            return float(row["value"])
        if row["is_category"]:
            is_right = pd.isna(town) if pd.isna(row["category"]) else town == row["category"]
        else:
            is_right = not row["missing_left"] if np.isnan(size) else size > row["threshold"]
        node = int(row["right"] if is_right else row["left"])


def test_predictions_can_be_read_off_the_dataframe() -> None:
    model = GTGBMRegressor(n_estimators=5, penalty=0.0, random_state=0).fit(TABLE, TARGET)
    frame = model_to_frame(model)
    assert set(frame["feature"].dropna()) == {"size", "town"}
    assert frame["category"].dropna().isin(["Ulm", "Bonn"]).all()
    assert len(frame) == sum(tree.n_nodes for tree in model.trees_)
    rows = TABLE.head(20)
    for k, (size, town) in enumerate(rows.itertuples(index=False)):
        score = model._models[None].start[0] + sum(
            walked(nodes, size, town) for _, nodes in frame.groupby("tree")
        )
        assert score == pytest.approx(model.predict(rows)[k], rel=1e-12)


def test_depth_and_parents() -> None:
    model = GTGBMRegressor(n_estimators=3, random_state=0).fit(TABLE, TARGET)
    frame = model_to_frame(model)
    roots = frame["node"] == 0
    assert frame["parent"].isna().equals(roots)
    assert (frame.loc[roots, "depth"] == 0).all()
    joined = frame[~roots].merge(frame, left_on=["tree", "parent"], right_on=["tree", "node"])
    assert (joined["depth_x"] == joined["depth_y"] + 1).all()
    assert ((joined["node_x"] == joined["left_y"]) | (joined["node_x"] == joined["right_y"])).all()


def test_rounds_of_several_classes_and_names_of_tasks() -> None:
    classes = np.digitize(TARGET, [-1, 1])
    frame = model_to_frame(GTGBMClassifier(n_estimators=4, random_state=0).fit(TABLE, classes))
    assert (frame["round"] == frame["tree"] // 3).all()
    assert (frame["output"] == frame["tree"] % 3).all()
    tasks = MultitaskGTGBMRegressor(n_estimators=4, method="single-task", random_state=0)
    tasks.fit(TABLE, TARGET + 5.0 * (np.arange(400) % 2), task=np.array(["a", "b"])[np.arange(400) % 2])
    frame = model_to_frame(tasks)
    assert set(frame["task"]) == {"a", "b"}
    assert "task" in set(frame["feature"])


def test_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="call fit first"):
        model_to_frame(GTGBMRegressor())
    model = GTGBMRegressor(n_estimators=3, random_state=0).fit(TABLE, TARGET)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"model_to_frame needs pandas: pip install 'gtgbm\[export\]'"):
        model_to_frame(model)


def test_covers_of_children_add_up_and_fit_into_32_bits() -> None:
    light = Tree(
        np.array([0, -1, -1], np.int32),
        np.zeros(3),
        np.zeros(3, np.uint8),
        np.zeros(3, np.uint8),
        np.array([1, -1, -1], np.int32),
        np.zeros(3),
        np.array([2**40, 2**40, 0]),
        np.zeros(3),
    )
    cover = light.covers()
    assert cover[2] == 1
    assert cover[0] == cover[1] + 1 < 2**31
