#!/bin/sh
# Measures the main jobs, each beside a plain read of the same files in the same run, and writes
# bench/results.md. Needs about 9 GB of disk below build/bench-data the first time.
#
#   bench/run.sh             everything
#   bench/run.sh SECTION...  only these, of: kernels kernels_kl layouts large jobs half device native
#                            tiny tiny2 tiny4 convert torchair statistics real start models judging; `report`
#                            joins what was measured last into bench/results.md
#
# OPDRIFT and BENCH_BIN name other builds than build/bin/opdrift and build/bench/bin.
set -eu
cd "$(dirname "$0")/.."
bin=${BENCH_BIN:-build/bench/bin}
opdrift=${OPDRIFT:-build/bin/opdrift}
data=build/bench-data
out=build/bench-out
threads=$(nproc)
mkdir -p "$data" "$out/compared"
if [ -z "${OPDRIFT:-}" ]; then
  tools/build.sh release >/dev/null
fi

network() { # FOLDER OPERATORS KIND
  if [ ! -f "$data/$1/graph.json" ]; then
    echo "bench: making $1" >&2
    "$bin/make_network" "$data/$1" "$2" "$3"
  fi
}
msprobe_data() { # KIND
  if [ ! -d "$data/msprobe_$1" ]; then
    echo "bench: making msprobe $1" >&2
    "$bin/make_msprobe" "$1" "$data/msprobe_$1.part"
    mv "$data/msprobe_$1.part" "$data/msprobe_$1"
  fi
}

ratio() { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }

