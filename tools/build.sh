#!/bin/sh
# Builds one preset; `release` also fills build/bin.
set -eu
cd "$(dirname "$0")/.."
preset=${1:-release}
jobs=${OPDRIFT_JOBS:-$(nproc)}
log=build/$preset.configure.log
# Compiled objects are shared between checkouts, wherever they are.
export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
mkdir -p build
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  echo "build: configuring preset '$preset' failed, see above" >&2
  exit 1
fi
cmake --build --preset "$preset" --parallel "$jobs"
if [ "$preset" = release ]; then
  mkdir -p build/bin
  ln -sf ../release/bin/opdrift build/bin/opdrift
  echo "build: ready: build/bin/opdrift"
fi
