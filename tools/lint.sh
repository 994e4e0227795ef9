#!/bin/sh
# Format, direction of includes, clang-tidy on what changed since the last clean run.
# `lint.sh quick` leaves clang-tidy out, `lint.sh tidy` does nothing else.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build

quick() {
  echo "lint: clang-format"
  if ! tools/sources.sh | xargs clang-format --dry-run -Werror 2>build/format.log; then
    echo "lint: not in the house format (make format rewrites them, see build/format.log):" >&2
    sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error: .*/  \1/p' build/format.log | sort -u >&2
    return 1
  fi
  echo "lint: layers"
  python3 tools/check_layers.py
}

tidy() {
  echo "lint: clang-tidy"
  cmake --preset tidy >build/tidy.configure.log 2>&1 || {
    cat build/tidy.configure.log >&2
    return 1
  }
  tools/tidy.py build/tidy
}

case ${1:-all} in
  all) quick && tidy ;;
  quick) quick ;;
  tidy) tidy ;;
  *)
    echo "lint: unknown argument '$1'; expected quick or tidy" >&2
    exit 2
    ;;
esac
echo "lint: clean"
