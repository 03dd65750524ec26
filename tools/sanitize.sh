#!/usr/bin/env bash
# Builds the kernels with a sanitizer and runs the kernel tests under it; fails if it reports anything.
#
#   tools/sanitize.sh address    reads and writes out of bounds or after a free, undefined behaviour
#   tools/sanitize.sh thread     data races
#
# Further arguments are tests to run instead of tests/kernels.
# Needs gcc's sanitizer libraries. Builds into a temporary directory: the checkout is left alone.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case "${1:-}" in
    address) sanitizers=address,undefined library=libasan.so ;;
    thread) sanitizers=thread library=libtsan.so ;;
    *) echo "usage: tools/sanitize.sh address|thread [TEST...]" >&2; exit 2 ;;
esac

compiler=${CXX:-g++}
preload=""
# libstdc++ too: a sanitizer looks for the real __cxa_throw when the process starts.
for name in "$library" libstdc++.so; do
    path=$("$compiler" -print-file-name="$name")
    [ -f "$path" ] || { echo "$compiler has no $name: install gcc's sanitizer libraries" >&2; exit 1; }
    preload+="${preload:+:}$(realpath "$path")"
done

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV PYTEST_ADDOPTS

python3 -m venv "$tmp/venv"
# -D_GLIBCXX_ASSERTIONS: the standard library checks its own indices as well.
CXX=$compiler CXXFLAGS="-D_GLIBCXX_ASSERTIONS" "$tmp/venv/bin/pip" install --quiet ".[test]" \
    -C build-dir="$tmp/build" -C install.strip=false -C cmake.define.GTGBM_SANITIZE="$sanitizers"

# Under a sanitizer everything is several times slower: fewer examples, the same ones every time.
cat >"$tmp/sanitize_profile.py" <<'PYTHON'
from hypothesis import HealthCheck, settings

settings.register_profile(
    "sanitize",
    deadline=None,
    max_examples=25,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
PYTHON

run=()
tests=("${@:2}")
if [ ${#tests[@]} -eq 0 ]; then tests=(tests/kernels); fi
if [ "$1" = thread ]; then
    # A process forked while threads run cannot be followed by the thread sanitizer.
    tests+=(-k "not fork")
    # It needs its part of the address space, which random placement may take.
    if setarch "$(uname -m)" -R true 2>/dev/null; then run=(setarch "$(uname -m)" -R); fi
fi

# Python itself leaks by design, and its own allocator would hide the ends of arrays. --capture=sys: pytest
# must not swallow what a sanitizer writes to the process's stderr.
status=0
env PYTHONPATH="$tmp" PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1 \
    HYPOTHESIS_STORAGE_DIRECTORY="$tmp/hypothesis" LD_PRELOAD="$preload" \
    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
    "${run[@]}" "$tmp/venv/bin/python" -m pytest -q -p no:cacheprovider --capture=sys \
    -p sanitize_profile --hypothesis-profile=sanitize "${tests[@]}" 2>"$tmp/stderr" || status=$?

cat "$tmp/stderr" >&2
if grep -qE 'Sanitizer|runtime error:' "$tmp/stderr"; then
    echo "tools/sanitize.sh $1: the sanitizer found something, see above" >&2
    exit 1
fi
if [ "$status" -ne 0 ]; then
    echo "tools/sanitize.sh $1: tests failed (exit code $status), without a report of the sanitizer" >&2
    exit "$status"
fi
echo "tools/sanitize.sh $1: nothing found"
