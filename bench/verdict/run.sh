#!/bin/sh
# Evaluates the verdict and writes bench/verdict/results.md. About ten minutes on two processors.
#
#   bench/verdict/run.sh [TOOL]
#
# TOOL is the folder of another implementation of the rule; its labels are then compared with
# opdrift's on the same runs (agree.py) and the table is added to the results.
set -eu
tool=${1:+$(cd "$1" && pwd)}
cd "$(dirname "$0")/../.."
deps=${OPDRIFT_DEPS:-$PWD/build/deps}
tools/setup.sh build engine models networks
tools/build.sh bench >/dev/null
program=build/bench/bin/verdict_eval
results=bench/verdict/results.md
out=build/verdict
mkdir -p "$out"

code=0
"$program" "$deps" --out "$out/results.md" --log "$out/labels.tsv" || code=$?
[ "$code" -le 1 ] || exit "$code"

if [ -n "$tool" ]; then
  : "${ORT_INCLUDE:=$deps/onnxruntime/include}"
  export ORT_INCLUDE
  library=$(ls "$deps"/onnxruntime/lib/libonnxruntime.so.? | head -n 1)
  rm -rf "$out/runs"
  # Small networks with their faults, larger ones without.
  for network in ww_jarvis ww_rhasspy ww_timer melspec silero_v4 silero_v5; do
    set -- "$@" --network "$network"
  done
  shift
  "$program" "$deps" --only faults --export "$out/runs" --out "$out/small.md" "$@" || true
  "$program" "$deps" --only clean --export "$out/runs" --out "$out/small.md" "$@" \
    --network ww_embed --network ocr_cls --network ocr_det || true
  {
    echo '## Agreement with the implementation that the rule was written down with'
    echo
    echo 'Labels on the same golden and target tensors; clean runs of nine networks, faults in six.'
    echo 'Where the property of the target has to be declared by hand there (TF32, bf16 products, half sums,'
    echo 'truncation) the labels differ by construction: opdrift finds it by itself.'
    echo
    /usr/bin/python3 bench/verdict/agree.py "$tool" "$library" "$out"/runs/*/
  } >>"$out/results.md"
  rm -rf "$out/runs"
fi
cp "$out/results.md" "$results"
echo "verdict: $results"
exit "$code"
