"""Names of columns, classes and tasks that try to become code, in what the library writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from gtgbm import AGBMRegressor, GTGBMClassifier, MultitaskGTGBMClassifier
from gtgbm.export import export_c, export_lightgbm
from gtgbm.report import write_report
from tests.report.test_report import NASTY, Page

X = np.random.default_rng(0).normal(size=(400, 12))
MARK = "gtgbm_attack()"
HOSTILE = [
    *NASTY[:11],
    f'x" onmouseover="{MARK}',
    f"x' onfocus='{MARK}' autofocus='",
    f"<svg/onload={MARK}>",
    f"<a href=javascript:{MARK}>x</a>",
    f"--><script>{MARK}</script>",
    f"]]><script>{MARK}</script>",
    f"</style><script>{MARK}</script>",
    f"{{% set a = {MARK} %}}",
    '=HYPERLINK("http://example.org")',
    "\\u003cscript\\u003e",
    "<iframe srcdoc='<script>1</script>'>",
    "&lt;script&gt;&#60;b&#62;",
    "\x00\x1b[31m<script>",
]
ALLOWED_LINKS = ("#", "data:image/", "data:,")


def checked(page: Page, plain: Page) -> None:
    """A page has the tags and kinds of attributes of a plain one, one script, and leads nowhere else."""
    assert (
        [tag for tag, _ in page.tags].count("script") == [tag for tag, _ in plain.tags].count("script") == 1
    )
    assert {tag for tag, _ in page.tags} <= {tag for tag, _ in plain.tags} | {"wbr"}
    attributes = {(tag, name) for tag, attrs in page.tags for name in attrs}
    assert not {name for _, name in attributes if name.startswith("on") or name in ("srcdoc", "autofocus")}
    for _, attrs in page.tags:
        for name in ("href", "src", "xlink:href", "action"):
            assert (attrs.get(name) or "#").startswith(ALLOWED_LINKS), attrs


def report_of(folder: Path, model: Any, table: Any, y: Any, **options: Any) -> Page:
    path = folder / "report.html"
    write_report(model, table, y, path=path, **options)
    return Page(path)


@pytest.mark.parametrize("first", [0, 12])
def test_columns_classes_and_title_of_a_report(first: int, tmp_path: Path) -> None:
    names = HOSTILE[first : first + 12]
    signal = X @ np.linspace(1.0, 2.0, 12)
    labels = np.array([HOSTILE[11], HOSTILE[15]])[(signal > 0).astype(int)]
    settings: dict[str, Any] = {
        "penalty": 0.0001,
        "n_estimators": 15,
        "random_state": 0,
        "selection": "forward",
    }
    model = GTGBMClassifier(**settings).fit(X, labels)
    assert model.n_selected_features_ >= 8
    page = report_of(tmp_path, model, X, labels, title=HOSTILE[17], names=names)
    plain = report_of(tmp_path, GTGBMClassifier(**settings).fit(X, signal > 0), X, signal > 0)
    checked(page, plain)
    assert MARK in page.source, "names are shown"


def test_tasks_of_a_report(tmp_path: Path) -> None:
    task = np.array([HOSTILE[11], HOSTILE[16]])[np.arange(400) % 2]
    settings: dict[str, Any] = {"n_estimators": 5, "random_state": 0}
    model = MultitaskGTGBMClassifier(**settings).fit(X, X[:, 0] > 0, task=task)
    page = report_of(tmp_path, model, X, X[:, 0] > 0, task=task)
    names = np.where(task == HOSTILE[11], "a", "b")
    plain_model = MultitaskGTGBMClassifier(**settings).fit(X, X[:, 0] > 0, task=names)
    checked(page, report_of(tmp_path, plain_model, X, X[:, 0] > 0, task=names))


def test_names_of_columns_are_no_lines_of_a_lightgbm_file(tmp_path: Path) -> None:
    names = ["a\ntree_sizes=1", "b num_class=9", 'c"}\r\nend of trees']
    frame = pd.DataFrame(X[:, :3], columns=names)
    model = AGBMRegressor(n_estimators=3, random_state=0).fit(frame, X[:, 0] + X[:, 1] + X[:, 2])
    plain = AGBMRegressor(n_estimators=3, random_state=0)
    plain.fit(frame.set_axis(["a", "b", "c"], axis=1), X[:, 0] + X[:, 1] + X[:, 2])
    keys = []
    for one in (model, plain):
        export_lightgbm(one, tmp_path / "model.txt")
        lines = (tmp_path / "model.txt").read_text().splitlines()
        keys.append([line.partition("=")[0] for line in lines])
    assert keys[0] == keys[1]


def test_names_of_tasks_do_not_leave_the_folder(tmp_path: Path) -> None:
    task = np.array(["../../outside", "/etc/passwd"])[np.arange(400) % 2]
    model = MultitaskGTGBMClassifier(n_estimators=2, random_state=0).fit(X, X[:, 0] > 0, task=task)
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    written = export_c(model, folder / "{task}.c")
    assert len(written) == 2
    assert {Path(path).resolve().parent for path in written} == {folder.resolve()}
    assert {path.name for path in tmp_path.iterdir()} == {"a"}
