"""The command line."""

from __future__ import annotations

from typer.testing import CliRunner

import gtgbm
from gtgbm.cli import app


def test_demo_finds_relevant_columns() -> None:
    result = CliRunner().invoke(app, ["demo", "--rows", "3000", "--columns", "400", "--penalty", "0.01"])
    assert result.exit_code == 0, result.output
    assert "Relevant columns found" in result.output
    assert "test AUC" in result.output
    found = int(result.output.split("Relevant columns found: ")[1].split()[0])
    assert found >= 3


def test_version() -> None:
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert gtgbm.__version__ in result.output


def test_wrong_option_is_refused_without_a_traceback() -> None:
    result = CliRunner().invoke(app, ["demo", "--rows", "5"])
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_completion_is_offered() -> None:
    assert "--install-completion" in CliRunner().invoke(app, ["--help"]).output
