#!/bin/sh
# Builds and runs the tests of one preset (default: release) and says which sets ran.
set -eu
cd "$(dirname "$0")/.."
preset=${1:-release}
tools/build.sh "$preset"
shared=${OPDRIFT_SHARED:-../shared}
if [ -d "$shared/fixtures" ]; then
  OPDRIFT_SHARED=$(cd "$shared" && pwd)
  export OPDRIFT_SHARED
  sets="bundled cases and the whole set in \$OPDRIFT_SHARED"
else
  sets="bundled cases only (\$OPDRIFT_SHARED has no fixtures)"
fi
# Read by programs that were built with the address sanitizer; others take no notice.
export LSAN_OPTIONS="suppressions=$PWD/tools/leaks.txt:print_suppressions=0"
status=0
rm -rf "build/$preset/test-results"
mkdir -p "build/$preset/test-results"
ctest --test-dir "build/$preset" --output-on-failure --parallel "${OPDRIFT_JOBS:-$(nproc)}" \
  --no-tests=error || status=$?
echo "test: sets that ran: $sets"
tools/test_totals.py "build/$preset" || status=$?
exit $status
