"""Forks, threads, joblib and Ctrl-C: a fit must neither hang, nor crowd out others, nor ignore its user."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

import joblib
import numpy as np
import pytest

from gtgbm import GTGBMClassifier, GTGBMRegressor
from gtgbm.estimators.threads import n_threads
from gtgbm.exact.arrays import F64

GUARD = 60.0
"""Seconds after which something hangs."""
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")


def table(seed: int = 0) -> tuple[F64, F64]:
    """Make enough rows for the kernels to use their threads."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8000, 40))
    return X, X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * X[:, 2] + 0.3 * rng.normal(size=8000)


def fit(search: str, seed: int = 0, n_jobs: int = 2) -> F64:
    X, y = table(seed)
    model = GTGBMRegressor(n_estimators=5, search=search, n_jobs=n_jobs, random_state=0).fit(X, y)
    predicted: F64 = model.predict(X)
    return predicted


def run_script(script: str, **environment: str) -> str:
    """Run Python code in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=2 * GUARD,
        env=os.environ | environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def fit_in_child(search: str, results: Connection) -> None:
    results.send(fit(search))
    results.close()


def fit_in_fork(search: str) -> F64:
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=fit_in_child, args=(search, send))
    with warnings.catch_warnings():
        # Newer Pythons warn of any fork in a process with threads, which is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        child.start()
    try:
        assert receive.poll(GUARD), "the child hangs"
        predicted: F64 = receive.recv()
        child.join(GUARD)
        assert child.exitcode == 0
    finally:
        if child.is_alive():
            child.kill()
    return predicted


@needs_fork
@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_fit_fork_fit(search: str) -> None:
    before = fit(search)
    in_child = fit_in_fork(search)
    after = fit(search)
    assert before.tobytes() == in_child.tobytes() == after.tobytes()


@needs_fork
def test_fork_in_the_middle_of_a_fit() -> None:
    """A callback forks while the pool's threads sleep: both processes finish this fit and do another."""
    out = run_script(
        """
        import os
        import signal
        import numpy as np
        from gtgbm import AGBMRegressor

        rng = np.random.default_rng(0)
        X = rng.normal(size=(8000, 40))
        y = X[:, 0] + X[:, 1] ** 2
        alone = AGBMRegressor(n_estimators=6, n_jobs=2).fit(X, y).predict(X)
        forked = []

        def fork(progress):
            if progress.round == 3:
                forked.append(os.fork())
                if forked[0] == 0:
                    signal.alarm(30)  # ends a child that hangs

        finished = AGBMRegressor(n_estimators=6, n_jobs=2).fit(X, y, callbacks=[fork]).predict(X)
        again = AGBMRegressor(n_estimators=6, n_jobs=2).fit(X, y).predict(X)
        same = np.array_equal(alone, finished) and np.array_equal(alone, again)
        if forked[0] == 0:
            os._exit(0 if same else 1)
        print(same, os.waitstatus_to_exitcode(os.waitpid(forked[0], 0)[1]))
        """
    )
    assert out.split() == ["True", "0"]


@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_fits_in_threads_do_not_disturb_each_other(search: str) -> None:
    alone = [fit(search, seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda seed: fit(search, seed), range(4)))
    for one, other in zip(alone, together, strict=True):
        assert one.tobytes() == other.tobytes()


def test_one_model_predicts_in_threads() -> None:
    X, y = table()
    model = GTGBMClassifier(n_estimators=5, n_jobs=2, random_state=0).fit(X, y > 0)
    alone = model.predict_proba(X)
    with ThreadPoolExecutor(4) as threads:
        for together in threads.map(lambda _: model.predict_proba(X), range(8)):
            assert together.tobytes() == alone.tobytes()


def test_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = joblib.cpu_count()
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert n_threads(None) == cores
    assert [n_threads(k) for k in (1, 2, 7)] == [1, 2, 7]
    assert n_threads(-1) == cores
    assert n_threads(-cores) == n_threads(-cores - 5) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert n_threads(None) == 1
    assert n_threads(3) == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "1,4")
    assert n_threads(None) == 1
    monkeypatch.setenv("OMP_NUM_THREADS", str(cores + 5))
    assert n_threads(None) == cores
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert n_threads(None) == cores
    monkeypatch.delenv("OMP_NUM_THREADS")
    with joblib.parallel_config("sequential"):
        assert n_threads(None) == 1
    assert n_threads(None) == cores


