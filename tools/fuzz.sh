#!/bin/sh
# Fuzzes every target (or those named as arguments) for FUZZ_SECONDS each, from fuzz/corpus.
#
# What the fuzzer learns stays in build/fuzz/seeds and serves the next run; an input that breaks
# something is kept in build/fuzz/artifacts. `fuzz_TARGET ARTIFACT` runs it again by itself.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-60}
programs=build/fuzz/bin

case $seconds in
  '' | *[!0-9]* | 0*)
    echo "fuzz: FUZZ_SECONDS='$seconds': expected a whole number above 0" >&2
    exit 2
    ;;
esac
[ $# -gt 0 ] || set -- $(cd fuzz/corpus && ls)

count_files() { find "$1" -type f | wc -l; }

# One target; the log is shown when something was found.
fuzz() {
  seeds=build/fuzz/seeds/$1
  artifacts=build/fuzz/artifacts/$1
  log=build/fuzz/logs/$1.log
  mkdir -p "$seeds" "$artifacts" build/fuzz/logs
  status=0
  "$programs/fuzz_$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=512 \
    -print_final_stats=1 -artifact_prefix="$artifacts/" "$seeds" "fuzz/corpus/$1" >"$log" 2>&1 ||
    status=$?
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
  echo "fuzz: $1: ${runs:-no} inputs, $(count_files "$seeds") seeds of its own"
  [ "$status" -eq 0 ] && return 0
  grep -n -A 25 -m 1 'ERROR\|runtime error\|ALARM\|internal error' "$log" >&2 || tail -n 30 "$log" >&2
  echo "fuzz: $1: FOUND something; whole log: $log; inputs: $artifacts/" >&2
  return 1
}

found=0
for target in "$@"; do
  if [ ! -x "$programs/fuzz_$target" ]; then
    echo "fuzz: no target '$target'; there are: $(cd fuzz/corpus && echo *)" >&2
    exit 2
  fi
  fuzz "$target" || found=$((found + 1))
done
echo "fuzz: $# targets, $seconds s each, $found with findings"
[ "$found" -eq 0 ]
