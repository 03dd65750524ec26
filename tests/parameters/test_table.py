"""The table of parameters agrees with the estimators, and its text forms mean what they say."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import gtgbm
from gtgbm.model_file import ESTIMATORS
from gtgbm.parameters import PARAMETERS, Context

CONSTRUCTORS = {name: inspect.signature(getattr(gtgbm, name)).parameters for name in ESTIMATORS}


def test_the_table_holds_what_the_constructors_take() -> None:
    """Each parameter of a constructor is in the table, and none in the table is unused."""
    taken = {name for parameters in CONSTRUCTORS.values() for name in parameters}
    assert taken == set(PARAMETERS)
    assert all(name == parameter.name for name, parameter in PARAMETERS.items())


@pytest.mark.parametrize("name", PARAMETERS)
def test_defaults_are_right(name: str) -> None:
    losses: Any = dict.fromkeys(("log_loss", "squared_error", "lambdarank"))
    others = {"penalty_scale": "absolute"}
    for parameters in CONSTRUCTORS.values():
        if name in parameters:
            PARAMETERS[name].check(parameters[name].default, Context(losses=losses, others=others))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_documentation_comes_from_the_table(name: str) -> None:
    text = inspect.getdoc(getattr(gtgbm, name))
    assert text is not None
    for parameter in CONSTRUCTORS[name].values():
        record = PARAMETERS[parameter.name]
        assert f"{record.name} : {record.kind.doc_type}, default {parameter.default!r}\n" in text
        assert record.meaning in text


def test_flags_are_distinct() -> None:
    flags = [flag for one in PARAMETERS.values() for flag in (one.flag, *one.aliases)]
    assert len(set(flags)) == len(flags)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("n_estimators", "7", 7),
        ("learning_rate", "0.5", 0.5),
        ("learning_rate", "a=0.5,b=1", {"a": 0.5, "b": 1.0}),
        ("penalty", "30", 30.0),
        ("max_depth", "none", None),
        ("test_rows", "auto", "auto"),
        ("test_rows", "None", None),
        ("test_rows", "50", 50),
        ("search", "group-testing", "group-testing"),
        ("warm_start", "True", True),
        ("n_jobs", "-1", -1),
        ("random_state", "3", 3),
        ("random_state", "none", None),
        ("eval_metric", "auc", "auc"),
        ("eval_metric", "log_loss, auc", ["log_loss", "auc"]),
        ("eval_metric", '["ndcg@5"]', "ndcg@5"),
        ("categorical_features", "a, b", ["a", "b"]),
        ("categorical_features", '["a,b", 2]', ["a,b", 2]),
        ("monotone_constraints", "a=1, b=-1", {"a": 1, "b": -1}),
        ("monotone_constraints", '{"a=b": 1}', {"a=b": 1}),
        ("monotone_constraints", "1,0,-1", [1, 0, -1]),
        ("monotone_constraints", "[1, 0]", [1, 0]),
        ("class_weight", "balanced", "balanced"),
        ("class_weight", "yes=2,no=0.5", {"yes": 2.0, "no": 0.5}),
        ("class_weight", '{"yes": 2}', {"yes": 2.0}),
        ("task_penalty", "auto", "auto"),
        ("task_penalty", '{"a": "auto", "b": 0.1}', {"a": "auto", "b": 0.1}),
    ],
)
def test_text_forms(name: str, text: str, value: Any) -> None:
    found = PARAMETERS[name].parse(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("n_estimators", "many", "--n-estimators='many' is not a whole number: give a whole number of at l"),
        ("n_estimators", "none", "is not a whole number"),
        ("n_estimators", "0", "--n-estimators=0 is out of range"),
        ("n_features_to_select", "0", "--n-features-to-select=0 .* or None"),
        ("n_common_rounds", "-1", "--n-common-rounds=-1"),
        ("learning_rate", "fast", "--learning-rate='fast' is not a number"),
        ("learning_rate", "a=0", "--learning-rate=0.0 is out of range"),
        ("penalty", "nan", "--penalty=nan is out of range"),
        ("search", "both", "--search='both' is unknown: give one of 'auto', 'group-testing', 'exhaustive'"),
        ("test_rows", "all", "--test-rows='all' is unknown: give 'auto'"),
        ("warm_start", "yes", "--warm-start='yes' is unknown"),
        ("n_jobs", "0", "--n-jobs=0 is not a whole number of threads"),
        ("random_state", "-1", "--random-state=-1 is out of range"),
        ("verbose", "-1", "--verbose=-1 is out of range"),
        ("eval_metric", "speed", "--eval-metric=.*speed"),
        ("eval_metric", "auc,auc", "'auc' twice"),
        ("class_weight", "even", "--class-weight='even' is not a list of pairs: give a=1,b=2 or JSON"),
        ("class_weight", "[1]", "is not a list of pairs"),
        ("class_weight", "{1", "is not JSON"),
        ("class_weight", "yes=-1", "--class-weight=-1.0 is out of range"),
        ("categorical_features", '{"a": 1}', "is not a list"),
        ("monotone_constraints", "=1", "is not a list of pairs"),
        ("task_penalty", "a=b", "--task-penalty='b' is not a number"),
    ],
)
def test_wrong_text_is_refused_by_the_name_of_the_flag(name: str, text: str, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        PARAMETERS[name].parse(text)


@pytest.mark.parametrize("seed", [-1, 2**32, "a", 1.5])
def test_seeds(seed: Any) -> None:
    for right in (None, 3, np.int64(3), np.random, np.random.RandomState(0)):
        assert PARAMETERS["random_state"].check(right) is right
    with pytest.raises((TypeError, ValueError), match="random_state="):
        PARAMETERS["random_state"].check(seed)
