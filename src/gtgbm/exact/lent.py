"""Arrays lent to functions of users, which may read them and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_WRITES = "writes into an array"


def read_only(array: Any) -> Any:
    """Return a view of an array that cannot be written to; leave anything else as it is."""
    if not isinstance(array, np.ndarray):
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def lend(function: Callable[..., Any], name: str, *arguments: Any, **more: Any) -> Any:
    """Call a user's function with views of arrays that are still in use; errors call it `name`."""
    lent = {key: read_only(value) for key, value in more.items()}
    try:
        return function(*map(read_only, arguments), **lent)
    except ValueError as error:
        if "read-only" not in str(error) or _WRITES in str(error):  # another error, or already named
            raise
        raise ValueError(f"{name} {_WRITES} that it was given ({error}): copy the array first") from error
