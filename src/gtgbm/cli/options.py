"""Command-line flags for the parameters of the estimators, made from the table of parameters."""

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

ParameterTexts = dict[str, Any]
"""Texts of the parameters that the user set, by name; the others keep their defaults."""

_REPEATABLE = ("categorical_features", "fixed_features")


def parameter_flags(
    names: Sequence[str], defaults: Mapping[str, str] = MappingProxyType({})
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces the argument ``texts`` of a command by one flag per parameter.

    Parameters
    ----------
    names : sequence of str
        Names of the parameters.
    defaults : mapping of str to str
        Texts for parameters that the user does not set.
    """

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**values: Any) -> None:
            texts = {name: values.pop(name) for name in names}
            written = {name: text for name, text in texts.items() if text is not None}
            command(**values, texts={**defaults, **written})

        signature = inspect.signature(command, eval_str=True)
        own = list(signature.parameters.values())
        place = [parameter.name for parameter in own].index("texts")
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
    # The commands define --categorical themselves, since it also takes names of columns.
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


def parse_texts(texts: ParameterTexts) -> dict[str, Any]:
    """Return the values of the parameters that the user set."""
    values: dict[str, Any] = {}
    for name, written in texts.items():
        if isinstance(written, list):
            values[name] = [value for text in written for value in PARAMETERS[name].parse(text) or []]
        else:
            values[name] = written if isinstance(written, bool) else PARAMETERS[name].parse(written)
    return values


def with_categorical(
    parameters: Mapping[str, Any], words: Sequence[str], table: Path, text_format: TextFormat
) -> dict[str, Any]:
    """Add what ``--categorical`` says: what is selected of categories, or names of columns that hold them.

    Raises
    ------
    UserError
        If a word is both a value and the name of a column.
    """
    kind = PARAMETERS["categorical"].kind
    assert isinstance(kind, Choice)
    values = dict(parameters)
    units = [] if "categorical" in values else [word for word in words if word in kind.options]
    names = [word for word in words if word not in units]
    for unit in units:
        if unit in _names_of(table, text_format):
            raise UserError(
                f"--categorical {unit} is ambiguous, since there is a column of this name: give "
                f"--categorical-as {unit}, or --categorical-features {unit}"
            )
        values["categorical"] = unit
    if names:
        values["categorical_features"] = [*values.get("categorical_features", []), *names]
    return values


def _names_of(table: Path, text_format: TextFormat) -> list[str]:
    from gtgbm.cli.files import open_table
    from gtgbm.cli.loading import is_libsvm

    return [] if is_libsvm(table) else open_table(table, text_format).names


class CommandWithDefaults(TyperCommand):
    """A command whose help shows the defaults of the estimators.

    They are read only for the help, since importing the estimators imports scikit-learn.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        from gtgbm.cli.models import default_of

        for option in self.params:
            if option.name in PARAMETERS and not option.show_default:  # type: ignore[attr-defined]
                option.show_default = default_of(option.name)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)
