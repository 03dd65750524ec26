"""The progress bar of ``verbose=1``."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from gtgbm.boosting.callbacks import Progress
from gtgbm.search import SearchChoice

if TYPE_CHECKING:
    from typing_extensions import Self


class ProgressBar:
    """Shows rounds done, loss, number of selected features and time left; prints nothing unless `show`."""

    def __init__(self, show: bool, n_rounds: int) -> None:
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

    def __enter__(self) -> Self:
        """Start the bar."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop the bar and restore the terminal, also after an error."""
        self._bar.stop()

    def update(self, progress: Progress) -> None:
        """Show the state after a round."""
        if not self._show:
            return
        state = f"loss {progress.training_loss:.5f}  features {progress.n_features}"
        if progress.validation_loss is not None:
            state += f"  validation {progress.validation_loss:.5f}"
        self._bar.update(self._task, completed=progress.round, state=state)

    def summary(self, n_selected: int, n_features: int, search: SearchChoice, seconds: float) -> None:
        """Print a summary of the fit."""
        self._console.print(
            f"{n_selected} of {n_features} columns in {seconds:.2f} s; search: {search} ({search.reason})",
            highlight=False,
        )
