#!/bin/sh
# Puts the pinned cloth simulators into a virtualenv of their own.
#
#   install.sh [VENV]     default: target/peers/cloth under the repository root
#
# PYTHON names the interpreter to build it with (default python3; the pins are tried with 3.11).
# Running it again does nothing once the pinned versions are in place.
set -eu

PYPBD=2.2.2
NEWTON=1.7.0
WARP=1.19.0
NUMPY=2.4.6

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../../.." && pwd)
venv=${1:-$root/target/peers/cloth}

installed() {
    [ -x "$venv/bin/python" ] && "$venv/bin/python" - "$PYPBD" "$NEWTON" "$WARP" "$NUMPY" <<'PY' 2>/dev/null
import sys
from importlib.metadata import version
import pyarrow
sys.exit([version(name) for name in ("pypbd", "newton", "warp-lang", "numpy")] != sys.argv[1:])
PY
}

installed && exit 0
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    "pypbd==$PYPBD" "newton==$NEWTON" "warp-lang==$WARP" "numpy==$NUMPY" pyarrow
installed || { echo "install.sh: $venv does not hold the pinned versions" >&2; exit 1; }
