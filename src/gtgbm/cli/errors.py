"""User errors are printed in one line, without a traceback."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, TextIO

import typer

FAILED = 2
"""Exit code of a user error."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, the convention of shells."""


_EXTRAS = {
    "pyarrow": "table",
    "matplotlib": "report",
    "jinja2": "report",
    "markupsafe": "report",
    "onnx": "export",
    "treelite": "export",
}
"""Which extra brings a package that may be lacking."""


class UserError(ValueError):
    """A user error: wrong options, or a file that cannot be used."""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Convert errors about the user's input to one line on stderr and an exit code, warnings to a line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = _show
            yield
    except (ValueError, TypeError, OSError) as error:
        _fail(str(error))
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        _fail(f'{package} is not installed: pip install "gtgbm[{_EXTRAS[package]}]"')
    except KeyboardInterrupt:
        typer.secho("Interrupted; nothing was written.", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    del category, filename, lineno, file, line
    typer.secho(f"Warning: {' '.join(str(message).split())}", err=True, fg="yellow")


def _fail(message: str) -> NoReturn:
    sys.stdout.flush()
    typer.secho(f"Error: {' '.join(message.split())}", err=True, fg="red")
    raise typer.Exit(FAILED) from None
