#!/bin/sh
# Puts the pinned SPlisHSPlasH wheel into a virtualenv of its own.
#
#   install.sh [VENV]     default: target/peers/splishsplash under the repository root
#
# PYTHON names the interpreter to build it with (default python3; the pins are tried with 3.11).
# Running it again does nothing once the pinned versions are in place.
set -eu

PEER=2.19.0
NUMPY=2.4.6

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../../.." && pwd)
venv=${1:-$root/target/peers/splishsplash}

# Asks for the recorded versions only: importing the module may crash (see README.md).
installed() {
    [ -x "$venv/bin/python" ] && "$venv/bin/python" - "$PEER" "$NUMPY" <<'PY' 2>/dev/null
import sys
from importlib.metadata import version
sys.exit([version("pysplishsplash"), version("numpy")] != sys.argv[1:])
PY
}

installed && exit 0
[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
    "pysplishsplash==$PEER" "numpy==$NUMPY"
installed || { echo "install.sh: $venv does not hold pysplishsplash $PEER and numpy $NUMPY" >&2; exit 1; }
