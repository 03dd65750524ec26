"""Shows the types of parameters in the API reference as docstrings have them."""

import re
from typing import Any

import griffe

_TYPE = r"(?:(?!, default ).)*"
_QUOTED = re.compile(rf"^( *\w[\w, ]* : )\{{?({_TYPE}'{_TYPE}?)\}}?(, default .*)?$", flags=re.MULTILINE)


class Choices(griffe.Extension):
    """Leaves ``{'a', 'b'}`` and ``int or 'a'`` as they are: griffe would take what is quoted for types."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Turn types into something that is no expression of Python."""
        if obj.docstring is not None:
            obj.docstring.value = _QUOTED.sub(r"\1one of \2\3", obj.docstring.value)
