"""The page on extensions, followed literally: its files in a copy of the package, then its code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import gtgbm
from gtgbm import _core
from tests.project.pages import DOCS, Block, blocks_of, run_shell

PAGE = DOCS / "extending.md"
PATH = re.compile(r"# src/(gtgbm/\S+\.py)\n")

# Without the finder of editable installs, which would lead to the original.
SITE = """
import sys
sys.meta_path = [finder for finder in sys.meta_path if "Redirecting" not in type(finder).__name__]
"""

CHECKS = {
    "Add a loss": """
import numpy as np
from scipy.optimize import minimize_scalar
from gtgbm import AGBMRegressor
from gtgbm.export import TRUSTED_TYPES
from gtgbm.losses.log_cosh import LogCosh
y = np.random.default_rng(1).standard_t(df=2, size=400) + 5.0
found = AGBMRegressor(loss="log_cosh", n_estimators=1).fit(np.zeros((400, 1)), y).predict(np.zeros((1, 1)))[0]
best = minimize_scalar(lambda c: np.log(np.cosh(c - y)).mean(), bounds=(0.0, 10.0), method="bounded").x
assert abs(found - best) < 1e-4, (found, best)
# A split on the sign: each side has its own best constant.
X = np.repeat([[-1.0], [1.0]], 200, axis=0)
shifted = y + 4.0 * (X[:, 0] > 0)
model = AGBMRegressor(loss="log_cosh", n_estimators=200, learning_rate=0.3).fit(X, shifted)
for side in (-1.0, 1.0):
    own = shifted[X[:, 0] == side]
    best = minimize_scalar(lambda c: np.log(np.cosh(c - own)).mean(), bounds=(0.0, 20.0), method="bounded").x
    assert abs(model.predict([[side]])[0] - best) < 1e-3
assert "gtgbm.losses.log_cosh.LogCosh" in TRUSTED_TYPES
assert "'log_cosh'" in AGBMRegressor.__doc__
""",
    "Add a search": """
import numpy as np
from gtgbm import GTGBMRegressor
X = np.random.default_rng(2).normal(size=(500, 40))
model = GTGBMRegressor(search="turns", selection="forward", penalty=0.01, n_estimators=30).fit(X, X[:, 6])
assert str(model.search_) == "turns"
used = [set(tree.feature[tree.feature >= 0].tolist()) for tree in model.trees_]
# The first tree may buy columns 0, 4, ... only, the second 1, 5, ..., and the third 2, 6, ...
assert used[0] and all(column % 4 == 0 for column in used[0])
assert 6 not in used[1] and 6 in used[2]
""",
    "Add an export": """
import json
import numpy as np
from gtgbm import MultitaskGTGBMRegressor
from gtgbm.export import export_json
X = np.random.default_rng(3).normal(size=(200, 3))
task = np.repeat(["a", "b"], 100)
model = MultitaskGTGBMRegressor(n_estimators=3).fit(X, X[:, 0], task=task)
assert export_json(model, "{task}.json") == ["a.json", "b.json"]
assert json.load(open("a.json"))["names"] == ["Column_0", "Column_1", "Column_2"]
""",
}


def sections() -> dict[str, list[Block]]:
    """Return the blocks of each section, by its heading."""
    text = PAGE.read_text(encoding="utf-8")
    found: dict[str, list[Block]] = {}
    for heading in re.findall(r"^## (.+)$", text, flags=re.MULTILINE):
        start = text.index(f"## {heading}\n")
        end = text.find("\n## ", start)
        found[heading] = blocks_of(text[start : end if end >= 0 else None])
    return found


SECTIONS = sections()


def test_every_section_is_followed() -> None:
    assert set(SECTIONS) == set(CHECKS)


@pytest.mark.parametrize("heading", list(CHECKS))
def test_the_page_followed_literally(heading: str, tmp_path: Path) -> None:
    original = Path(gtgbm.__file__).parent
    shutil.copytree(original, tmp_path / "gtgbm", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(str(_core.__file__), tmp_path / "gtgbm")
    (tmp_path / "sitecustomize.py").write_text(SITE)
    printed = ""
    for block in SECTIONS[heading]:
        path = PATH.match(block.code)
        if block.language == "python" and path:
            assert not (original / path[1]).exists(), "a new file"
            (tmp_path / path[1]).write_text(block.code[path.end() :])
        elif block.language == "diff" and path:
            change(tmp_path / path[1], block.code[path.end() :])
        elif block.language == "python":
            printed = run(block.code, tmp_path)
        elif block.language == "bash":
            run_shell(block.code, tmp_path, {"PYTHONPATH": str(tmp_path)})
        else:
            assert block.language == "text"
            assert block.code == printed
    run(CHECKS[heading], tmp_path)


def change(path: Path, difference: str) -> None:
    """Change a file: each part is text that it has once, with lines to add and to remove."""
    content = path.read_text(encoding="utf-8")
    for part in difference.split("@@\n"):
        lines = part.splitlines(keepends=True)
        assert all(line[0] in " +-" for line in lines)
        old = "".join(line[1:] for line in lines if line[0] != "+")
        assert content.count(old) == 1, f"{path.name} does not have once:\n{old}"
        content = content.replace(old, "".join(line[1:] for line in lines if line[0] != "-"))
    path.write_text(content, encoding="utf-8")


def run(code: str, folder: Path) -> str:
    """Run code with the copy of the package that a folder has; returns what it prints."""
    where = f"import gtgbm\nassert gtgbm.__file__.startswith({str(folder)!r}), gtgbm.__file__\n"
    done = subprocess.run(
        [sys.executable, "-c", where + code],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "PATH": sysconfig.get_path("scripts")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
