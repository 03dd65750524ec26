"""Categories are matched by value: what else a column holds does not change what a value is called."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gtgbm import GTGBMClassifier

DAY = datetime.datetime(2020, 1, 1)
VALUES: dict[str, list[Any]] = {
    "ints": [0, 1, 2, 3],
    "floats": [0.0, 1.5, 2.0, -3.25],
    "bools": [False, True],
    "dates": [DAY + datetime.timedelta(days=k) for k in range(4)],
    "times": [DAY + datetime.timedelta(hours=7 * k) for k in range(4)],
    "text": ["0.0", "0", "x", "1"],
}


def frame_of(values: list[Any], numbers: Any) -> pd.DataFrame:
    return pd.DataFrame({"a": pd.Series(values).astype("category"), "b": numbers})


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("missing_in_training", [False, True])
def test_a_missing_value_does_not_rename_the_others(kind: str, missing_in_training: bool) -> None:
    rng = np.random.default_rng(0)
    at = rng.integers(0, len(VALUES[kind]), 400)
    values = [VALUES[kind][k] for k in at]
    b = rng.normal(size=400)
    with_missing = [None, *values[1:]]
    plain, holed = frame_of(values, b), frame_of(with_missing, b)
    y = (at == 1) ^ (b > 1.0)
    one, other = (holed, plain) if missing_in_training else (plain, holed)
    model = GTGBMClassifier(n_estimators=8, random_state=0).fit(one, y, eval_set=[(one, y), (other, y)])
    expected = model.predict_proba(one)
    assert np.abs(expected[:, 1] - y).mean() < 0.3
    np.testing.assert_array_equal(model.predict_proba(other)[1:], expected[1:])
    small = model.compact()
    np.testing.assert_array_equal(small.predict_proba(other)[1:], expected[1:])
    for k in range(1, 20):
        np.testing.assert_array_equal(small.predict_proba({"a": values[k], "b": b[k]}), expected[k])
        np.testing.assert_array_equal(small.predict_proba(other.iloc[k]), expected[k])
    losses = [model.evals_result_[f"validation_{k}"]["log_loss"][-1] for k in range(2)]
    assert losses[0] == pytest.approx(losses[1], abs=0.05)


@pytest.mark.parametrize("kind", ["ints", "floats", "bools", "dates", "text"])
def test_every_library_has_the_same_categories(kind: str) -> None:
    rng = np.random.default_rng(0)
    at = rng.integers(0, len(VALUES[kind]), 300)
    values: list[Any] = [VALUES[kind][k] for k in at]
    values[3], b, y = None, rng.normal(size=300), at == 1
    arrow = pa.table({"a": pa.array(values).dictionary_encode(), "b": b})
    frames: list[Any] = [frame_of(values, b), arrow]
    if kind != "text":
        frames.append(
            pd.DataFrame({"a": pd.Series(arrow["a"].to_pandas(), dtype="category"), "b": b}),
        )
    else:
        frames.append(pl.DataFrame({"a": values, "b": b}))
    models = [GTGBMClassifier(n_estimators=4, random_state=0).fit(frame, y) for frame in frames]
    categories = [model._schema.columns[0].categories for model in models if model._schema is not None]
    assert categories[0] == categories[1] == categories[2]
    expected = models[0].predict_proba(frames[0])
    for model in models:
        for frame in frames:
            np.testing.assert_array_equal(model.predict_proba(frame), expected)


def test_numbers_are_no_text_wherever_they_come_from() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["Bonn", "Kyiv"], 300), "n": rng.normal(size=300)})
    model = GTGBMClassifier(n_estimators=5, random_state=0).fit(
        frame, (frame["town"] == "Bonn") ^ (frame["n"] > 1)
    )
    small = model.compact()
    assert small.n_features_in_ == 2
    codes = frame.assign(town=1.0)
    by_value = "'town' holds categories in the training table, but numbers here"
    for predict in (model.predict, small.predict):
        with pytest.raises(ValueError, match=by_value):
            predict(codes)
        with pytest.raises(ValueError, match=r"X is not a dataframe, but .* columns of text .*'town'"):
            predict(codes.to_numpy())
    for number in (1, 1.0, np.float32(0.0), True):
        with pytest.raises(ValueError, match=by_value):
            small.predict({"town": number, "n": 0.0})
    with pytest.raises(ValueError, match="X is not a dataframe, but"):
        small.predict(np.zeros(2))
    with pytest.raises(ValueError, match="'n' holds numbers in the training table, but categories here"):
        small.predict({"town": "Bonn", "n": "many"})
    assert small.predict({"town": "Riga", "n": None}) in model.classes_
