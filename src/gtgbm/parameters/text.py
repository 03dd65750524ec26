"""Lists and dicts as text: ``a,b``, ``a=1,b=2``, or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def is_json(text: str) -> bool:
    """Whether a text is a JSON list or dict, not the short form."""
    return text.lstrip()[:1] in ("[", "{")


def parse_json(name: str, text: str) -> Any:
    """Read JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}={text!r} is not JSON: {error}") from error


def parse_list(name: str, text: str) -> list[Any]:
    """Read texts separated by commas, or a JSON list."""
    if is_json(text):
        values = parse_json(name, text)
        if not isinstance(values, list):
            raise ValueError(f'{name}={text!r} is not a list: give a,b,c or JSON such as ["a", "b"]')
        return values
    return [item.strip() for item in text.split(",") if item.strip()]


def parse_pairs(name: str, text: str, value: Callable[[str], T]) -> dict[str, T]:
    """Read ``key=value`` pairs separated by commas, or a JSON dict."""
    message = f'{name}={text!r} is not a list of pairs: give a=1,b=2 or JSON such as {{"a": 1, "b": 2}}'
    if is_json(text):
        values = parse_json(name, text)
        if not isinstance(values, dict):
            raise ValueError(message)
        return {key: value(v if isinstance(v, str) else json.dumps(v)) for key, v in values.items()}
    pairs = [item.rpartition("=") for item in text.split(",") if item.strip()]
    if not pairs or not all(key.strip() and equals for key, equals, _ in pairs):
        raise ValueError(message)
    return {key.strip(): value(v.strip()) for key, _, v in pairs}
