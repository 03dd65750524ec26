"""``gtgbm compare``: both searches, and LightGBM retrained on as many columns, its best ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from gtgbm.cli.errors import UserError
from gtgbm.cli.fit import Source, fit_model
from gtgbm.cli.loading import Loaded
from gtgbm.cli.models import ModelOptions, kind_of_task, make_model, with_possible_limit
from gtgbm.cli.output import print_json
from gtgbm.data import EncodedFrame
from gtgbm.metrics import METRICS

_METRICS = {"classification": "auc", "regression": "rmse", "ranking": "ndcg"}
_OBJECTIVES = {"classification": "binary", "regression": "regression", "ranking": "lambdarank"}


@dataclass(frozen=True)
class Compared:
    """The result of a method on held-out rows."""

    method: str
    features: int
    metric: str
    value: float
    seconds: float


@dataclass(frozen=True)
class CompareOptions:
    """Options of ``gtgbm compare``."""

    source: Source
    model: ModelOptions
    test_fraction: float
    as_json: bool


def run_compare(options: CompareOptions, console: Console) -> None:
    """Fit each method and print its number of features, its test metric and its time."""
    parameters = options.model.parameters
    loaded = options.source.load(options.model.kind, parameters, console)
    if "target" not in loaded.columns:
        raise UserError("--target is missing: name the column to predict")
    parameters = with_possible_limit(loaded, parameters)
    kind = kind_of_task(options.model.kind, loaded.columns)
    if kind == "classification" and np.unique(loaded.columns["target"]).shape[0] != 2:
        raise UserError("compare is for two classes: --target has more")
    if parameters.get("n_features_to_select") == "auto":
        raise UserError("--n-features-to-select auto: compare needs the same number for all methods")
    train, test = loaded.split(options.test_fraction, seed=int(parameters.get("random_state") or 0))
    results = []
    for method, run in _methods(kind, parameters).items():
        begin = perf_counter()
        n_features, predict = run(train)
        seconds = perf_counter() - begin
        metric = METRICS[_METRICS[kind]]
        value = metric(_numbers(kind, test.columns["target"]), predict(test), qid=test.columns.get("qid"))
        results.append(Compared(method, n_features, metric.name, float(value), seconds))
    if options.as_json:
        methods = [vars(result) for result in results]
        print_json({"rows": train.n_rows, "test_rows": test.n_rows, "methods": methods})
        return
    table = Table(title=f"{train.n_rows:,} training rows, {test.n_rows:,} test rows")
    for heading in ("method", "features", f"test {results[0].metric}", "seconds"):
        table.add_column(heading, justify="left" if heading == "method" else "right")
    for result in results:
        table.add_row(result.method, str(result.features), f"{result.value:.4f}", f"{result.seconds:.2f}")
    Console().print(table)


Run = Callable[[Loaded], tuple[int, Callable[[Loaded], Any]]]


def _methods(kind: str, parameters: dict[str, Any]) -> dict[str, Run]:
    def ours(search: str) -> Run:
        def run(train: Loaded) -> tuple[int, Callable[[Loaded], Any]]:
            model = make_model(kind, train, {**parameters, "search": search, "verbose": 0})
            fit_model(model, train, None, [])

            def predict(test: Loaded) -> Any:
                return (
                    model.predict_proba(test.X)[:, 1] if kind == "classification" else model.predict(test.X)
                )

            return int(model.n_selected_features_), predict

        return run

    methods = {"gtgbm, group testing": ours("group-testing"), "gtgbm, all features": ours("exhaustive")}
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        return methods
    return methods | {"LightGBM, best columns retrained": _lightgbm(kind, parameters)}


def _lightgbm(kind: str, parameters: dict[str, Any]) -> Run:
    """Train LightGBM on all columns, keep those with the largest gain, and train again."""
    import lightgbm

    def run(train: Loaded) -> tuple[int, Callable[[Loaded], Any]]:
        X, y, group = train.table, _numbers(kind, train.columns["target"]), None
        if kind == "ranking":  # LightGBM wants the rows of a query together
            _, of_row, group = np.unique(train.columns["qid"], return_inverse=True, return_counts=True)
            order = np.argsort(of_row, kind="stable")
            X, y = X[order], y[order]
        categorical = train.X.schema.categorical if isinstance(train.X, EncodedFrame) else []
        settings = {
            "objective": _OBJECTIVES[kind],
            "verbosity": -1,
            "learning_rate": parameters.get("learning_rate") or 0.1,
            "seed": parameters.get("random_state") or 0,
        }
        rounds, most = parameters.get("n_estimators") or 100, parameters.get("n_features_to_select")

        def train_on(columns: Any) -> Any:
            places = [k for k, column in enumerate(columns.tolist()) if column in categorical]
            data = lightgbm.Dataset(
                X[:, columns], y, group=group, categorical_feature=places, params={"verbosity": -1}
            )
            return lightgbm.train(settings, data, rounds)

        everything = np.arange(X.shape[1])
        gain = train_on(everything).feature_importance("gain")
        kept = np.argsort(-gain, kind="stable")[: most or X.shape[1]]
        booster = train_on(kept)
        return len(kept), lambda test: booster.predict(test.table[:, kept])

    return run


def _numbers(kind: str, target: Any) -> Any:
    if kind != "classification":
        return target
    return (target == np.unique(target)[-1]).astype(np.float64)
