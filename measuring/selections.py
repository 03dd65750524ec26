"""Methods that choose K columns of a table: which, how long it takes, and the model they end with."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measuring.data import Data
from measuring.jobs import Job
from measuring.methods import lightgbm_settings
from measuring.peers import gtgbm_models, lightgbm_models, sklearn_models
from measuring.scores import auc, r2

OURS = "gtgbm"
LABELS = {
    OURS: "gtgbm",
    "gain": "LightGBM, top K by gain",
    "shap": "LightGBM, top K by SHAP values",
    "rfe-half": "LightGBM, RFE by halves",
    "rfe-fifth": "LightGBM, RFE by fifths",
    "extra-trees": "scikit-learn, SelectFromModel(ExtraTrees)",
    "cegb": "LightGBM, CEGB",
    "cat-shap": "CatBoost, RecursiveByShapValues",
    "cat-loss": "CatBoost, RecursiveByLossFunctionChange",
}
SLOW = ("cegb", "cat-shap", "cat-loss")
"""Methods that take several fits on many columns for each K."""
_SHAP_ROWS = 2000
"""Training rows whose contributions are averaged; their order is random, and more cost more than the fit."""
_CEGB_STEPS = 5
"""Fits of the search for a penalty, for each K; fits for another K serve as its bounds."""
_CEGB_RANGE = (1e-5, 0.5)


@dataclass(frozen=True)
class Choice:
    """Columns for a wanted number of them.

    Attributes
    ----------
    size : int
        How many were wanted; the method may choose fewer.
    seconds : float
        Of the processor, from the table to the chosen columns and, if there is one, the model. Others that
        share the machine do not count, so one thread should be used.
    predict : callable or None
        The model the method ends with; takes rows of all columns. None: it has no other than LightGBM
        retrained on its columns.
    """

    size: int
    columns: list[int]
    seconds: float
    predict: Callable[[Any], NDArray[Any]] | None = None


def available(method: str) -> bool:
    """Whether the library of a method is installed."""
    return not method.startswith("cat-") or find_spec("catboost") is not None


def settings(n_trees: int, threads: int, seed: int) -> Job:
    """Return LightGBM's settings as selector and judge: 64 leaves of at least 0.5% of the rows."""
    return lightgbm_settings(64, n_trees=n_trees, n_threads=threads, seed=seed, min_node_fraction=0.02)


def score(data: Data, predictions: Any) -> float:
    """Return AUC or R² on the test rows."""
    return (auc if data.kind == "binary" else r2)(data.y_test, predictions)


def judged(job: Job, data: Data, columns: Sequence[int]) -> tuple[float, float]:
    """Return the score of LightGBM trained on some columns, and its seconds; columns are put in order.

    Without any column the mean of the training rows is predicted.
    """
    if not columns:
        return score(data, np.full(len(data.y_test), np.mean(data.y_train))), 0.0
    chosen = np.sort(np.asarray(columns, dtype=np.int64))
    begin = process_time()
    trained = lightgbm_models.train(job, data, chosen)
    seconds = process_time() - begin
    return score(data, trained.predict(data.X_test, num_threads=job.n_threads)), seconds


