"""Where the rows of a report come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class RowSource:
    """Says which rows a report is about, for its headline and its warnings.

    Attributes
    ----------
    name : str
        What the table is called, such as a file name.
    use : {"held-out", "training", "unknown"}
        Whether the model was trained on these rows.
    note : str
        How the rows were chosen, in words.
    n_rows : int or None
        Rows there are, if those given are a sample of them.
    """

    name: str = ""
    use: Literal["held-out", "training", "unknown"] = "unknown"
    note: str = ""
    n_rows: int | None = None

    @property
    def adjective(self) -> str:
        """The use of the rows, to stand before "rows"."""
        return "" if self.use == "unknown" else self.use

    def rows(self, n: int) -> str:
        """Name so many of these rows: "500 held-out rows of flights.csv"."""
        words = [f"{n:,}", self.adjective, "row" if n == 1 else "rows"]
        text = " ".join(word for word in words if word)
        return f"{text} of {self.name}" if self.name else text
