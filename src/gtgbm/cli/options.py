"""Flags of the estimators' parameters, made from the table of parameters."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from gtgbm.cli.errors import UserError
from gtgbm.cli.text_format import TextFormat
from gtgbm.parameters import PARAMETERS, Choice, Flag, Parameter

Given = dict[str, Any]
"""What the user wrote for some parameters, by name; others keep their defaults."""

_REPEATABLE = ("categorical_features",)


def parameter_flags(
    names: Sequence[str], defaults: Mapping[str, str] = MappingProxyType({})
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a flag for each of some parameters, in the place of its argument ``given``.

    Parameters
    ----------
    names : sequence of str
    defaults : mapping of str to str
        What is given to the command where the user wrote nothing.
    """

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**values: Any) -> None:
            written = {name: values.pop(name) for name in names}
            given = {name: one for name, one in written.items() if one is not None}
            command(**values, given={**defaults, **given})

        signature = inspect.signature(command, eval_str=True)
        own = list(signature.parameters.values())
        place = [one.name for one in own].index("given")
        flags = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None,
                annotation=_annotation(PARAMETERS[name], defaults.get(name)),
            )
            for name in names
        ]
        parameters = [*own[:place], *flags, *own[place + 1 :]]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return run

    return add


def _annotation(parameter: Parameter, default: str | None) -> Any:
    kind = parameter.kind
    is_switch = isinstance(kind, Flag)
    # The commands have --categorical of their own: it takes names of columns as well.
    flags = [] if parameter.name == "categorical" else [parameter.flag]
    option = typer.Option(
        *([f"{parameter.flag}/--no-{parameter.flag[2:]}"] if is_switch else [*flags, *parameter.aliases]),
        help=f"{parameter.meaning} {kind.text_form}".strip(),
        metavar=None if is_switch else kind.metavar,
        rich_help_panel=parameter.panel,
        show_default=False if default is None else default,
        autocompletion=(lambda: list(kind.options)) if isinstance(kind, Choice) else None,
    )
    if is_switch:
        return Annotated[bool | None, option]
    return Annotated[list[str] | None if parameter.name in _REPEATABLE else str | None, option]


def parse_given(given: Given) -> dict[str, Any]:
    """Return the values of the parameters that the user wrote."""
    found: dict[str, Any] = {}
    for name, written in given.items():
        if isinstance(written, list):
            found[name] = [one for text in written for one in PARAMETERS[name].parse(text) or []]
        else:
            found[name] = written if isinstance(written, bool) else PARAMETERS[name].parse(written)
    return found


def with_categorical(
    parameters: Mapping[str, Any], words: Sequence[str], table: Path, text_format: TextFormat
) -> dict[str, Any]:
    """Add what ``--categorical`` says: what is selected of categories, or names of columns that hold them.

    Raises
    ------
    UserError
        If it could be either.
    """
    kind = PARAMETERS["categorical"].kind
    assert isinstance(kind, Choice)
    found = dict(parameters)
    units = [] if "categorical" in found else [word for word in words if word in kind.options]
    names = [word for word in words if word not in units]
    for unit in units:
        if unit in _names_of(table, text_format):
            raise UserError(
                f"--categorical {unit} could mean the column of this name: give --categorical-as {unit}, or "
                f"--categorical-features {unit}"
            )
        found["categorical"] = unit
    if names:
        found["categorical_features"] = [*found.get("categorical_features", []), *names]
    return found


def _names_of(table: Path, text_format: TextFormat) -> list[str]:
    from gtgbm.cli.files import open_table
    from gtgbm.cli.loading import is_libsvm

    return [] if is_libsvm(table) else open_table(table, text_format).names


class CommandWithDefaults(TyperCommand):
    """A command whose help shows the estimators' defaults.

    They are read when help is asked for, since they stand in constructors that need scikit-learn.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        from gtgbm.cli.models import default_of

        for option in self.params:
            if option.name in PARAMETERS and not option.show_default:  # type: ignore[attr-defined]
                option.show_default = default_of(option.name)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)
