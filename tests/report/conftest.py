"""What tests of the report share."""

from __future__ import annotations

from typing import Any, TextIO

import pytest
from matplotlib.backends.backend_svg import FigureCanvasSVG


@pytest.fixture
def without_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plots are drawn, but not laid out and written, which is most of the time of a report.

    For tests of the page's text and tables. Plots of every kind of model are rendered by
    ``test_every_kind_of_model_has_a_report``, of odd tables by its neighbours.
    """

    def write_empty(_: Any, out: TextIO) -> None:
        out.write("<svg></svg>")

    monkeypatch.setattr(FigureCanvasSVG, "print_svg", write_empty)
