#!/bin/sh
# Runs a text-recognition model three times and compares: fp32 as it is (golden), fp16 with graph
# fusion (target), and fp16 with fusion and one weight deliberately damaged.
set -eu
cd "$(dirname "$0")/.."
opdrift=${OPDRIFT:-build/bin/opdrift}
programs=$(dirname "$(readlink -f "$opdrift")")
models=${OPDRIFT_DEPS:-build/deps}/ocr-models
model=$models/ch_PP-OCRv4_rec_infer.onnx
keys=$models/ppocr_keys_v1.txt
out=build/demo

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  bold=$(printf '\033[1m')
  plain=$(printf '\033[0m')
else
  bold= plain=
fi
title() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
fail() {
  printf 'demo: %s\n' "$*" >&2
  exit 2
}

for needed in "$opdrift" "$programs/demo_text" "$programs/damage_weight"; do
  [ -x "$needed" ] || fail "$needed is missing; run 'make build' first"
done
[ -f "$model" ] || fail "$model is missing; run 'tools/setup.sh models' first"

run() {
  printf '$ opdrift %s\n' "$*"
  "$opdrift" "$@"
}

# Finding a difference (exit code 1) is what the demo is for.
compare() {
  code=0
  run compare "$@" || code=$?
  [ "$code" -le 1 ] || fail "comparing failed with exit code $code"
}

seen_by() { "$programs/demo_text" read "$1" "$keys"; }

rm -rf "$out"
mkdir -p "$out"

title '1. An image to read'
"$programs/demo_text" draw "$out/input.npy"
echo "A drawn word, 48 x 320 pixels: $out/input.npy"

title '2. Golden: fp32, the graph as it is in the file'
run dump "$model" --input "x=$out/input.npy" -o "$out/golden"
echo "The model reads: $(seen_by "$out/golden")"

title '3. Target: fp16 between operators, graph fusion on'
run dump "$model" --input "x=$out/input.npy" --precision fp16 --optimize extended -o "$out/target"
echo "The model reads: $(seen_by "$out/target")"

title '4. Do they agree?'
compare "$out/target" "$out/golden" -o "$out/compare"

title '5. The same target with a planted fault'
"$programs/damage_weight" "$model" "$out/damaged.onnx" p2o.Conv.24 30
run dump "$out/damaged.onnx" --input "x=$out/input.npy" --precision fp16 --optimize extended \
  -o "$out/damaged"
echo "The model reads: $(seen_by "$out/damaged")"

title '6. Who is to blame?'
compare "$out/damaged" "$out/golden" -o "$out/compare-damaged" --format html,csv,json

title 'What to look at'
cat <<END
The planted fault multiplies one weight row of operator p2o.Conv.24 by 30. Table 6 blames that
operator alone and says what happened to it; everything behind it only inherits the error. The
clean fp16 run of table 4 passes, and nobody had to choose a tolerance.
  $out/compare-damaged/result.html   open it in a browser: curve, network, every operator
  $out/compare/           all operators of step 4, as csv and json
  $out/compare-damaged/   the same for the damaged run
  $out/golden/manifest.json   what was run, operator by operator

Try next:
  $opdrift compare $out/damaged $out/golden --rows 40
  $opdrift serve $out
  $opdrift judge $out/compare-damaged/result.json --rule cosine=0.99
  $opdrift dump $model --input x=$out/input.npy --precision bf16 -o $out/bf16
  $opdrift compare $out/bf16 $out/golden
  $opdrift dump YOUR_MODEL.onnx -o your_golden
END

title 'The damaged run in a browser'
echo "$(cd "$out/compare-damaged" && pwd)/result.html"
