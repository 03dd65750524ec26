"""Files are written aside and then renamed: no half of one is ever there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from os import PathLike
from pathlib import Path


def write_aside(path: str | PathLike[str], content: bytes) -> None:
    """Write a file, or leave everything as it was."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{str(target)!r}: there is no directory {str(target.parent)!r}; make it")
    # The same directory, as renaming works within one file system only.
    handle, aside = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        mode = target.stat().st_mode if target.exists() else 0o666 & ~_umask()
        os.chmod(aside, mode & 0o777)
        os.replace(aside, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(aside)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
