"""What every experiment is: how to run it, and what to make of its results."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from matplotlib.figure import Figure

from measuring.processes import call_in_process

Results: TypeAlias = dict[str, Any]
"""Plain JSON: dicts with keys of str, lists, str, numbers, bool, None."""


@dataclass(frozen=True)
class Context:
    """How an experiment is to be run.

    Attributes
    ----------
    quick : bool
        Small and few: shows that everything runs and that the claims hold roughly.
    data_dir : Path or None
        Folder of stored data sets; those it lacks are replaced by generated ones.
    real_dir : Path or None
        Folder of the real Gisette, Epsilon and Flight, downloaded if need be; None: stand-ins are used.
    threads : int
        Of every method.
    folder : Path or None
        Folder of results, where an experiment may keep parts of them; None: nothing is kept.
    tables, methods : tuple of str
        The only ones to run, for experiments that have names for them; empty: all.
    splits : int or None
        Random splits, for experiments over several; 0: nothing is measured, only what is kept is shown.
        None: the experiment's own number.
    """

    quick: bool = False
    data_dir: Path | None = None
    real_dir: Path | None = None
    threads: int = 2
    folder: Path | None = None
    tables: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    splits: int | None = None

    def choose(self, quick: Any, full: Any) -> Any:
        """Return the first in a quick run, else the second."""
        return quick if self.quick else full

    def call(self, function: Callable[..., Any], **arguments: Any) -> Any:
        """Call a function of plain JSON in a process of its own.

        A quick run, whose times and memory mean nothing, does without the process: starting it and importing
        everything takes longer than what it is started for.
        """
        if not self.quick:
            return call_in_process(function, self.threads, **arguments)
        return json.loads(json.dumps(function(**json.loads(json.dumps(arguments)))))


@dataclass(frozen=True)
class Claim:
    """Something the results say or deny.

    Attributes
    ----------
    text : str
    holds : bool
    numbers : str
        What was measured.
    places : str
        Where it does not hold, if that is a long list.
    required : bool
        Whether the tests ask for it; others are the paper's, and are only reported.
    """

    text: str
    holds: bool
    numbers: str
    places: str = ""
    required: bool = False


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper.

    Attributes
    ----------
    name : str
        On the command line and in file names.
    title : str
    reproduces : str
        Where it is in the paper.
    how : str
        What was done, and how it differs from the paper; Markdown.
    run : callable
        Measures everything.
    tables : callable
        Markdown, the paper's numbers beside ours.
    figure : callable
    claims : callable
    why : str
        Why results differ from the paper's or a peer's, as far as we know; Markdown.
    """

    name: str
    title: str
    reproduces: str
    how: str
    run: Callable[[Context], Results]
    tables: Callable[[Results], str]
    figure: Callable[[Results], Figure]
    claims: Callable[[Results], list[Claim]]
    why: str = ""
