#!/bin/sh
# Installs lock files into an environment, every file checked against its hash:
#
#   sh requirements/install.sh .venv/bin/python requirements/run.txt requirements/embedded.txt
#
# With uv, which pip brings and which then needs a tenth of pip's CPU time for the other packages. Where uv cannot
# be had, or does not find the packages (it does not read pip's configuration), pip installs the same files.
set -eu
PYTHON=$1
shift
HERE=$(dirname "$0")
PIP="$PYTHON -m pip --disable-pip-version-check install --quiet --require-hashes --no-deps"

with_uv() {
    "$PYTHON" -m uv --version >/dev/null 2>&1 || $PIP -r "$HERE/uv.txt" || return 1
    # --no-config: a uv.toml above this folder is about another project.
    "$PYTHON" -m uv pip install --quiet --no-config --python "$PYTHON" --require-hashes --no-deps "$@"
}

files=
for file; do
    files="$files -r $file"
done
# shellcheck disable=SC2086 - names of lock files have no spaces
with_uv $files || { echo "uv could not install; going on with pip, which takes longer." >&2; $PIP $files; }
