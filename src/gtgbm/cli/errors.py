"""User errors are printed in one line, without a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

FAILED = 2
"""Exit code of a user error."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, the convention of shells."""


class UserError(ValueError):
    """A user error: wrong options, or a file that cannot be used."""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Convert errors about the user's input to one line on stderr and an exit code."""
    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        sys.stdout.flush()
        typer.secho(f"Error: {error}", err=True, fg="red")
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        typer.secho("Interrupted; nothing was written.", err=True)
        raise typer.Exit(INTERRUPTED) from None
