"""Atomic file writing: a temporary file is written and then renamed, so no partial file is ever visible."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from os import PathLike
from pathlib import Path


def write_aside(path: str | PathLike[str], content: bytes | Iterable[bytes]) -> None:
    """Write a file atomically: on an error, an existing file stays unchanged.

    Parameters
    ----------
    content : bytes or iterable of bytes
        The whole content, or its parts in order.
    """
    parts = [content] if isinstance(content, bytes) else content
    # Replace the file that a symbolic link points to, not the link.
    target = Path(os.path.realpath(path))
    check_writable(target)
    if target.exists() and not target.is_file():
        with target.open("wb") as special:  # a pipe or a device, such as /dev/null
            special.writelines(parts)
        return
    # In the same directory, since a rename is atomic only within one file system.
    handle, aside = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
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


def check_writable(path: str | PathLike[str]) -> None:
    """Raise an error early if a file cannot be written."""
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{str(target)!r} is a directory; give the path of a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{str(target)!r}: there is no directory {str(target.parent)!r}; create it")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise PermissionError(f"{str(target)!r} cannot be written: no permission")
