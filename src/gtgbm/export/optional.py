"""Imports of libraries that users may not have."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, purpose: str) -> Any:
    """Import a module of an optional library; if it is missing, say how to install it.

    Parameters
    ----------
    module : str
        Dotted name, such as "onnx.helper".
    purpose : str
        What needs it, the subject of the message.
    """
    try:
        return import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise ImportError(
            f"{purpose} needs {library}: pip install 'gtgbm[export]'", name=error.name or library
        ) from error