# Keeps one line of the table, and the wall time for the ratios, in $out.
row() { # KEY NAME REFERENCE PATHS... -- COMMAND...
  key=$1 name=$2 reference=$3
  shift 3
  paths=
  while [ "$1" != -- ]; do
    paths="$paths $1"
    shift
  done
  shift
  read_s=- bytes=0
  if [ -n "$paths" ]; then
    # shellcheck disable=SC2086
    set -- "$("$bin/timed" read "$threads" $paths)" "$@"
    read_s=${1% *} bytes=${1#* }
    shift
  fi
  cost=$("$bin/timed" run -n 3 -- "$@")
  wall=$(echo "$cost" | cut -d' ' -f1)
  cpu=$(echo "$cost" | cut -d' ' -f2)
  memory=$(echo "$cost" | cut -d' ' -f3)
  gb=$(awk "BEGIN { printf \"%.2f\", $bytes / 1e9 }")
  share=-
  [ "$read_s" = - ] || share=$(ratio "$wall" "$read_s")
  line="| $name | $gb | $read_s | $wall | $share | $cpu | $memory | $reference |"
  echo "$line" >&2
  echo "$line" >"$out/row_$key"
  echo "$wall" >"$out/wall_$key"
}

compare() { # KEY DATA JOBS REFERENCE
  row "$1" "msaccucmp compare, $2, ten algorithms, $3 threads" "$4" \
    "$data/$2/npu" "$data/$2/golden" -- \
    env OPDRIFT_JOBS="$3" "$opdrift" msaccucmp compare -m "$data/$2/npu" -g "$data/$2/golden" \
    -f "$data/$2/graph.json" -out "$out/compared"
}

msprobe() { # KEY NAME REFERENCE KIND TARGET GOLDEN OPTIONS...
  key=$1 name=$2 reference=$3 folder="$data/msprobe_$4" target=$5 golden=$6
  shift 6
  row "$key" "msprobe compare, $name" "$reference" "$folder/target" "$folder/golden" -- \
    "$opdrift" msprobe compare -tp "$folder/$target" -gp "$folder/$golden" -o "$out/compared" "$@"
}

# Real models of the test set-up.
models() {
  models_folder=${OPDRIFT_DEPS:-build/deps}
  "$bin/run_costs" "$models_folder/ocr-models/ch_PP-OCRv4_det_infer.onnx" x:2=640 x:3=640
  "$bin/run_costs" "$models_folder/ocr-models/ch_PP-OCRv4_rec_infer.onnx" x:3=320
  "$bin/run_costs" "$models_folder/ocr-models/ch_ppocr_mobile_v2.0_cls_infer.onnx" x:2=48 x:3=192
  "$bin/run_costs" "$models_folder/line-models/mlsd_512x512_large.onnx"
  "$bin/run_costs" "$models_folder/wakeword-models/embedding_model.onnx" input_1:0=16
}

# Seconds until a command ends whose dumps are on the disk alone: the middle one of five.
from_disk() { # GOLDEN TARGET COMMAND...
  forgotten="$1 $2"
  shift 2
  for _ in 1 2 3 4 5; do
    # shellcheck disable=SC2086 # two folders without blanks
    "$bin/timed" forget $forgotten
    begun=$(date +%s.%N)
    "$@" >/dev/null 2>&1 || true
    echo "$begun $(date +%s.%N)" | awk '{ printf "%.2f\n", $2 - $1 }'
  done | sort -n | sed -n 3p
}

# A real dump pair, f32 and fp16, compared by limits and by the verdict.
judge() { # NAME MODEL OPTIONS...
  name=$1 model=$2
  shift 2
  for side in fp32 fp16; do
    if [ ! -d "$data/judged_$name/$side" ]; then
      rm -rf "$data/part"
      "$opdrift" dump "$model" -o "$data/part" --precision "$side" "$@" >/dev/null
      mkdir -p "$data/judged_$name"
      mv "$data/part" "$data/judged_$name/$side"
    fi
  done
  golden="$data/judged_$name/fp32" target="$data/judged_$name/fp16"
  limits=$("$bin/timed" run -n 5 -- "$opdrift" compare "$target" "$golden" --rule cosine=0.99 -q)
  verdict=$("$bin/timed" run -n 5 -- "$opdrift" compare "$target" "$golden" --graph "$model" -q)
  disk="$(from_disk "$golden" "$target" "$opdrift" compare "$target" "$golden" --rule cosine=0.99 -q) \
$(from_disk "$golden" "$target" "$opdrift" compare "$target" "$golden" --graph "$model" -q)"
  echo "$name $(find "$golden" -name '*.npy' | wc -l) $(du -sm "$data/judged_$name" | cut -f1) \
$limits $verdict $disk" | awk '{ \
    printf "| %s | %d | %d | %.2f | %.2f | %+.0f %% | %.0f | %.0f | %.2f | %.2f | %+.0f %% |\n", \
    $1, $2, $3, $5, $8, 100 * ($8 / $5 - 1), $6, $9, $10, $11, 100 * ($11 / $10 - 1) }' | tee /dev/stderr
}
judging() {
  models_folder=${OPDRIFT_DEPS:-build/deps}
  [ -f "$data/large.onnx" ] || "$bin/make_model" "$data/large.onnx" 24
  judge large "$data/large.onnx"
  [ -f "$data/large72.onnx" ] || "$bin/make_model" "$data/large72.onnx" 72
  judge large72 "$data/large72.onnx"
  [ -f "$data/transformer.onnx" ] || "$bin/make_model" "$data/transformer.onnx" 8 transformer
  judge transformer "$data/transformer.onnx"
  judge mlsd_512x512_large "$models_folder/line-models/mlsd_512x512_large.onnx"
  judge ocr_det_640x640 "$models_folder/ocr-models/ch_PP-OCRv4_det_infer.onnx" --dim x:2=640 --dim x:3=640
  judge ocr_rec_48x320 "$models_folder/ocr-models/ch_PP-OCRv4_rec_infer.onnx" --dim x:3=320
}

section() {
  case $1 in
    kernels) "$bin/kernels_bench" 64 5 plain >"$out/kernels" ;;
    kernels_kl) "$bin/kernels_bench" 64 3 kl >"$out/kernels_kl" ;;
    layouts) "$bin/bench_layout" >"$out/layouts" ;;
    large)
      network large 200 large
      compare large large "$threads" "194 s, 304 MB; numpy script 42 s"
      ;;
    jobs)
      network large 200 large
      compare jobs large 1 ""
      ;;
    half)
      network large100 100 large
      compare half large100 "$threads" ""
      ;;
    device)
      network large 200 large
      row device "msaccucmp compare, device against device, large, no graph" "56-63 s CPU" \
        "$data/large/npu" "$data/large/npu" -- \
        "$opdrift" msaccucmp compare -m "$data/large/npu" -g "$data/large/npu" -out "$out/compared"
      ;;
    native)
      network large 200 large
      row native "opdrift compare, large, one limit as rule" "" "$data/large/npu" \
        "$data/large/golden" -- "$opdrift" compare "$data/large/npu" "$data/large/golden" \
        --graph "$data/large/graph.json" --rule cosine=0.99 -q --fail-on none
      row weightless "opdrift compare, large, judged without weights" "" "$data/large/npu" \
        "$data/large/golden" -- "$opdrift" compare "$data/large/npu" "$data/large/golden" \
        --graph "$data/large/graph.json" -q --fail-on none
      ;;
    tiny)
      network tiny20000 20000 tiny
      compare tiny tiny20000 "$threads" "1,246 s, 507 MB"
      ;;
    tiny2)
      network tiny2000 2000 tiny
      compare tiny2 tiny2000 "$threads" "16-20 s CPU"
      ;;
    tiny4)
      network tiny40000 40000 tiny
      compare tiny4 tiny40000 "$threads" ""
      ;;
    convert)
      [ -d "$data/nz" ] || "$bin/make_nz" "$data/nz"
      dump="$data/nz/MatMul.mm.1.1.1700000000000000"
      row convert "msaccucmp convert, 200 MB fp16 FRACTAL_NZ to ND npy" "3.5 s, 442 MB" \
        "$data/nz" -- "$opdrift" msaccucmp convert -d "$dump" -f ND -out "$out/compared"
      row cp "cp of the same file" "" "$data/nz" -- cp "$dump" "$out/copied"
      ;;
    torchair)
      msprobe_data torchair
      msprobe torchair "torchair, 128 operators" "10-14 s, 320 MB" torchair target golden \
        --mode torchair
      ;;
    statistics)
      msprobe_data statistics
      msprobe statistics "statistics of 50,000 calls, csv" "90-102 s, 1.6 GB" statistics \
        target/dump.json golden/dump.json
      msprobe xlsx "the same, xlsx" "253 s, 1.6 GB" statistics target/dump.json golden/dump.json --xlsx
      ;;
    real)
      msprobe_data tensors
      msprobe real "128 calls with .pt files" "10-12 s, 0.6 GB" tensors target/dump.json \
        golden/dump.json
      ;;
    start) row start "msprobe compare --help (start-up)" "3.2 s, 265 MB" -- \
      "$opdrift" msprobe compare --help ;;
    models) models >"$out/models" ;;
    judging) judging >"$out/judging" ;;
    report) report >bench/results.md ;;
    *)
      echo "bench: there is no section '$1'" >&2
      exit 2
      ;;
  esac
}

