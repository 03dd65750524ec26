"""Write the table of docs/parameters.md from the table of parameters (src/gtgbm/parameters/table.py).

``python tools/parameter_table.py`` rewrites it; with ``--check`` it only says whether it is up to date.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

from gtgbm import GTGBMClassifier
from gtgbm.parameters import PARAMETERS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "parameters.md"
MARKERS = "<!-- parameters: begin -->", "<!-- parameters: end -->"


def table() -> str:
    """Make the table, one line per parameter of GTGBMClassifier."""
    lines = ["| parameter | paper | default | |", "|---|---|---|---|"]
    for name, parameter in inspect.signature(GTGBMClassifier).parameters.items():
        record = PARAMETERS[name]
        lines.append(f"| `{name}` | {record.symbol} | `{parameter.default!r}` | {record.meaning} |")
    return "\n".join(lines)


def rewritten(page: str) -> str:
    """Return the page with the table as it should be."""
    before, rest = page.split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    return f"{before}{MARKERS[0]}\n{table()}\n{MARKERS[1]}{after}"


def main() -> None:
    """Rewrite or check the page."""
    page = PAGE.read_text(encoding="utf-8")
    wanted = rewritten(page)
    if "--check" in sys.argv[1:]:
        if page != wanted:
            sys.exit("docs/parameters.md: the table is out of date; run python tools/parameter_table.py")
        return
    PAGE.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
