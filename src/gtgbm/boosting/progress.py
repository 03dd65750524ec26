"""The progress bar of ``verbose=1``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn, track
from rich.progress import Progress as RichProgress

from gtgbm.boosting.callbacks import Progress
from gtgbm.metrics import METRICS
from gtgbm.search import SearchChoice

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")


class ProgressBar:
    """Shows rounds done, number of selected features, held-out metric or else loss, and time left.

    Prints nothing unless `show`.

    Parameters
    ----------
    reading : callable or None
        Returns what was read of files so far.
    """

    def __init__(self, show: bool, n_rounds: int, reading: Callable[[], str] | None = None) -> None:
        self._reading = reading
        self._console = Console(stderr=True, quiet=not show)
        self._bar = RichProgress(
            TextColumn("tree"),
            MofNCompleteColumn(),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[state]}"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=self._console,
            disable=not show,
        )
        self._task = self._bar.add_task("trees", total=n_rounds, state="")
        self._show = show
        self._best: tuple[float, int] | None = None

    def __enter__(self) -> Self:
        """Start the bar."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the bar and restore the terminal, also after an error."""
        self._bar.stop()

    def phase(self, text: str) -> None:
        """Show a phase of the selection, before the first round."""
        if self._show:
            self._bar.update(self._task, state=text)

    def update(self, progress: Progress) -> None:
        """Show the state after a round."""
        if not self._show:
            return
        state = f"features {progress.n_features}  {self._held_out(progress)}{self._read('  ')}"
        self._bar.update(self._task, completed=progress.round, state=state)

    def _held_out(self, progress: Progress) -> str:
        """Return the metric that decides early stopping, and its best round so far; or the training loss."""
        if not progress.evaluations:
            return f"loss {progress.training_loss:.5f}"
        followed = list(progress.evaluations.values())[-1]
        name, value = list(followed.items())[-1]
        text = f"held-out {name} {value:.5f}"
        metric = METRICS.get(name.partition("@")[0])
        if metric is None and len(followed) > 1:
            return text  # a metric of the user's own, of which it is not known here what is better
        badness = -value if metric is not None and metric.greater_is_better else value
        if progress.round == 1:  # of the first fit, or of another one
            self._best = None
        if value == value and (self._best is None or badness < self._best[0]):
            self._best = badness, progress.round
        return text if self._best is None else f"{text}  best round {self._best[1]}"

    def _read(self, before: str) -> str:
        return "" if self._reading is None else f"{before}{self._reading()}"

    def summary(self, n_selected: int, n_features: int, search: SearchChoice, seconds: float) -> None:
        """Print a summary of the fit."""
        self._console.print(
            f"{n_selected} of {n_features} columns in {seconds:.2f} s; search: {search}{self._read('; ')}",
            highlight=False,
        )


def announce(text: str, *, shown: bool) -> None:
    """Print a line beside the progress bars, if they are shown."""
    Console(stderr=True, quiet=not shown).print(text, markup=False, highlight=False, soft_wrap=True)


def tracked(items: Iterable[T], what: str, total: int, *, shown: bool) -> Iterator[T]:
    """Yield items while a bar counts them, if it is shown."""
    yield from track(items, what, total, console=Console(stderr=True), transient=True, disable=not shown)
