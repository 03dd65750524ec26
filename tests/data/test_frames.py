"""Dataframes: the same trees from every library, columns by name, categories, times, missing values."""

from __future__ import annotations

import datetime
import pickle
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from gtgbm import AGBMClassifier, GTGBMClassifier, GTGBMRegressor, MultitaskGTGBMClassifier
from gtgbm.data.frames import FrameSchema, as_frame, encode_frame
from tests.strategies import selects_few

BASE = datetime.datetime(2020, 3, 1, 12)
LIBRARIES = ("pandas", "pandas nullable", "pandas arrow", "pandas category", "polars", "arrow")


def mixed_values(n: int = 600, seed: int = 0) -> dict[str, list[Any]]:
    """Columns of every kind, some values missing, as Python objects."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=n)
    columns: dict[str, list[Any]] = {
        "number": numbers.tolist(),
        "whole": rng.integers(-5, 6, n).tolist(),
        "flag": (rng.random(n) < 0.4).tolist(),
        "town": rng.choice(["Ulm", "Bonn", "Köln", "Trier"], n, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
        "when": [BASE + datetime.timedelta(minutes=int(m)) for m in rng.integers(0, 9999, n)],
        "price": [Decimal(int(c)) / 100 for c in rng.integers(0, 9999, n)],
        "lasts": [datetime.timedelta(seconds=int(s)) for s in rng.integers(0, 999, n)],
    }
    for name, values in columns.items():
        if name != "whole":
            columns[name] = [None if lost else v for v, lost in zip(values, rng.random(n) < 0.1, strict=True)]
    return columns


def target_of(columns: dict[str, list[Any]]) -> NDArray[np.int64]:
    town, when = columns["town"], columns["when"]
    late = [w is not None and w > BASE + datetime.timedelta(minutes=5000) for w in when]
    score = 2.0 * np.array([t == "Bonn" for t in town]) + 1.5 * np.array(late)
    score = score + np.array([0.0 if v is None else v for v in columns["number"]])
    return np.asarray(score + np.array(columns["whole"]) / 4 > 1, dtype=np.int64)


def frame_of(library: str, columns: dict[str, list[Any]]) -> Any:
    arrow = pa.table(columns)
    match library:
        case "pandas":
            return pd.DataFrame(columns)
        case "pandas nullable":
            return pd.DataFrame(columns).convert_dtypes()
        case "pandas arrow":
            return arrow.to_pandas(types_mapper=pd.ArrowDtype)
        case "pandas category":
            return pd.DataFrame(columns).astype({"town": "category"})
        case "polars":
            return pl.DataFrame(columns)
        case _:
            return arrow


def bits(model: Any) -> bytes:
    return pickle.dumps([[vars(tree) for tree in model.trees_], model.selected_features_])


@pytest.mark.parametrize("search", ["group-testing", "exhaustive"])
@pytest.mark.parametrize("categorical", ["column", "category"])
def test_every_library_gives_the_same_trees(search: str, categorical: str) -> None:
    columns = mixed_values()
    y = target_of(columns)
    settings: dict[str, Any] = {
        "n_estimators": 8,
        "search": search,
        "categorical": categorical,
        "random_state": 0,
    }
    models = {
        library: GTGBMClassifier(**settings).fit(frame_of(library, columns), y) for library in LIBRARIES
    }
    first = models.pop("pandas")
    assert {"town", "when"} <= set(first.feature_names_in_[first.selected_features_])
    test = mixed_values(seed=1)
    expected = first.predict_proba(frame_of("pandas", test))
    for library, model in models.items():
        assert bits(model) == bits(first), library
        np.testing.assert_array_equal(model.predict_proba(frame_of(library, test)), expected)


def test_numbers_give_the_same_trees_from_arrays_sparse_tables_and_dataframes() -> None:
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(500, 12)), 2) * (rng.random((500, 12)) < 0.5)
    y = X[:, 3] + X[:, 7] > 0
    named = pd.DataFrame(X, columns=[f"c{k}" for k in range(12)])
    tables = [X, np.asfortranarray(X), csr_matrix(X), named, pd.DataFrame(X)]
    tables += [pl.from_pandas(named), pa.Table.from_pandas(named)]
    models = [GTGBMClassifier(n_estimators=5, random_state=0).fit(table, y) for table in tables]
    assert len({bits(model) for model in models}) == 1


def test_values_of_each_kind() -> None:
    frame = as_frame(
        pl.DataFrame(
            {
                "flag": [True, None, False],
                "day": [datetime.date(1970, 1, 2), None, datetime.date(1969, 12, 31)],
                "clock": [datetime.time(1, 0, 0, 500_000), None, datetime.time(0)],
                "lasts": [datetime.timedelta(seconds=1.5), None, datetime.timedelta(days=-1)],
                "text": ["b", None, "a"],
            }
        )
    )
    assert frame is not None
    table, schema = encode_frame(*frame)
    nan = np.nan
    expected = [[1, 86400, 3600.5, 1.5, 1], [nan] * 5, [0, -86400, 0, -86400, 0]]
    np.testing.assert_array_equal(table, expected)
    assert [column.kind for column in schema.columns] == ["number", "time", "time", "time", "category"]
    assert schema.columns[4].categories == ("a", "b")


def test_time_zones_are_moments() -> None:
    naive = pd.Series(pd.to_datetime(["2020-01-01 12:00", "2020-07-01 12:00"]))
    berlin = naive.dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin")
    found = as_frame(pd.DataFrame({"a": naive, "b": berlin}))
    assert found is not None
    table, _ = encode_frame(*found)
    np.testing.assert_array_equal(table[:, 0], table[:, 1])


def test_a_table_of_one_type_is_not_copied() -> None:
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(50, 4)))
    found = as_frame(pd.DataFrame(X, columns=list("abcd"), copy=False))
    assert found is not None
    table, _ = encode_frame(*found)
    assert np.shares_memory(table, X)


@pytest.fixture(scope="module")
def fitted() -> tuple[GTGBMClassifier, pd.DataFrame]:
    columns = mixed_values()
    frame = frame_of("pandas", columns)
    model = GTGBMClassifier(n_estimators=10, random_state=0, n_features_to_select=4)
    return model.fit(frame, target_of(columns)), frame


def test_predict_needs_the_selected_columns_only_in_any_order(
    fitted: tuple[GTGBMClassifier, pd.DataFrame],
) -> None:
    model, frame = fitted
    expected = model.predict_proba(frame)
    names = model.feature_names_in_[model.selected_features_].tolist()
    assert 0 < len(names) < frame.shape[1]
    np.testing.assert_array_equal(model.predict_proba(frame[names[::-1]]), expected)
    np.testing.assert_array_equal(model.predict_proba(frame.assign(more=1)[["more", *names]]), expected)
    with pytest.raises(ValueError, match=rf"no columns '{names[0]}'; it needs '{names[0]}'"):
        model.predict(frame[names[1:]])
    np.testing.assert_array_equal(model.compact().predict_proba(frame[names[::-1]]), expected)
    row = frame.iloc[5].to_dict()
    np.testing.assert_array_equal(model.compact().predict_proba(row), expected[5])


def test_selected_categories_are_named(fitted: tuple[GTGBMClassifier, pd.DataFrame]) -> None:
    model, frame = fitted
    town = frame.columns.get_loc("town")
    assert "Bonn" in model.selected_categories_[town]
    bought = [entry.category for entry in model.selection_history_ if entry.feature == town]
    assert bought == model.selected_categories_[town]


def test_unseen_categories_go_with_the_other_ones_and_missing_ones_on_their_own() -> None:
    rng = np.random.default_rng(0)
    town = rng.choice(["a", "b", "c"], 900).astype(object)
    town[::5] = None
    y = np.where(town == "b", 1.0, 0.0) + np.where([t is None for t in town], 5.0, 0.0)
    frame = pd.DataFrame({"town": town, "noise": rng.normal(size=900)})
    model = GTGBMRegressor(n_estimators=60, learning_rate=0.3, random_state=0, categorical="column").fit(
        frame, y
    )
    new = pd.DataFrame({"town": ["b", "new", None, "a"], "noise": 0.0})
    np.testing.assert_allclose(model.predict(new), [1, 0, 5, 0], atol=0.01)
    np.testing.assert_array_equal(model.compact().predict({"town": "new"}), model.predict(new)[1])


def test_a_whole_column_costs_once() -> None:
    rng = np.random.default_rng(1)
    town = rng.choice(list("abcdefgh"), 3000)
    effect = dict(zip("abcdefgh", rng.normal(size=8), strict=True))
    y = np.array([effect[t] for t in town])
    frame = pd.DataFrame({"town": town})
    whole = GTGBMRegressor(n_estimators=3, categorical="column", random_state=0).fit(frame, y)
    assert whole.n_selected_features_ == 1
    assert whole.selection_history_[0].category is None
    each = GTGBMRegressor(n_estimators=3, random_state=0).fit(frame, y)
    assert each.n_selected_features_ > 1
    limited = GTGBMRegressor(n_estimators=3, n_features_to_select=1, random_state=0).fit(frame, y)
    error = [model.evals_result_["training"]["squared_error"][-1] for model in (limited, whole)]
    assert error[0] > 1.2 * error[1]


def test_without_a_penalty_buying_by_column_or_by_category_is_the_same() -> None:
    columns = mixed_values(6000)
    frame, y = frame_of("pandas", columns), target_of(columns)
    one, other = (
        AGBMClassifier(n_estimators=6, penalty=0.0, categorical=unit).fit(frame, y)
        for unit in ("column", "category")
    )
    np.testing.assert_array_equal(one.predict_proba(frame), other.predict_proba(frame))


def test_a_fit_goes_on_with_a_dataframe() -> None:
    columns = mixed_values()
    frame, y = frame_of("polars", columns), target_of(columns)
    settings: dict[str, Any] = {"random_state": 0, "penalty": 0.005}
    model = AGBMClassifier(n_estimators=5, warm_start=True, **settings).fit(frame, y)
    model.set_params(n_estimators=12).fit(frame.select(frame.columns[::-1]), y)
    once = AGBMClassifier(n_estimators=12, **settings).fit(frame, y)
    assert bits(model) == bits(once)
    assert model.selection_history_ == once.selection_history_


def test_transform_takes_and_returns_dataframes(fitted: tuple[GTGBMClassifier, pd.DataFrame]) -> None:
    model, frame = fitted
    names = model.get_feature_names_out().tolist()
    assert isinstance(model.transform(frame), np.ndarray)
    model.set_output(transform="pandas")
    pd.testing.assert_frame_equal(model.transform(frame[names[::-1]]), frame[names])
    model.set_output(transform="polars")
    found = model.transform(pl.from_pandas(frame[names]))
    assert isinstance(found, pl.DataFrame)
    assert found.columns == names
    model.set_output(transform="default")


def test_eval_sets_are_matched_by_name() -> None:
    columns = mixed_values()
    frame, y = frame_of("pandas", columns), target_of(columns)
    model = GTGBMClassifier(n_estimators=5, random_state=0)
    model.fit(frame, y, eval_set=(frame[frame.columns[::-1]], y))
    assert model.evals_result_["validation_0"] == model.evals_result_["training"]
    with pytest.raises(ValueError, match=r"eval_set\[0\]: X has no columns 'town'"):
        model.fit(frame, y, eval_set=(frame.drop(columns="town"), y))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [[1], [2]]}, "column 'a' has type List"),
        ({"a": [1.0, 2.0], "b": [b"x", b"y"]}, "column 'b' has type Binary"),
    ],
)
def test_columns_of_other_types_are_refused_by_name(columns: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        GTGBMRegressor().fit(pl.DataFrame(columns), [0.0, 1.0])


def test_objects_are_refused_by_name() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [object(), "x"]})
    with pytest.raises(TypeError, match="column 'b' holds objects of type object, str"):
        GTGBMRegressor().fit(frame, [0.0, 1.0])


def test_bad_dataframes(fitted: tuple[GTGBMClassifier, pd.DataFrame]) -> None:
    model, frame = fitted
    with pytest.raises(TypeError, match="lazy frame"):
        model.predict(pl.from_pandas(frame).lazy())
    with pytest.raises(ValueError, match="'town' holds categories in the training table, but numbers"):
        model.predict(frame.assign(town=1))
    with pytest.raises(ValueError, match="give a dataframe"):
        model.predict(np.zeros((3, frame.shape[1])))
    twice = pd.DataFrame(np.zeros((4, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match="several columns of the same name: 'a'"):
        GTGBMRegressor().fit(twice, np.arange(4.0))
    with pytest.raises(TypeError, match="column names of several types"):
        GTGBMRegressor().fit(pd.DataFrame(np.zeros((4, 2)), columns=["a", 1]), np.arange(4.0))
    with pytest.raises(ValueError, match="found 0 rows or columns"):
        GTGBMRegressor().fit(pd.DataFrame({"a": []}), [])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GTGBMRegressor().fit(frame, np.arange(3.0))


def test_a_column_without_a_value_fits_any_type_at_predict(
    fitted: tuple[GTGBMClassifier, pd.DataFrame],
) -> None:
    model, frame = fitted
    empty = pl.from_pandas(frame[:3]).with_columns(town=pl.lit(None), when=pl.lit(None))
    np.testing.assert_array_equal(
        model.predict_proba(empty), model.predict_proba(frame[:3].assign(town=None, when=pd.NaT))
    )


def test_series_as_targets() -> None:
    frame = pl.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0)[::-1] % 7})
    y = ["late" if k > 20 else "early" for k in range(40)]
    expected = GTGBMClassifier(n_estimators=3, random_state=0).fit(frame, y)
    for target in (pl.Series(y), pd.Series(y), pd.Series(y, dtype="category"), pa.chunked_array([y])):
        model = GTGBMClassifier(n_estimators=3, random_state=0).fit(frame, target)
        assert bits(model) == bits(expected)
        assert model.classes_.tolist() == ["early", "late"]


def test_columns_without_names_are_known_by_place() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({0: rng.normal(size=200), 1: rng.choice(["x", "y"], 200)})
    y = (frame[1] == "x") ^ (frame[0] > 1)
    model = GTGBMClassifier(n_estimators=5, random_state=0).fit(frame, y)
    assert not hasattr(model, "feature_names_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.score(frame, y) > 0.8
    with pytest.raises(ValueError, match="1 columns, 2 are expected"):
        model.predict(frame[[0]])


@pytest.mark.parametrize("method", ["multitask", "single-task"])
@pytest.mark.parametrize("categorical", ["column", "category"])
def test_tasks_of_dataframes(method: str, categorical: str) -> None:
    columns = mixed_values(1200)
    task = pl.Series(["north", "south"] * 600)
    y = target_of(columns)
    settings: dict[str, Any] = {
        "n_estimators": 6,
        "method": method,
        "categorical": categorical,
        "group_penalty": 0.005,
        "random_state": 0,
    }
    models = [
        MultitaskGTGBMClassifier(**settings).fit(frame_of(library, columns), y, task=task)
        for library in ("pandas", "polars", "arrow")
    ]
    frame = frame_of("polars", columns)
    expected = models[0].predict_proba(frame_of("pandas", columns), task=task)
    for model in models:
        np.testing.assert_array_equal(model.predict_proba(frame, task=task), expected)
        names = model.feature_names_in_[np.sort(model.selected_features_)].tolist()
        assert {"town", "when"} <= set(names) < set(frame.columns)
        np.testing.assert_array_equal(model.predict_proba(frame.select(names[::-1]), task=task), expected)
        if categorical == "category":
            town = frame.columns.index("town")
            assert "Bonn" in model.selected_categories_[town]
        else:
            assert model.selected_categories_ == {}


def test_schemas_name_categories() -> None:
    found = as_frame(pd.DataFrame({"a": ["y", "x"], "b": [1, 2]}))
    assert found is not None
    _, schema = encode_frame(*found)
    assert isinstance(schema, FrameSchema)
    assert [str(schema.label(0, code)) for code in (0.0, 1.0, np.nan)] == ["x", "y", "nan"]
    assert schema.label(1, 2.0) == 2.0
    assert [schema.code(0, label) for label in ("x", "y")] == [0.0, 1.0]


@selects_few
def test_a_model_that_bought_nothing_predicts_every_row() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["x", "y"], 60)})
    y = rng.random(60) < 0.3
    for given in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        model = GTGBMClassifier(penalty=0.99, n_estimators=2).fit(given, y)
        assert model.predict(given).shape == (60,)
        assert model.compact().predict(given).shape == (60,)
        assert model.transform(given).shape == (60, 0)
    tasks = MultitaskGTGBMClassifier(group_penalty=0.9, task_penalty=0.09, n_estimators=2)
    task = np.arange(60) % 2
    assert tasks.fit(frame, y, task=task).predict(frame, task=task).shape == (60,)


def test_compact_models_of_nameless_columns_take_them_in_their_order() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    model = GTGBMRegressor(n_estimators=5, random_state=0).fit(pd.DataFrame(X), 3 * X[:, 4] + X[:, 1])
    small = model.compact()
    assert small.features_.tolist() == [1, 4]
    expected = model.predict(pd.DataFrame(X))
    np.testing.assert_array_equal(small.predict(pd.DataFrame(X[:, small.features_])), expected)
    np.testing.assert_array_equal(small.predict(X[:, small.features_]), expected)
    with pytest.raises(ValueError, match="columns"):
        small.predict(pd.DataFrame(X))


def test_single_rows_of_any_scalars() -> None:
    columns = mixed_values(500)
    frame = frame_of("pandas", columns)
    model = GTGBMClassifier(n_estimators=10, penalty=0.0001, random_state=0).fit(frame, target_of(columns))
    small, expected = model.compact(), model.predict_proba(frame)
    arrow = pa.Table.from_pandas(frame)
    for k in range(0, 500, 25):
        rows = [
            frame.iloc[k],
            frame.iloc[k].to_dict(),
            {name: arrow.column(name)[k] for name in arrow.column_names},
            {
                name: np.datetime64(v) if isinstance(v, pd.Timestamp) else v
                for name, v in frame.iloc[k].items()
            },
        ]
        for row in rows:
            np.testing.assert_array_equal(small.predict_proba(row), expected[k])
    with pytest.raises(ValueError, match="'number' holds numbers in the training table, but categories"):
        small.predict({**frame.iloc[0].to_dict(), "number": "many"})


def test_durations_are_exact_in_every_library() -> None:
    lasts = [
        datetime.timedelta(microseconds=int(one))
        for one in np.random.default_rng(0).integers(0, 10**13, 3000)
    ]
    tables = []
    for native in (pd.DataFrame({"a": lasts}), pl.DataFrame({"a": lasts}), pa.table({"a": lasts})):
        found = as_frame(native)
        assert found is not None
        tables.append(encode_frame(*found)[0])
    expected = np.array([one // datetime.timedelta(microseconds=1) for one in lasts]) / 1e6
    for table in tables:
        np.testing.assert_array_equal(table[:, 0], expected)


def test_a_continued_fit_refuses_new_categories() -> None:
    frame = pd.DataFrame({"g": ["a", "b"] * 100})
    y = np.tile([0.0, 1.0], 100)
    model = GTGBMRegressor(warm_start=True, n_estimators=2).fit(frame, y)
    with pytest.raises(ValueError, match="'g' has categories that the previous fit did not see"):
        model.set_params(n_estimators=4).fit(frame.replace("a", "c"), y)


def test_kinds_are_checked_whatever_the_dtypes() -> None:
    times = pd.DataFrame({"t": pd.to_datetime(["2020-01-01", "2021-01-01"] * 20)})
    model = GTGBMRegressor(n_estimators=2).fit(times, np.tile([0.0, 1.0], 20))
    with pytest.raises(ValueError, match="'t' holds times in the training table, but numbers"):
        model.predict(pd.DataFrame({"t": [1, 2]}))


def test_transform_of_mixed_columns_in_every_library() -> None:
    columns = mixed_values(300)
    for library in ("pandas", "polars", "arrow"):
        frame = frame_of(library, columns)
        model = GTGBMClassifier(n_estimators=3, penalty=0.0001).fit(frame, target_of(columns))
        names = model.get_feature_names_out().tolist()
        assert model.transform(frame).shape == (300, len(names))
        assert model.set_output(transform="pandas").transform(frame).columns.tolist() == names
        assert model.set_output(transform="polars").transform(frame).columns == names