def most_threads_started(**parameters: Any) -> int:
    """Threads that a fit and a prediction have at once, beyond those that were there before."""
    X, y = table()
    before = len(os.listdir("/proc/self/task"))
    seen: list[int] = []

    def look(_: Any) -> None:
        seen.append(len(os.listdir("/proc/self/task")) - before)

    model = GTGBMRegressor(n_estimators=3, random_state=0, **parameters).fit(X, y, callbacks=[look])
    model.predict(X)
    assert len(os.listdir("/proc/self/task")) == before, "threads outlive the fit"
    return max(seen)


@needs_proc
@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_no_more_threads_than_asked_for(search: str, n_jobs: int) -> None:
    # The calling thread is one of them.
    assert most_threads_started(search=search, n_jobs=n_jobs) == n_jobs - 1


@pytest.mark.skipif(
    sys.platform != "linux", reason="where threads get their stacks' size from is Linux's way"
)
@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_threads_have_small_stacks(search: str) -> None:
    """With 128 KiB, as musl gives them. glibc gives what the limit was when the process started."""
    script = f"""
    import resource
    resource.setrlimit(resource.RLIMIT_STACK, (2**23, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    import numpy as np
    from gtgbm import GTGBMClassifier
    X = np.random.default_rng(0).normal(size=(20_000, 200))
    model = GTGBMClassifier(n_estimators=3, n_jobs=2, search="{search}", random_state=0)
    print(model.fit(X, X[:, 0] > 0).predict(X).shape)
    """
    done = subprocess.run(
        ["sh", "-c", 'ulimit -S -s 128 && exec "$0" -c "$1"', sys.executable, textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=2 * GUARD,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(20000,)\n"


@needs_proc
def test_openmp_limit_holds_during_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert most_threads_started(n_jobs=None) == 0


@needs_proc
@pytest.mark.parametrize(("backend", "n_workers"), [("loky", 2), ("threading", 2)])
def test_joblib_workers_stay_within_their_limit(backend: str, n_workers: int) -> None:
    out = run_script(
        f"""
        import os
        os.environ.pop("OMP_NUM_THREADS", None)
        import joblib
        import numpy as np
        from gtgbm import GTGBMRegressor
        from gtgbm.estimators.threads import n_threads

        def work(seed, before):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(8000, 40))
            before = before or len(os.listdir("/proc/self/task"))
            seen = []
            look = lambda _: seen.append(len(os.listdir("/proc/self/task")) - before)
            GTGBMRegressor(n_estimators=3).fit(X, X[:, 0] + X[:, 1], callbacks=[look])
            return n_threads(None), max(seen)

        # Workers that are threads of this process are counted with it.
        before = len(os.listdir("/proc/self/task")) if {backend!r} == "threading" else 0
        for limit, seen in joblib.Parallel(n_jobs={n_workers}, backend={backend!r})(
            joblib.delayed(work)(seed, before) for seed in range(4)
        ):
            print(limit, seen, joblib.cpu_count())
        """
    )
    lines = [list(map(int, line.split())) for line in out.splitlines()]
    assert len(lines) == 4
    for limit, seen, cores in lines:
        if backend == "loky":
            assert limit <= max(1, cores // n_workers)
            assert seen <= limit - 1
        else:
            joblib_threads = n_workers + 3  # its workers, and those that hand out their tasks
            assert limit <= cores
            assert seen <= joblib_threads + n_workers * (limit - 1)


INTERRUPTED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process started in the background ignores it
import time
import numpy as np
from gtgbm import GTGBMRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(60_000, 100))
y = X[:, 0] + np.sin(X[:, 1]) + rng.normal(size=60_000)
model = GTGBMRegressor(n_estimators=100_000, search=SEARCH, n_jobs=2, penalty=0.0, random_state=0)
try:
    model.fit(X, y, callbacks=[lambda progress: print("round", flush=True) if progress.round < 3 else None])
except KeyboardInterrupt:
    print("interrupted", flush=True)
model.set_params(n_estimators=2).fit(X[:2000], y[:2000])
print(len(model.trees_), flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGINT is sent to a process")
@pytest.mark.parametrize("search", ["exhaustive", "group-testing"])
def test_ctrl_c(search: str) -> None:
    script = INTERRUPTED.replace("SEARCH", repr(search))
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    guard = threading.Timer(GUARD, process.kill)
    guard.start()
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "round\n", process.stderr and process.stderr.read()
        assert process.stdout.readline() == "round\n"
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - sent < 5.0
        out, error = process.communicate(timeout=10.0)
        assert (process.returncode, out.split()) == (0, ["2"]), error
    finally:
        guard.cancel()
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
