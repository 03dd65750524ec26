"""What a worker process is asked to do, and what it answers; both travel as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Job:
    """One fit.

    Attributes
    ----------
    label : str
        Name of the method in tables.
    peer : str
        Adapter: a module of ``benchmarks.peers``.
    model : str
        Which of the adapter's models.
    data : str
        Path of an npz file.
    min_node_fraction : float
        Nodes with a smaller share of the rows are not split (α).
    penalty : float or None
        Price of a feature's first use, as a fraction of the squared error at the first root (μ).
    n_leaves : int or None
        Most leaves per tree, for libraries that grow trees best node first.
    layout : {'col_wise', 'row_wise'} or None
        How a histogram is filled, where the library leaves the choice to its user.
    columns : sequence of int or None
        The only columns the model sees; None for all.
    """

    label: str
    peer: str
    model: str
    data: str
    n_trees: int
    learning_rate: float
    min_node_fraction: float
    n_threads: int
    seed: int = 0
    penalty: float | None = None
    n_leaves: int | None = None
    layout: Literal["col_wise", "row_wise"] | None = None
    columns: Sequence[int] | None = None

    def to_json(self) -> str:
        """Write as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Read what ``to_json`` wrote."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Record:
    """Result of one fit.

    Attributes
    ----------
    seconds : float
        From a float32 table in memory to a fitted model; loading and imports are not counted.
    n_features : int
        Distinct features the trees use.
    auc : float
        On the test rows.
    mean_leaves : float
        Leaves per tree.
    peak_mb : float or None
        Most memory during the fit above what the process held before it, its data included.
    features_by_gain : list of int
        Features used, largest total gain first; numbers count the columns the model saw.
    stages : dict
        Seconds per stage, where the library tells.
    """

    seconds: float
    n_features: int
    auc: float
    mean_leaves: float
    peak_mb: float | None
    features_by_gain: list[int]
    stages: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> str:
        """Write as one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Read what ``to_json`` wrote."""
        return cls(**json.loads(text))
