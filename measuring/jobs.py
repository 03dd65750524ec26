"""One fit: what is asked of an adapter, and what it answers; both can be written as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from measuring.data import Source

Layout: TypeAlias = Literal["col_wise", "row_wise"]
LAYOUTS: tuple[Layout, ...] = ("col_wise", "row_wise")


@dataclass(frozen=True)
class Job:
    """One fit.

    Attributes
    ----------
    method : str
        Name of the method in tables.
    peer : str
        Adapter: a module of ``measuring.peers``.
    model : str
        Which of the adapter's models.
    data : Source
        The table.
    setting : str
        What distinguishes this fit from others of the same method, in tables.
    n_trees, learning_rate, n_threads, seed
        As everywhere.
    min_node_fraction : float
        Nodes with a smaller share of the rows are not split (α).
    penalty : float or None
        Price of a feature's first use, as a fraction of the squared error at the first root (μ).
    n_features : int or None
        Hard limit on features, or how many to choose.
    n_leaves : int or None
        Most leaves per tree, for libraries that grow trees best node first.
    layout : {'col_wise', 'row_wise'} or None
        How a histogram is filled, where the library leaves the choice to its user.
    encoding : {'as-is', 'one-hot'}
        Categorical columns as codes, or as CSR with one column per category.
    columns : sequence of int or None
        The only columns the model sees, counted after encoding; None for all.
    """

    method: str
    peer: str
    model: str
    data: Source
    setting: str = ""
    n_trees: int = 100
    learning_rate: float = 0.1
    min_node_fraction: float = 0.02
    n_threads: int = 1
    seed: int = 0
    penalty: float | None = None
    n_features: int | None = None
    n_leaves: int | None = None
    layout: Layout | None = None
    encoding: Literal["as-is", "one-hot"] = "as-is"
    columns: Sequence[int] | None = None

    @property
    def label(self) -> str:
        """Method and setting."""
        return f"{self.method}, {self.setting}" if self.setting else self.method

    @property
    def variant(self) -> str:
        """How the same method was run, where the fastest way counts."""
        parts = [self.layout.replace("_", "-")] if self.layout else []
        if self.encoding != "as-is":
            parts.append(self.encoding)
        return ", ".join(parts)

    def without_places(self) -> Job:
        """Return the job without folders, which mean nothing on another machine."""
        return replace(self, data=replace(self.data, data_dir=None, cache_dir=None))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Job:
        """Read what ``dataclasses.asdict`` gave; JSON has lists where it had tuples."""
        data = dict(values["data"])
        if data.get("shape") is not None:
            data["shape"] = tuple(data["shape"])
        return cls(**(values | {"data": Source(**data)}))


@dataclass(frozen=True)
class Record:
    """Result of one fit.

    Attributes
    ----------
    seconds : float
        From a table in memory to a fitted model; loading and imports are not counted.
    n_features : int
        Distinct features the trees use; our models count each category they bought as one.
    score : float
        On the test rows: AUC, or for regression the root of the mean squared error.
    mean_leaves : float
        Leaves per tree.
    peak_mb : float or None
        Most memory during the fit above what the process held before it, its data included.
    predict_batch, predict_row : float
        Median seconds to predict all test rows, and one row.
    features_by_gain : list of int
        Columns used, largest total gain first; numbers count the columns the model was given.
    stages : dict
        Seconds per stage, where the library tells.
    shape : list of int
        Training rows and columns, as the model was given them.
    note : str
        What the model has to say about itself.
    """

    seconds: float
    n_features: int
    score: float
    mean_leaves: float
    peak_mb: float | None
    predict_batch: float
    predict_row: float
    features_by_gain: list[int]
    stages: dict[str, float] = field(default_factory=dict)
    shape: list[int] = field(default_factory=list)
    note: str = ""


def leaves_of(record: Record | None) -> int:
    """Return how many leaves give a peer's trees the size of those of a fit; None: 31, a usual default."""
    return 31 if record is None else max(2, round(record.mean_leaves))
