#!/bin/sh
# Measures the main jobs, each beside a plain read of the same files in the same run, and writes
# bench/results.md. Needs about 9 GB of disk below build/bench-data the first time.
set -eu
cd "$(dirname "$0")/.."
tools/build.sh release >/dev/null
bin=build/bench/bin
opdrift=build/bin/opdrift
data=build/bench-data
out=build/bench-out
threads=$(nproc)
mkdir -p "$data" "$out"

make_data() { # FOLDER OPERATORS KIND
  if [ ! -f "$data/$1/graph.json" ]; then
    echo "bench: making $1" >&2
    "$bin/make_network" "$data/$1" "$2" "$3"
  fi
}
make_data large 200 large
make_data large100 100 large
make_data tiny2000 2000 tiny
make_data tiny20000 20000 tiny
make_data tiny40000 40000 tiny
if [ ! -d "$data/nz" ]; then
  "$bin/make_nz" "$data/nz"
fi

report=bench/results.md
ratio() { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }
row() { # NAME PATHS... -- COMMAND...
  name=$1
  shift
  paths=
  while [ "$1" != -- ]; do
    paths="$paths $1"
    shift
  done
  shift
  # shellcheck disable=SC2086
  set -- "$("$bin/timed" read "$threads" $paths)" "$@"
  read_s=${1% *}
  bytes=${1#* }
  shift
  cost=$("$bin/timed" run -n 3 -- "$@")
  wall=$(echo "$cost" | cut -d' ' -f1)
  cpu=$(echo "$cost" | cut -d' ' -f2)
  memory=$(echo "$cost" | cut -d' ' -f3)
  gb=$(awk "BEGIN { printf \"%.2f\", $bytes / 1e9 }")
  line="| $name | $gb | $read_s | $wall | $(ratio "$wall" "$read_s") | $cpu | $memory |"
  echo "$line" >&2
  echo "$line" >>"$report"
  last_wall=$wall
}

{
  echo "# Benchmark results"
  echo
  echo "Machine: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $threads processors," \
    "$(awk '/MemTotal/ { printf "%.0f GB", $2 / 1e6 }' /proc/meminfo)."
  echo "Version $(cat VERSION), $(date +%Y-%m-%d). Files in the page cache. Medians of three runs after a"
  echo "warm-up. \`read\` maps the same files and sums their words with as many threads; ratio is"
  echo "wall / read. Memory is the peak of own pages (RssAnon), not of mapped files."
  echo
  echo "| work | GB | read, s | wall, s | ratio | CPU, s | own memory, MB |"
  echo "|---|---|---|---|---|---|---|"
} >"$report"

compare() { # DATA JOBS
  row "msaccucmp compare, $1, all ten algorithms, $2 threads" "$data/$1/npu" "$data/$1/golden" -- \
    env OPDRIFT_JOBS="$2" "$opdrift" msaccucmp compare -m "$data/$1/npu" -g "$data/$1/golden" \
    -f "$data/$1/graph.json" -out "$out"
}
compare large "$threads"
large=$last_wall
compare large 1
large_one=$last_wall
compare large100 "$threads"
half=$last_wall
row "device against device, large, no graph" "$data/large/npu" "$data/large/npu" -- \
  "$opdrift" msaccucmp compare -m "$data/large/npu" -g "$data/large/npu" -out "$out"
row "native compare, large" "$data/large/npu" "$data/large/golden" -- \
  "$opdrift" compare "$data/large/npu" "$data/large/golden" --graph "$data/large/graph.json" \
  -q --fail-on none
compare tiny2000 "$threads"
compare tiny20000 "$threads"
tiny=$last_wall
compare tiny40000 "$threads"
double_tiny=$last_wall
row "convert 200 MB fp16 FRACTAL_NZ to ND npy" "$data/nz" -- \
  "$opdrift" msaccucmp convert -d "$data/nz/MatMul.mm.1.1.1700000000000000" -f ND -out "$out"
convert=$last_wall
row "cp of the same file" "$data/nz" -- \
  cp "$data/nz/MatMul.mm.1.1.1700000000000000" "$out/copied"
copy=$last_wall

{
  echo
  echo "| growth | ratio |"
  echo "|---|---|"
  echo "| 200 against 100 large operators | $(ratio "$large" "$half") |"
  echo "| 40,000 against 20,000 tiny operators | $(ratio "$double_tiny" "$tiny") |"
  echo "| one thread against $threads threads, large | $(ratio "$large_one" "$large") |"
  echo "| convert against cp | $(ratio "$convert" "$copy") |"
  echo
  echo "## Kernels"
  echo
  "$bin/kernels_bench"
  echo
  echo "## Layouts"
  echo
  "$bin/bench_layout"
} >>"$report"
cat "$report"
