"""User errors end in one line and an exit code, not in a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

FAILED = 2
"""Exit code of what the user can mend."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


_EXTRAS = {"pyarrow": "table", "matplotlib": "report", "jinja2": "report", "markupsafe": "report"}
"""Which extra brings a package that may be lacking."""


class UserError(ValueError):
    """Something the user can mend."""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors about the user's input into a line on stderr and an exit code."""
    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        _fail(str(error))
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        _fail(f'{package} is not installed: pip install "gtgbm[{_EXTRAS[package]}]"')
    except KeyboardInterrupt:
        typer.secho("Stopped; nothing was written.", err=True)
        raise typer.Exit(INTERRUPTED) from None


def _fail(message: str) -> NoReturn:
    sys.stdout.flush()
    typer.secho(f"Error: {' '.join(message.split())}", err=True, fg="red")
    raise typer.Exit(FAILED) from None
