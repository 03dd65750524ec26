"""The paper's three data sets: the real ones where they are, else stand-ins that say so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from experiments.common.record import Context
from measuring.data import Data, DataMissingError, Source, load
from measuring.data.generated import generated_flights, make_table
from measuring.data.public import load_real
from measuring.data.task import random_split
from measuring.files import SCRATCH

PAPERS = ("Gisette", "Epsilon", "Flight")
SEED = 0
EPSILON_ROWS = 10_000
"""Rows of the generated table in full runs; with Epsilon's 80,000 the peers alone would take an hour."""


@dataclass(frozen=True)
class Task:
    """A data set as an experiment uses it.

    Attributes
    ----------
    paper : str
        The paper's data set in whose place it stands.
    label : str
        What it really is.
    is_real : bool
        Whether it is the paper's data set.
    data : Data
    min_node_fraction : float
        α, as the paper found best.
    """

    paper: str
    label: str
    is_real: bool
    data: Data
    min_node_fraction: float

    @property
    def title(self) -> str:
        """Return a short name for figures, which tells stand-ins from the real thing."""
        return self.paper if self.is_real else f"stand-in for {self.paper}"

    def one_hot(self) -> Task:
        """Return the task with one column per category, for methods that choose columns."""
        return replace(self, data=self.data.one_hot()) if self.data.categorical else self

    def tuning_part(self) -> Task:
        """Return the training rows split 80/20, the second part in place of the test rows."""
        is_train = random_split(self.data.n_rows, SEED)
        X, y = self.data.X_train, self.data.y_train
        part = replace(
            self.data, X_train=X[is_train], y_train=y[is_train], X_test=X[~is_train], y_test=y[~is_train]
        )
        return replace(self, data=part)


def paper_tasks(context: Context, papers: tuple[str, ...] = PAPERS) -> Iterator[Task]:
    """Load the data sets one after the other."""
    for paper in papers:
        yield paper_task(context, paper)


def paper_task(context: Context, paper: str) -> Task:
    """Load one data set: the real one if there is a folder for it, else stored, else generated."""
    alpha = 0.1 if paper == "Flight" else 0.02
    if context.real_dir is not None:
        return Task(paper, f"the real {paper}", True, load_real(paper, context.real_dir), alpha)
    find = {"Gisette": _gisette, "Epsilon": _epsilon, "Flight": _flight}[paper]
    label, is_real, data = find(context)
    return Task(paper, label, is_real, data, alpha)


def _gisette(context: Context) -> tuple[str, bool, Data]:
    try:
        data = load(Source("gisette", _folder(context), max_rows=context.choose(1500, None)))
        return "gisette-like: a stand-in made from MNIST digits, not Gisette", False, data
    except DataMissingError:
        shape = context.choose((6000, 400), (6000, 5000))
        label = "generated demo data with correlated decoys: a stand-in, not Gisette"
        return label, False, load(Source("demo", shape=shape))


def _epsilon(context: Context) -> tuple[str, bool, Data]:
    if context.quick:
        X, y = make_table(9000, 200, 10, SEED)
        label = "generated, 5,000 × 200 with 10 relevant columns: a stand-in, not Epsilon"
        return label, False, Data(X[:5000], y[:5000], X[5000:], y[5000:])
    shape = (EPSILON_ROWS, 2000)
    data = load(Source("epsilon", cache_dir=str(SCRATCH / "tables"), shape=shape))
    return f"Epsilon-shaped: generated, {shape[0]:,} × {shape[1]:,}, not Epsilon", False, data


def _flight(context: Context) -> tuple[str, bool, Data]:
    try:
        # The labelled test file is not among the stored data: a fifth of the training file takes its place.
        data = load(Source("flight", _folder(context), seed=SEED, max_rows=context.choose(16_000, None)))
        return "Flight: the real training file, a fifth of its rows as test rows", True, data
    except DataMissingError:
        data = generated_flights(context.choose(20_000, 100_000), SEED)
        return "generated table of categories: a stand-in, not Flight", False, data


def _folder(context: Context) -> str | None:
    return None if context.data_dir is None else str(context.data_dir)
