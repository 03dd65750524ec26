"""Guard the speed of training: count the instructions of five small fits, and compare.

    python tools/guard.py --python A/bin/python --against B/bin/python   # compares two environments
    python tools/guard.py --python A/bin/python                          # compares with guard_counts.json
    python tools/guard.py --python A/bin/python --write                  # writes that file

Each environment has its own gtgbm installed, and pandas. The counts are those of valgrind's callgrind, on one
thread: unlike seconds they hardly vary from run to run, also on a machine that others use. They do depend on
the compiler and on the versions of Python and of the libraries, so two environments should differ in gtgbm
only, and against the table a fit is judged only where versions are those it was written with.

Needs valgrind with its headers and a C compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TABLE = HERE / "guard_counts.json"
TOLERANCE = 0.02
"""Counts of the same code differ by less than a thousandth; this leaves room for small changes."""

MARKS = """
#include <valgrind/callgrind.h>
void start(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void stop(const char* name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""
"""Tells callgrind from Python what to count: instructions between the two, under a name."""


def compiler() -> str:
    """Return the C compiler; the one that built gtgbm is taken to be of the same kind."""
    return os.environ.get("CC", "cc")


def compile_marks(folder: Path) -> Path:
    """Compile MARKS to a library that Python's ctypes can load."""
    source, library = folder / "marks.c", folder / "marks.so"
    source.write_text(MARKS)
    subprocess.run([compiler(), "-O1", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    return library


def measure(python: str) -> dict[str, Any]:
    """Count the instructions of each fit in an environment; also return the versions of its libraries."""
    python = os.path.abspath(python)  # links are kept: they are what makes an environment
    # One thread, one order of hashes, and nothing of the caller's Python.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Started in the temporary folder, and -P is new in Python 3.11: a copy keeps tools/ off sys.path.
        program = shutil.copy(HERE / "guard_fits.py", folder)
        valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--combine-dumps=no"]
        valgrind += [f"--callgrind-out-file={folder}/counts", "--log-file=/dev/null"]
        printed = subprocess.run(
            [*valgrind, python, program, str(compile_marks(folder))],
            check=True,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
        dumps = [path.read_text() for path in sorted(folder.glob("counts.*"))]
    counts = {}
    for dump in dumps:
        case = re.search(r"^desc: Trigger: Client Request: (\w+)$", dump, re.MULTILINE)
        total = re.search(r"^totals: (\d+)", dump, re.MULTILINE)
        if case and total:
            counts[case[1]] = int(total[1])
    built = subprocess.run([compiler(), "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    versions = {**json.loads(printed.splitlines()[-1]), "compiler": built.splitlines()[0]}
    return {"versions": versions, "instructions": counts}


def compared(ours: dict[str, int], theirs: dict[str, int]) -> bool:
    """Print both counts and their ratio for each fit; return whether none is above the tolerance."""
    print(f"{'fit':<15}{'instructions':>15}{'against':>15}{'ratio':>9}")
    good = True
    for name in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(name), theirs.get(name)
        if mine is None or other is None:
            print(f"{name:<15} is counted on one side only")
            good = False
            continue
        ratio = mine / other
        too_many = ratio > 1 + TOLERANCE
        good &= not too_many
        print(f"{name:<15}{mine:>15,}{other:>15,}{ratio:>9.4f}{'  more' if too_many else ''}")
    return good


def main() -> int:
    """Count, print, and return the exit code: 1 if a fit takes more instructions than it may."""
    parser = argparse.ArgumentParser(description="Count the instructions of five small fits, and compare.")
    parser.add_argument("--python", default=sys.executable, help="Python of the environment to judge.")
    parser.add_argument("--against", help="Python of the environment to compare with; else the stored table.")
    parser.add_argument("--write", action="store_true", help="Write the stored table instead of comparing.")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("guard: skipped, since valgrind is not installed")
        return 0
    ours = measure(options.python)
    if options.write:
        TABLE.write_text(json.dumps(ours, indent=2) + "\n")
        print(TABLE.read_text(), end="")
        return 0
    theirs = measure(options.against) if options.against else json.loads(TABLE.read_text())
    good = compared(ours["instructions"], theirs["instructions"])
    if ours["versions"] != theirs["versions"]:
        print(f"Versions differ, so nothing is judged: {ours['versions']} against {theirs['versions']}.")
        return 0
    print(f"No fit takes {TOLERANCE:.0%} more." if good else f"A fit takes more than {TOLERANCE:.0%} more.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
