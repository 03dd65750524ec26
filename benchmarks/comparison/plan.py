"""What is run on each data set, and what has to be reached there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from benchmarks.comparison.summary import Bar, Found


class Check(Protocol):
    """Something to hold results against."""

    def hold(self, found: Found) -> list[Bar]:
        """Compare."""
        ...


@dataclass(frozen=True)
class FrontierPlan:
    """Test score against number of features.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of features.
    models : tuple of str
        Which of our models.
    peers : tuple of str
        ``cegb``, ``lgb-top`` or keys of ``methods.OTHER_PEERS``.
    seeds : int
        Splits into training and test rows, where the split is ours to draw; else seeds of the models.
    tries : int
        Most fits to find the penalty for a size.
    """

    sizes: tuple[int, ...]
    models: tuple[str, ...] = ("group-testing", "exhaustive")
    peers: tuple[str, ...] = ("cegb", "lgb-top")
    seeds: int = 1
    tries: int = 6


@dataclass(frozen=True)
class Plan:
    """The measurements on one data set.

    Attributes
    ----------
    data : str
        Name of the data set.
    about : str
        What the data set is.
    penalty : float
        At which sizes are matched and methods compared.
    penalties : tuple of float
        All penalties GT-GBM is run with.
    n_features : int or None
        Hard limit of our models, and how many features peers choose; None: as many as GT-GBM buys.
    categorical : bool
        Whether some columns are categories.
    lightgbm : tuple of str
        What LightGBM does besides using all features: some of ``cegb``, ``oracle``, ``top``.
    peers : tuple of str
        Keys of ``methods.OTHER_PEERS`` that finish in reasonable time.
    limit : float or None
        Seconds after which a fit is stopped, if fewer than usual.
    min_node_fraction : float
        Nodes with a smaller share of the rows are not split; a leaf keeps a quarter of that.
    checks : tuple of Check
    frontier : FrontierPlan or None
    """

    data: str
    about: str
    penalty: float
    penalties: tuple[float, ...] = ()
    n_features: int | None = None
    categorical: bool = False
    lightgbm: tuple[str, ...] = ("cegb", "oracle", "top")
    peers: tuple[str, ...] = ("xgb-all", "xgb-top")
    limit: float | None = None
    min_node_fraction: float = 0.02
    checks: tuple[Check, ...] = ()
    frontier: FrontierPlan | None = None