rows() { # KEY...
  for key in "$@"; do
    [ ! -f "$out/row_$key" ] || cat "$out/row_$key"
  done
}
growth() { # TEXT LIMIT KEY KEY
  if [ -f "$out/wall_$3" ] && [ -f "$out/wall_$4" ]; then
    echo "| $1 | $(ratio "$(cat "$out/wall_$3")" "$(cat "$out/wall_$4")") | $2 |"
  fi
}

report() {
  cat <<END
# Benchmark results

Machine: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $threads processors of a virtual machine, \
$(awk '/MemTotal/ { printf "%.0f GB", $2 / 1e6 }' /proc/meminfo), Linux $(uname -r | cut -d- -f1).
Version $(cat VERSION), $(date +%Y-%m-%d). Files in the page cache. Medians of three runs after a
warm-up. \`read\` maps the same files and sums their words with as many threads (files below 64 KB
are read); ratio is wall / read. Memory is the peak of own pages (RssAnon), not of mapped files.
\`reference\` is the tool that opdrift stands in for, on a machine of two cores, measured once.

| work | GB | read, s | wall, s | ratio | CPU, s | own memory, MB | reference |
|---|---|---|---|---|---|---|---|
$(rows large jobs half device native weightless tiny2 tiny tiny4 convert cp torchair statistics xlsx real start)

| growth | ratio | wanted |
|---|---|---|
$(growth "200 against 100 large operators" "at most 2.1" large half)
$(growth "40,000 against 20,000 tiny operators" "at most 2.1" tiny4 tiny)
$(growth "one thread against $threads, large" "at least 1.8" jobs large)
$(growth "convert against cp" "at most 3" convert cp)

## Kernels

\`measure()\` over tensors in memory against a fp32 golden, all metrics in one pass; \`kl\` adds the
second pass. \`read\` sums the bytes of both tensors with as many threads. \`rounded\`: the target is
the golden rounded; \`drifting\`: with noise of 2 % of the unit besides. Wanted: 70 % of read on two
threads, 45 % on one; with the divergence half of that.

$(cat "$out/kernels" 2>/dev/null)

$(cat "$out/kernels_kl" 2>/dev/null)

## Layouts

$(cat "$out/layouts" 2>/dev/null)

## Judging

Two dumps of one network, f32 and fp16, judged by a limit and by the verdict: all of `opdrift compare`,
processor seconds, medians of five, two threads; own memory in MB. Wanted on large networks: at most 25 % more.

| network | files a side | MB | limit, s | verdict, s | more | memory, limit | memory, verdict | from disk: limit, s | verdict, s | more |
|---|---|---|---|---|---|---|---|---|---|---|
$(cat "$out/judging" 2>/dev/null)

## Models

Plain: opening a model unoptimised and running it once for its outputs. Write: as many bytes to as many
files. Dump: every operator's outputs, without the check of the final outputs; wanted: (dump - write) /
plain at most 1.5. Single: opening and running all operators alone (\`check-op\`); wanted: single / plain
at most 3. Check: all of check-op, judging included. Medians of five, seconds.

| model | operators | MB | plain | write | dump | (dump - write) / plain | single | single / plain | check |
|---|---|---|---|---|---|---|---|---|---|
$(cat "$out/models" 2>/dev/null)
END
}

if [ $# -eq 0 ]; then
  set -- kernels kernels_kl layouts large jobs half device native tiny2 tiny tiny4 convert \
    torchair statistics real start models judging report
fi
for name in "$@"; do
  section "$name"
done
