"""Files that say what features cost and which are bought together: CSV with two columns and a header."""

from __future__ import annotations

import csv
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from gtgbm.cli.columns import check_named
from gtgbm.cli.errors import UserError
from gtgbm.cli.files import open_table
from gtgbm.cli.text_format import TextFormat

_PANEL = "Features"


@dataclass(frozen=True)
class CostOptions:
    """Files of costs and groups."""

    costs: Annotated[
        Path | None,
        typer.Option(
            help="CSV with the columns feature and cost: same as --feature-costs. A feature may be a group "
            "of --groups; a cost of inf forbids it.",
            metavar="FILE.csv",
            rich_help_panel=_PANEL,
        ),
    ] = None
    groups: Annotated[
        Path | None,
        typer.Option(
            help="CSV with the columns feature and group: same as --feature-groups.",
            metavar="FILE.csv",
            rich_help_panel=_PANEL,
        ),
    ] = None

    def parameters(
        self, given: dict[str, Any], table: Path, text_format: TextFormat, no_features: Collection[str]
    ) -> dict[str, Any]:
        """Add what the files say to the parameters that are given by flags.

        Parameters
        ----------
        no_features : collection of str
            Columns of the table that are not features: a file may name them, which has no effect.
        """
        from gtgbm.cli.loading import is_libsvm

        found = dict(given)
        if (self.costs or self.groups) is not None and is_libsvm(table):
            raise UserError(
                "--costs and --groups name columns, and those of libsvm's format have no names: convert the "
                "table, or use the Python API with column indices"
            )
        if self.groups is not None:
            _refuse_both(given, "feature_groups", "--groups")
            groups = _read(self.groups, "group")
            check_named(
                table, open_table(table, text_format).names, {f"--groups {self.groups}": list(groups)}
            )
            by_group: dict[str, list[str]] = {}
            for feature, group in groups.items():
                if feature not in no_features:
                    by_group.setdefault(group, []).append(feature)
            found["feature_groups"] = by_group
        if self.costs is not None:
            _refuse_both(given, "feature_costs", "--costs")
            costs = _read(self.costs, "cost")
            names = [feature for feature in costs if feature not in found.get("feature_groups", {})]
            check_named(table, open_table(table, text_format).names, {f"--costs {self.costs}": names})
            found["feature_costs"] = {
                feature: _number(self.costs, feature, cost)
                for feature, cost in costs.items()
                if feature not in no_features
            }
        return found


def _refuse_both(given: dict[str, Any], name: str, option: str) -> None:
    if given.get(name) is not None:
        raise UserError(f"{option} and --{name.replace('_', '-')} say the same: give one of them")


def _read(path: Path, value: str) -> dict[str, str]:
    """Read the columns feature and `value` of a CSV file."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file, skipinitialspace=True)
        names = [name.strip() for name in rows.fieldnames or []]
        if not {"feature", value} <= set(names):
            raise UserError(
                f"{path} has the columns {', '.join(map(repr, names)) or 'none'}: give a CSV whose first "
                f"line is feature,{value}"
            )
        rows.fieldnames = names
        found: dict[str, str] = {}
        for row in rows:
            feature, text = (row[name] or "" for name in ("feature", value))
            if feature in found:
                raise UserError(f"{path}, line {rows.line_num}: {feature!r} is there twice: keep one {value}")
            if not text.strip():
                raise UserError(f"{path}, line {rows.line_num}: {feature!r} has no {value}: give one")
            found[feature] = text.strip()
    return found


def _number(path: Path, feature: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise UserError(
            f"{path}: {feature!r} costs {text!r}, which is not a number: give one, or inf"
        ) from error
