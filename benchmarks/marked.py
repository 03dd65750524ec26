"""Tables between marker lines of a page."""

from __future__ import annotations

from pathlib import Path


def write_between(page: Path, name: str, text: str) -> None:
    """Put a text between ``<!-- name: begin -->`` and ``<!-- name: end -->``, each a line of its own."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    head, rest = page.read_text(encoding="utf-8").split(begin)
    tail = rest.split(end)[1]
    page.write_text(head + begin + text + end + tail, encoding="utf-8")
