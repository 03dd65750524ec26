"""What cannot work is refused by an error that says what is wrong; what is odd but sound works."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from gtgbm import (
    AGBMClassifier,
    AGBMRegressor,
    GBFSClassifier,
    GBFSRegressor,
    GTGBMClassifier,
    GTGBMRegressor,
    MultitaskGTGBMClassifier,
)
from gtgbm.exact.arrays import F64

CLASSIFIERS = [GTGBMClassifier, AGBMClassifier, GBFSClassifier]
REGRESSORS = [GTGBMRegressor, AGBMRegressor, GBFSRegressor]
ALL = [*CLASSIFIERS, *REGRESSORS]
SEARCHES = ["exhaustive", "group-testing"]


def table(n_rows: int = 150, n_columns: int = 6) -> tuple[F64, F64]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, 0] > 0).astype(np.float64)


def assert_refused(
    model: Any, X: Any, y: Any, *parts: str, error: type[Exception] = ValueError, **fit: Any
) -> None:
    """Fitting fails with a message that holds all the parts."""
    with pytest.raises(error) as refused:
        model.fit(X, y, **fit)
    for part in parts:
        assert part in str(refused.value), f"{part!r} is not in: {refused.value}"


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("n_estimators", 0, "at least 1"),
        ("n_estimators", -3, "at least 1"),
        ("learning_rate", 0.0, "(0, inf"),
        ("learning_rate", -0.1, "(0, inf"),
        ("learning_rate", np.nan, "(0, inf"),
        ("learning_rate", np.inf, "(0, inf"),
        ("penalty", -0.1, "[0, "),
        ("penalty", np.nan, "[0, "),
        ("penalty", np.inf, "[0, "),
        ("n_features_to_select", 0, "at least 1"),
        ("n_features_to_select", 7, "1 .. 6"),
        ("min_node_fraction", -0.1, "[0, 1]"),
        ("min_node_fraction", 1.5, "[0, 1]"),
        ("min_samples_leaf", 0, "at least 1"),
        ("max_depth", 0, "at least 1"),
        ("max_depth", -1, "at least 1"),
        ("max_leaf_nodes", 1, "at least 2"),
        ("max_leaf_nodes", 0, "at least 2"),
        ("l2_regularization", -0.1, "[0, inf"),
        ("l2_regularization", np.inf, "[0, inf"),
        ("l2_regularization", np.nan, "[0, inf"),
        ("max_bins", 1, "2 .. 255"),
        ("max_bins", 256, "2 .. 255"),
        ("verbose", -1, "at least 0"),
        ("early_stopping_rounds", 0, "at least 1"),
        ("early_stopping_rounds", -5, "at least 1"),
    ],
)
@pytest.mark.parametrize("method", ALL)
def test_number_out_of_range(method: Any, name: str, value: Any, right: str) -> None:
    X, y = table()
    assert_refused(method(**{name: value}), X, y, f"{name}={value!r}", right)


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("n_relevant", 0, "1 .. 6"),
        ("n_relevant", 7, "1 .. 6"),
        ("failure_probability", 0.0, "(0, 1)"),
        ("failure_probability", 1.0, "(0, 1)"),
        ("failure_probability", np.nan, "(0, 1)"),
        ("test_rows", 0, "'auto'"),
        ("test_rows", -7, "'auto'"),
    ],
)
@pytest.mark.parametrize("method", [GTGBMClassifier, GTGBMRegressor])
def test_number_of_group_testing_out_of_range(method: Any, name: str, value: Any, right: str) -> None:
    X, y = table()
    assert_refused(method(**{name: value}), X, y, f"{name}={value!r}", right)


@pytest.mark.parametrize("value", [0.0, 1.0, -0.5, np.nan])
def test_validation_fraction_out_of_range(value: float) -> None:
    X, y = table()
    model = AGBMRegressor(early_stopping_rounds=2, validation_fraction=value)
    assert_refused(model, X, y, f"validation_fraction={value!r}", "(0, 1)")


def test_validation_fraction_that_leaves_no_rows() -> None:
    X, y = table(3)
    model = AGBMRegressor(early_stopping_rounds=2, validation_fraction=0.9)
    assert_refused(model, X, y, "validation_fraction=0.9", "3 rows", "eval_set")


@pytest.mark.parametrize("value", [1.0, 1.5, 30])
@pytest.mark.parametrize("method", [GTGBMClassifier, AGBMClassifier, GTGBMRegressor, AGBMRegressor])
def test_penalty_of_the_whole_root(method: Any, value: float) -> None:
    X, y = table()
    assert_refused(method(penalty=value), X, y, f"penalty={value!r}", "[0, 1)", "penalty_scale='absolute'")


@pytest.mark.parametrize("value", [1.0, 30])
def test_absolute_penalty_may_be_large(value: float) -> None:
    X, y = table()
    assert GBFSRegressor(penalty=value, n_estimators=2).fit(X, y).n_iter_ == 2
    assert GTGBMRegressor(penalty=value, penalty_scale="absolute", n_estimators=2).fit(X, y).n_iter_ == 2


COUNTS = ["n_estimators", "n_features_to_select", "min_samples_leaf", "max_bins", "n_relevant"]
COUNTS += ["max_depth", "max_leaf_nodes"]


@pytest.mark.parametrize("value", [2.0, 2.5, "2", True, [2]])
@pytest.mark.parametrize("name", [*COUNTS, "early_stopping_rounds", "n_jobs"])
def test_not_a_whole_number(name: str, value: Any) -> None:
    X, y = table()
    model = GTGBMRegressor(**{name: value})
    assert_refused(model, X, y, f"{name}={value!r}", "whole number", error=TypeError)


@pytest.mark.parametrize("value", ["0.1", None, True, [0.1], 1j])
@pytest.mark.parametrize("name", ["learning_rate", "penalty", "min_node_fraction", "failure_probability"])
def test_not_a_number(name: str, value: Any) -> None:
    X, y = table()
    model = GTGBMRegressor(**{name: value})
    assert_refused(model, X, y, f"{name}={value!r}", "a number in", error=TypeError)


@pytest.mark.parametrize("value", ["nonsense", "", None, 3])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("search", ["'auto'", "'group-testing'", "'exhaustive'"]),
        ("penalty_scale", ["'root'", "'absolute'"]),
        ("loss", ["'squared_error'"]),
        ("init", ["'best'", "'zero'"]),
    ],
)
@pytest.mark.parametrize("method", [GTGBMClassifier, GTGBMRegressor])
def test_unknown_option(method: Any, name: str, options: list[str], value: Any) -> None:
    X, y = table()
    assert_refused(method(**{name: value}), X, y, f"{name}={value!r}", *options)


@pytest.mark.parametrize("value", ["all", ""])
def test_unknown_test_rows(value: str) -> None:
    X, y = table()
    assert_refused(GTGBMRegressor(test_rows=value), X, y, f"test_rows={value!r}", "'auto'")


def test_squared_error_of_three_classes() -> None:
    X, _ = table()
    y = np.arange(X.shape[0]) % 3
    assert_refused(AGBMClassifier(loss="squared_error"), X, y, "loss='squared_error'", "'log_loss'", "3")


@pytest.mark.parametrize("method", ALL)
def test_wrong_shapes(method: Any) -> None:
    X, y = table()
    assert_refused(method(), X[:, 0], y, "2D")
    assert_refused(method(), X[None], y, "dim 3")
    assert_refused(method(), X, y[:-1], "inconsistent numbers of samples")
    assert_refused(method(), X, np.stack([y, y], axis=1), "(150, 2)")
    assert_refused(method(), X[:0], y[:0], "0 sample(s)")
    assert_refused(method(), X[:1], y[:1], "1 sample")
    assert_refused(method(), X[:, :0], y, "0 feature(s)")


@pytest.mark.parametrize("method", ALL)
def test_predict_needs_a_fit_and_the_same_columns(method: Any) -> None:
    X, y = table()
    for call in ("predict", "transform"):
        with pytest.raises(NotFittedError):
            getattr(method(), call)(X)
    with pytest.raises(NotFittedError):
        method().get_support()
    model = method(n_estimators=2).fit(X, y)
    for call in ("predict", "transform", *(["predict_proba"] if method in CLASSIFIERS else [])):
        for other in (X[:, :5], np.hstack([X, X])):
            with pytest.raises(ValueError, match=rf"{other.shape[1]} features.*6 features"):
                getattr(model, call)(other)


@pytest.mark.parametrize("method", CLASSIFIERS)
def test_one_class(method: Any) -> None:
    X, y = table()
    assert_refused(method(), X, np.ones_like(y), "one class", "1")


@pytest.mark.parametrize("method", REGRESSORS)
def test_bad_regression_target(method: Any) -> None:
    X, y = table()
    for bad in (np.nan, np.inf, -np.inf):
        assert_refused(method(), X, np.where(np.arange(150) == 7, bad, y), "y")
    assert_refused(method(), X, np.where(np.arange(150) == 7, 1e300, y), "y", "1e+300", "rescale")
    assert_refused(method(), X, np.full(150, "text"), "")


@pytest.mark.parametrize("method", CLASSIFIERS)
def test_bad_class_target(method: Any) -> None:
    X, y = table()
    assert_refused(method(), X, np.where(np.arange(150) == 7, np.nan, y), "NaN")
    assert_refused(method(), X, X[:, 1], "continuous")


@pytest.mark.parametrize("method", ALL)
def test_bad_types_of_x(method: Any) -> None:
    X, y = table()
    assert_refused(method(), X + 1j, y, "omplex")
    assert_refused(method(), np.full(X.shape, "text"), y, "")
    mixed = X.astype(object)
    mixed[0, 0] = "text"
    assert_refused(method(), mixed, y, "text")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_refused(method(), np.zeros((150, 2), dtype="datetime64[s]"), y, "", error=Exception)


def test_object_table_of_numbers_works() -> None:
    X, y = table()
    one = AGBMRegressor(n_estimators=3).fit(X.astype(object), y)
    assert one.predict(X).tobytes() == AGBMRegressor(n_estimators=3).fit(X, y).predict(X).tobytes()


@pytest.mark.parametrize("method", [GTGBMClassifier, GTGBMRegressor])
def test_bad_eval_set(method: Any) -> None:
    X, y = table()
    model = method(n_estimators=2)
    for shapeless in (X, 3, "text", [(X, y, y)], [X]):
        assert_refused(model, X, y, "eval_set", "(X, y)", eval_set=shapeless)
    assert_refused(model, X, y, "eval_set[0]", "5 features", eval_set=(X[:, :5], y))
    assert_refused(model, X, y, "eval_set[1]", "5 features", eval_set=[(X, y), (X[:, :5], y)])
    assert_refused(model, X, y, "eval_set[0]", "150", "149", eval_set=(X, y[:-1]))


def test_eval_set_of_unknown_classes() -> None:
    X, y = table()
    names = np.where(y > 0, "yes", "no")
    other = names.copy()
    other[5] = "no "
    assert_refused(GTGBMClassifier(), X, names, "eval_set[0]", "'no '", eval_set=(X, other))


def test_eval_set_with_a_bad_target() -> None:
    X, y = table()
    assert_refused(GTGBMRegressor(), X, y, "eval_set[0]", eval_set=(X, np.full(150, np.nan)))


@pytest.mark.parametrize("n_jobs", [0, 2.5, "2"])
def test_n_jobs_is_checked_by_fit_and_predict(n_jobs: Any) -> None:
    X = np.random.default_rng(0).normal(size=(100, 3))
    with pytest.raises((TypeError, ValueError), match="n_jobs="):
        AGBMRegressor(n_jobs=n_jobs).fit(X, X[:, 0])
    fitted = AGBMRegressor(n_estimators=2).fit(X, X[:, 0]).set_params(n_jobs=n_jobs)
    with pytest.raises((TypeError, ValueError), match="n_jobs="):
        fitted.predict(X)


@pytest.mark.parametrize("callbacks", [3, [3]])
def test_callbacks_must_be_callables(callbacks: Any) -> None:
    X = np.random.default_rng(0).normal(size=(100, 3))
    with pytest.raises(TypeError, match="callbacks"):
        AGBMRegressor(n_estimators=2).fit(X, X[:, 0], callbacks=callbacks)


def broken_matrices() -> dict[str, Any]:
    """Make matrices that scipy takes, or whose arrays were changed afterwards."""
    changes: dict[str, dict[str, Any]] = {
        "beyond the columns": {"indices": lambda a: np.where(np.arange(a.shape[0]) == 5, 10**6, a)},
        "before the columns": {"indices": lambda a: np.where(np.arange(a.shape[0]) == 5, -7, a)},
        "fewer indices": {"indices": lambda a: a[:-9]},
        "fewer values": {"data": lambda a: a[:-9]},
        "pointers beyond the entries": {"indptr": lambda a: a * 1000},
        "pointers that fall": {"indptr": lambda a: np.where(np.arange(a.shape[0]) == 3, 10**6, a)},
        "negative pointers": {"indptr": lambda a: np.where(np.arange(a.shape[0]) == 3, -(10**6), a)},
        "pointers that begin late": {"indptr": lambda a: np.where(np.arange(a.shape[0]) == 0, 1, a)},
        "too few pointers": {"indptr": lambda a: a[:-2]},
        "pointers that are no whole numbers": {"indptr": lambda a: a + 0.5},
    }
    found: dict[str, Any] = {}
    for kind in (sparse.csr_matrix, sparse.csc_array):
        for name, change in changes.items():
            broken = found[f"{kind.__name__}: {name}"] = kind(table()[0])
            for array, changed in change.items():
                setattr(broken, array, changed(getattr(broken, array)))
    coo = sparse.coo_matrix(table()[0])
    coo.row = np.where(np.arange(coo.row.shape[0]) == 5, 10**6, coo.row)
    return {**found, "coo_matrix: beyond the rows": coo}


# Once: most of these ended in a segmentation fault, some in a model of other memory.
@pytest.mark.parametrize("name", broken_matrices())
def test_broken_sparse_matrices_are_refused(name: str) -> None:
    X, y = table()
    broken, refused = broken_matrices()[name], "X is a broken sparse matrix.*build it anew"
    model = GTGBMClassifier(n_estimators=2)
    with pytest.raises(ValueError, match=refused):
        model.fit(broken, y)
    tasks = MultitaskGTGBMClassifier(n_estimators=2)
    with pytest.raises(ValueError, match=refused):
        tasks.fit(broken, y, task=np.arange(150) % 2)
    model.fit(X, y)
    with pytest.raises(ValueError, match=refused):
        model.fit(X, y, eval_set=(broken, y))
    model.fit(X, y)
    tasks.fit(X, y, task=np.arange(150) % 2)
    for use in (model.predict, model.predict_proba, model.transform, lambda X: model.score(X, y)):
        with pytest.raises(ValueError, match=refused):
            use(broken)
    with pytest.raises(ValueError, match=refused):
        tasks.predict(broken, task=np.arange(150) % 2)
    with pytest.raises(ValueError, match=refused):
        GTGBMClassifier(n_estimators=40, penalty=0.0).fit(X, y).compact().predict(broken)
