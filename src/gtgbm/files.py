"""Atomic file writing: a temporary file is written and then renamed, so no partial file is ever visible."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any


def write_aside(path: str | PathLike[str], content: bytes | Iterable[bytes]) -> None:
    """Write a file atomically: on an error, an existing file stays unchanged.

    Parameters
    ----------
    content : bytes or iterable of bytes
        The whole content, or its parts in order.
    """
    write_together({path: content})


def write_together(contents: Mapping[Any, bytes | Iterable[bytes]]) -> None:
    """Write files, none of which is replaced or new before the contents of all are on the disk.

    Parameters
    ----------
    contents : mapping from paths to bytes or iterables of bytes
    """
    aside: dict[str, Path] = {}
    try:
        for path, content in contents.items():
            # Replace the file that a symbolic link points to, not the link.
            target = Path(os.path.realpath(path))
            check_writable(target)
            _write_one(target, [content] if isinstance(content, bytes) else content, aside)
        for written, target in aside.items():
            os.replace(written, target)
    except BaseException:
        for written in aside:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(written)
        raise


def _write_one(target: Path, parts: Iterable[bytes], aside: dict[str, Path]) -> None:
    """Write what becomes a file into a temporary one, which is added to those aside."""
    if target.exists() and not target.is_file():
        with target.open("wb") as special:  # a pipe or a device, such as /dev/null
            special.writelines(parts)
        return
    # In the same directory, since a rename is atomic only within one file system.
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    aside[name] = target
    with os.fdopen(handle, "wb") as file:
        file.writelines(parts)
    mode = target.stat().st_mode if target.exists() else 0o666 & ~_umask()
    os.chmod(name, mode & 0o777)


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
