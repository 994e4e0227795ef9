#!/bin/sh
# Format, direction of includes, clang-tidy on what changed since the last clean run.
# `lint.sh quick` leaves clang-tidy out.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build
echo "lint: clang-format"
tools/sources.sh | xargs clang-format --dry-run -Werror
echo "lint: layers"
python3 tools/check_layers.py
[ "${1:-}" = quick ] && exit 0
echo "lint: clang-tidy"
cmake --preset tidy >build/tidy.configure.log 2>&1 || { cat build/tidy.configure.log >&2; exit 1; }
tools/tidy.py build/tidy
echo "lint: clean"