class Selections:
    """The methods on one split of a table; fits on all columns are shared and counted for each.

    Parameters
    ----------
    job : Job
        LightGBM's settings, of which the others take trees, learning rate, threads and seed.
    data : Data
        Without categorical columns.
    """

    def __init__(self, job: Job, data: Data) -> None:
        self._job, self._data = job, data

    def choose(self, method: str, sizes: Sequence[int]) -> Iterator[Choice]:
        """Yield a choice for each size, the largest first."""
        wanted = sorted(sizes, reverse=True)
        if method in ("gain", "shap"):
            yield from self._best(method, wanted)
        elif method in ("rfe-half", "rfe-fifth"):
            yield from self._eliminated(0.5 if method == "rfe-half" else 0.8, wanted)
        elif method == "cegb":
            yield from self._cegb(wanted)
        else:
            for size in wanted:
                yield self._alone(method, size)

    @cached_property
    def _full(self) -> tuple[lightgbm_models.Trained, float]:
        begin = process_time()
        return lightgbm_models.train(self._job, self._data), process_time() - begin

    def _best(self, method: str, sizes: Sequence[int]) -> Iterator[Choice]:
        trained, seconds = self._full
        begin = process_time()
        best = trained.features()
        if method == "shap":
            share = _mean_contribution(trained, self._data, self._job.n_threads)
            best = best[np.argsort(-share[best], kind="stable")]
        seconds += process_time() - begin
        for size in sizes:
            yield Choice(size, best[:size].tolist(), seconds)

    def _eliminated(self, keep: float, sizes: Sequence[int]) -> Iterator[Choice]:
        """Keep a share of the columns, fit again, and so on: one chain, which stops at every size."""
        trained, seconds = self._full
        columns = trained.features()
        for size in sizes:
            while len(columns) > size:
                begin = process_time()
                columns = columns[: max(size, int(keep * len(columns)))]
                if len(columns) > size:
                    columns = lightgbm_models.train(self._job, self._data, columns).features()
                seconds += process_time() - begin
            yield Choice(size, columns.tolist(), seconds)
            begin = process_time()
            # The next size begins with an order by what these columns gain among themselves.
            columns = lightgbm_models.train(self._job, self._data, columns).features()
            seconds += process_time() - begin

    def _cegb(self, sizes: Sequence[int]) -> Iterator[Choice]:
        """Search for the lowest penalty that leaves at most K features; all fits so far are counted."""
        tried: dict[float, tuple[lightgbm_models.Trained, float]] = {}

        def number(penalty: float) -> int:
            if penalty not in tried:
                begin = process_time()
                fitted = lightgbm_models.train_cegb(replace(self._job, penalty=penalty), self._data)
                tried[penalty] = fitted, process_time() - begin
            return len(tried[penalty][0].features())

        for size in sizes:
            for _ in range(_CEGB_STEPS):
                counts = {penalty: number(penalty) for penalty in tried}
                above = [penalty for penalty, count in counts.items() if count > size]
                below = [penalty for penalty, count in counts.items() if count <= size]
                low, high = max(above, default=_CEGB_RANGE[0]), min(below, default=_CEGB_RANGE[1])
                if size in counts.values() or low >= high:
                    break
                number(float(np.sqrt(low * high)))
            small = [fit for fit, _ in tried.values() if 0 < len(fit.features()) <= size]
            if small:
                best = max(small, key=lambda fit: len(fit.features()))
                seconds = sum(cost for _, cost in tried.values())
                yield Choice(size, best.features().tolist(), seconds, best.predict)

    def _alone(self, method: str, size: int) -> Choice:
        job = replace(self._job, n_features=size)
        begin = process_time()
        if method == OURS:
            columns, predict = gtgbm_models.select(job, self._data)
        elif method == "extra-trees":
            columns, predict = sklearn_models.select(job, self._data)
        else:
            # Only here: it is optional.
            catboost_models = importlib.import_module("measuring.peers.catboost_models")
            columns, predict = catboost_models.select(job, self._data, method.removeprefix("cat-"))
        return Choice(size, columns, process_time() - begin, predict)


def _mean_contribution(trained: lightgbm_models.Trained, data: Data, threads: int) -> NDArray[np.float64]:
    """Return the mean size of each column's contribution over training rows, shape (d,)."""
    total = np.zeros(data.n_columns)
    rows = data.X_train[:_SHAP_ROWS]
    for begin in range(0, rows.shape[0], 1000):
        # Of a sparse table a sparse one; neither it nor its abs has types.
        part: Any = trained.booster.predict(
            rows[begin : begin + 1000], pred_contrib=True, num_threads=threads
        )
        sizes = abs(part).sum(axis=0)
        total += np.asarray(sizes, dtype=np.float64).ravel()[:-1]
    return np.asarray(total / rows.shape[0])
