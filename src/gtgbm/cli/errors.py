"""User errors end in one line and an exit code, not in a traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

FAILED = 2
"""Exit code of what the user can mend."""
INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class UserError(ValueError):
    """Something the user can mend."""


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn errors about the user's input into a line on stderr and an exit code."""
    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        sys.stdout.flush()
        typer.secho(f"Error: {error}", err=True, fg="red")
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        typer.secho("Stopped; nothing was written.", err=True)
        raise typer.Exit(INTERRUPTED) from None
