"""Kinds of values that say what features cost, and which are bought together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gtgbm.exact import F64
from gtgbm.parameters.data_kinds import columns
from gtgbm.parameters.kinds import Context, Kind, Number, number_or_text
from gtgbm.parameters.text import parse_json, parse_pairs


class Group(NamedTuple):
    """Columns that are bought together.

    Attributes
    ----------
    name : str or None
        None for groups that are given as a list.
    columns : list of int
        Ascending.
    """

    name: str | None
    columns: list[int]


@dataclass(frozen=True)
class Groups(Kind):
    """Groups of columns: lists of columns, or a dict from the name of a group to its columns."""

    doc_type = "list of lists, dict or None"
    metavar = "NAME=[...],..."
    text_form = 'JSON, such as {"bureau": ["age", "income"]} or [["age", "income"]].'
    optional = True

    def check(self, name: str, value: Any, context: Context) -> list[Group]:
        """Return the groups."""
        if value is None:
            return []
        hint = ": give lists of columns (indices or names), or a dict from names of groups to such lists"
        if isinstance(value, str) or not (isinstance(value, Mapping) or hasattr(value, "__iter__")):
            raise TypeError(f"{name}={value!r} is not a list of groups{hint}")
        named = value.items() if isinstance(value, Mapping) else ((None, one) for one in value)
        groups: list[Group] = []
        owner: dict[int, str] = {}
        for number, (title, members) in enumerate(named):
            label = f"{name}[{number if title is None else title!r}]"
            group = Group(None if title is None else str(title), columns(label, members, context))
            if not group.columns:
                raise ValueError(f"{label} has no columns{hint}, and leave out empty ones")
            for column in group.columns:
                if column in owner:
                    raise ValueError(
                        f"{name} has column {column_name(column, context)} in two groups, {owner[column]} "
                        f"and {label}: a column belongs to one group at most; merge the groups, or leave the "
                        "column out of one"
                    )
                owner[column] = label
            groups.append(group)
        return groups

    def parse(self, name: str, text: str) -> Any:
        """Read JSON."""
        return parse_json(name, text)


@dataclass(frozen=True)
class Costs(Kind):
    """A cost of at least 0 for each column, or a dict from columns or groups to them; infinite: forbidden."""

    doc_type = "array-like, dict or None"
    metavar = "NAME=COST,..."
    text_form = "Written as age=1,score=5,secret=inf, or as JSON."
    optional = True

    def check(self, name: str, value: Any, context: Context) -> F64 | None:
        """Return the cost of each column, shape (n_features,); NaN: it is not given. None: none is given."""
        if value is None:
            return None
        n_features = context.n_features or 0
        hint = (
            f": give {n_features} numbers of at least 0 (inf: the feature is not used), or a dict from "
            "columns or groups to them"
        )
        if isinstance(value, Mapping) or _is_named(value):
            return self._of_names(name, dict(value), context, hint)
        costs = _numbers(name, value, hint)
        if costs.shape != (n_features,):
            raise ValueError(f"{name} has shape {costs.shape}, but X has {n_features} columns{hint}")
        _check_costs(name, costs, range(n_features), context, hint)
        return costs

    def _of_names(self, name: str, value: dict[Any, Any], context: Context, hint: str) -> F64:
        costs = np.full(context.n_features or 0, np.nan)
        groups = {group.name: group.columns for group in context.others.get("feature_groups", [])}
        for key, cost in value.items():
            label = f"{name}[{key!r}]"
            members = groups.get(key) if isinstance(key, str) else None
            if members is None:
                members = columns(name, [key], context)
            elif context.position.get(key, members[0]) not in members:
                raise ValueError(f"{label} is the name of a group and of a column outside it: rename one")
            number = _numbers(label, [cost], hint)
            _check_costs(name, number, members[:1], context, hint)
            costs[members] = number[0]
        return costs

    def parse(self, name: str, text: str) -> Any:
        """Read pairs, or a list."""
        if text.lstrip().startswith("["):
            return parse_json(name, text)
        return parse_pairs(name, text, number_or_text)


@dataclass(frozen=True)
class Budget(Kind):
    """A limit on a sum of costs."""

    doc_type = "float or None"
    metavar = "NUMBER"
    optional = True
    _number = Number(low=0, hint=", or None for no limit")

    def check(self, name: str, value: Any, context: Context) -> float | None:
        """Return a float, or None."""
        return None if value is None else self._number.check(name, value, context)

    def parse(self, name: str, text: str) -> float:
        """Read a number."""
        return self._number.parse(name, text)


def column_name(column: int, context: Context) -> str:
    """Return the name of a column, or else its index, for messages."""
    return str(column) if context.feature_names is None else repr(str(context.feature_names[column]))


def _is_named(value: Any) -> bool:
    """Whether a value is a series whose index has names."""
    index = getattr(value, "index", None)
    if not hasattr(value, "to_dict") or index is None or callable(index):
        return False
    return all(isinstance(label, str) for label in index)


def _numbers(name: str, value: Any, hint: str) -> F64:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}={value!r} holds something other than numbers{hint}") from error


def _check_costs(name: str, costs: F64, of_columns: Any, context: Context, hint: str) -> None:
    bad = np.flatnonzero(~(costs >= 0.0))
    if bad.shape[0]:
        place = int(bad[0])
        column = column_name(of_columns[place], context)
        raise ValueError(f"{name} has {costs[place]} for column {column}{hint}")
