#!/bin/sh
# Rewrites the hash-pinned requirements from pyproject.toml and the .in files beside this script (`make locks`).
#
# uv resolves for every platform and every Python from 3.11 on at once; `UV=path` names one that is installed, else
# it comes into a folder that is removed again. No file written here names an index: whoever installs uses their own.
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}

if [ -z "${UV:-}" ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    "$PYTHON" -m venv "$scratch/venv"
    "$scratch/venv/bin/python" -m pip --disable-pip-version-check install --quiet uv
    UV=$scratch/venv/bin/uv
fi

compile() {
    target=$1
    shift
    echo "requirements/$target"
    "$UV" pip compile --quiet --universal --python-version 3.11 --generate-hashes --upgrade \
        --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
        --output-file "requirements/$target" "$@"
}

compile run.txt pyproject.toml
# The same versions in both, so that `make test` tests what `make demo` runs.
compile dev.txt --extra dev --constraint requirements/run.txt pyproject.toml
compile build.txt requirements/build.in
compile uv.txt requirements/uv.in
compile embedded.txt --no-deps requirements/embedded.in

if grep -n '://' requirements/*.txt; then
    echo "A URL got into a lock file; take it out before committing." >&2
    exit 1
fi
