"""Results of one data set as a JSON file, so that a long measurement can be made piece by piece."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.comparison.summary import Point, Run
from measuring.files import ROOT, SCRATCH, write_json
from measuring.jobs import Job, Record

RESULTS = ROOT / "benchmarks" / "results"


def results_folder(given: Path | None, quick: bool) -> Path:
    """Return where to write; quick runs must not take the place of measurements."""
    return given or (SCRATCH / "quick" if quick else RESULTS)


@dataclass
class Results:
    """Everything measured on one data set; it grows while the measurement runs.

    Attributes
    ----------
    command : str
        What to type to measure it again.
    environment : dict
        Machine, versions, commit.
    runs : list of (Job, Record)
    failures : dict
        Why a job gave no record, by its label and variant.
    unfinished : dict
        Seconds a stopped fit had run, by its label; of its variants the one that was stopped first.
    points : list of Point
        The frontier.
    """

    data: str
    command: str
    environment: dict[str, str]
    runs: list[Run] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    unfinished: dict[str, float] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write to a file, which never holds only a part."""
        write_json(
            path,
            asdict(self)
            | {"runs": [{"job": asdict(j.without_places()), "record": asdict(r)} for j, r in self.runs]},
        )

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read what ``write`` wrote."""
        content = json.loads(path.read_text(encoding="utf-8"))
        content["runs"] = [(Job.from_dict(run["job"]), Record(**run["record"])) for run in content["runs"]]
        content["points"] = [Point(**point) for point in content["points"]]
        return cls(**content)


def path_of(folder: Path, name: str) -> Path:
    """Return where the results of a data set stand."""
    return folder / f"{name}.json"


def partial_path_of(folder: Path, name: str) -> Path:
    """Return where they stand until they are complete."""
    return folder / f"{name}.partial.json"


def read_all(folder: Path, names: list[str]) -> Iterator[Results]:
    """Read the complete results in a folder, in the order of `names`."""
    for name in names:
        if path_of(folder, name).is_file():
            yield Results.read(path_of(folder, name))
