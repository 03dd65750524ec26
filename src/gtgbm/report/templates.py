"""Templates of pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gtgbm.report import overview

_ROWS_SHOWN = 20
"""Rows on a page of a table."""


def page_template(name: str) -> Any:
    """Return the template of a page."""
    try:
        import matplotlib  # noqa: F401  (fails now, not after minutes of work)
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("reports need jinja2 and matplotlib: pip install 'gtgbm[report]'") from error
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": overview.number, "breakable": overview.breakable}
    environment.globals |= {"rows_shown": _ROWS_SHOWN}
    return environment.get_template(name)
