"""Shows types in the API reference as docstrings have them: words, not expressions of Python."""

import re
from typing import Any

import griffe

_INVISIBLE = "\N{ZERO WIDTH SPACE}"
_OF_PARAMETER = re.compile(r"^( *\w[\w, ]* : )(.+?)(, optional|, default .*)?$", flags=re.MULTILINE)
_OF_RESULT = re.compile(r"^( *Returns\n *-+\n.+)$", flags=re.MULTILINE)


class PlainTypes(griffe.Extension):
    """Keeps griffe from reading ``array-like, shape (n,)`` as a difference, ``{'a', 'b'}`` as two types."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Mark types with a sign that Python does not allow, upon which griffe takes them for words.

        It stands before them, or griffe would read a type that begins by a brace as expressions.
        """
        if obj.docstring is not None:
            text = _OF_PARAMETER.sub(rf"\1{_INVISIBLE}\2\3", obj.docstring.value)
            obj.docstring.value = _OF_RESULT.sub(rf"\1{_INVISIBLE}", text)
