"""Lists and dicts as text: ``a,b``, ``a=1,b=2``, or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


def is_json(text: str) -> bool:
    """Whether a text is a list or dict of JSON rather than the short form."""
    return text.lstrip()[:1] in ("[", "{")


def parse_json(name: str, text: str) -> Any:
    """Read JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}={text!r} is not JSON: {error}") from error


def parse_list(name: str, text: str) -> list[Any]:
    """Read texts separated by commas, or a list of JSON."""
    if is_json(text):
        found = parse_json(name, text)
        if not isinstance(found, list):
            raise ValueError(f'{name}={text!r} is not a list: give a,b,c or JSON such as ["a", "b"]')
        return found
    return [one.strip() for one in text.split(",") if one.strip()]


def parse_pairs(name: str, text: str, value: Callable[[str], T]) -> dict[str, T]:
    """Read ``key=value`` separated by commas, or a dict of JSON."""
    wrong = f'{name}={text!r} is not a list of pairs: give a=1,b=2 or JSON such as {{"a": 1, "b": 2}}'
    if is_json(text):
        found = parse_json(name, text)
        if not isinstance(found, dict):
            raise ValueError(wrong)
        return {key: value(one if isinstance(one, str) else json.dumps(one)) for key, one in found.items()}
    pairs = [one.rpartition("=") for one in text.split(",") if one.strip()]
    if not pairs or not all(key.strip() and equals for key, equals, _ in pairs):
        raise ValueError(wrong)
    return {key.strip(): value(one.strip()) for key, _, one in pairs}
