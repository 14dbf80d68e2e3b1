#!/bin/sh
# Copies every scene of the repository into the fuzzer's corpus.
set -eu
cd "$(dirname "$0")"
mkdir -p corpus/scene
cp ../scenes/*.toml ../crates/littoral/tests/bad-scenes/*.toml corpus/scene/
